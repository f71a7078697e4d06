package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"
)

// The server is a separate process, so its cost does not count.

const (
	childServer = "server"
	// reportLine is a row of a report, escaped for the JSON string.
	reportLine = `2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,\"Coffee shop, Sydney\",000123456789,SUCCESS,17\r\n`
)

// runChild is the main function of a child process.
func runChild(kind string, args []string) error {
	switch {
	case kind == childServer && len(args) == 0:
		return serve("", "", "")
	case kind == childServer && len(args) == 3:
		return serve(args[0], args[1], args[2])
	}
	return fmt.Errorf("no child %q", kind)
}

// serve is a server on loopback until the standard input ends. If it gets the files of a certificate and its key, it uses TLS and
// only the given version of HTTP. It prints its address.
func serve(version, certificate, key string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	account := []byte(accountBody(7))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /3.0/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, tokenBody)
	})
	mux.HandleFunc("GET /3.0/accounts/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = w.Write(account)
	})
	mux.HandleFunc("POST /3.0/accounts/{id}/transfer", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(w, transferResult)
	})
	mux.HandleFunc("GET /3.0/reporting/templates/{name}/reports/{rows}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		rows, _ := strconv.Atoi(path.Base(r.URL.Path))
		_ = writeReport(w, rows)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(version != http2)
	server.Protocols.SetHTTP2(version == http2)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if certificate == "" {
		fmt.Println("http://" + listener.Addr().String() + "/3.0/")
		err = server.Serve(listener)
	} else {
		fmt.Println("https://" + listener.Addr().String() + "/3.0/")
		err = server.ServeTLS(listener, certificate, key)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// writeReport writes a report with the given number of rows, without holding its body.
func writeReport(w io.Writer, rows int) error {
	if _, err := io.WriteString(w, `{"reportdata":"`); err != nil {
		return err
	}
	const batch = 2000
	chunk := []byte(strings.Repeat(reportLine, batch))
	for left := rows; left > 0; left -= batch {
		if left < batch {
			chunk = chunk[:left*len(reportLine)]
		}
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, `","totalrecords":%d}`, rows)
	return err
}

// startServer starts the server and returns the server's address. The server uses TLS if tls has an HTTP version and the files
// of a certificate and its key.
func startServer(tls ...string) (address string, stop func(), err error) {
	command, err := self(append([]string{childServer}, tls...)...)
	if err != nil {
		return "", nil, err
	}
	in, err := command.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = command.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(line), stop, nil
}

// self returns the command that starts this program as a child process.
func self(args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.Background(), program, append([]string{"-child"}, args...)...)
	command.Stderr = os.Stderr
	return command, nil
}
