package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// serverVariable makes this test program a server, until its standard input ends.
	serverVariable = "PREPAID_TEST_BENCH_SERVER"
	// reportLine is a row of a report, escaped for the JSON string.
	reportLine  = `2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,\"Coffee shop, Sydney\",000123456789,SUCCESS,17\r\n`
	reportBytes = 256 << 20
)

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "" {
		m.Run()
		return
	}
	server := httptest.NewServer(handler())
	defer server.Close()
	fmt.Println(server.URL + "/3.0/")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern, mediaType, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, body)
		})
	}
	handle("POST /3.0/token", "application/json", tokenBody)
	handle("GET /3.0/accounts/{id}", mediaType, accountBody(7))
	handle("POST /3.0/accounts/{id}/transfer", mediaType, transferResult)
	mux.HandleFunc("GET /3.0/reporting/templates/{name}/reports/{rows}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		rows, _ := strconv.Atoi(r.PathValue("rows"))
		_, _ = io.WriteString(w, `{"reportdata":"`)
		const batch = 2000
		chunk := []byte(strings.Repeat(reportLine, batch))
		for left := rows; left > 0; left -= batch {
			if _, err := w.Write(chunk[:min(left, batch)*len(reportLine)]); err != nil {
				return
			}
		}
		_, _ = fmt.Fprintf(w, `","totalrecords":%d}`, rows)
	})
	return mux
}

// program returns the file of a program in small/, stripped. All of them are built once, next to this test program.
func program(b *testing.B, name string) string {
	directory := filepath.Dir(executable(b))
	file := filepath.Join(directory, name)
	if _, err := os.Stat(file); err != nil {
		build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", directory+"/", "./small/...")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // with cgo, the memory of the C library would count too
		out, err := build.CombinedOutput()
		require.NoError(b, err, string(out))
	}
	return file
}

func executable(b *testing.B) string {
	path, err := os.Executable()
	require.NoError(b, err)
	return path
}

// runProcess measures a program in small/ as a whole process: its processor time, the wall time until its first output, and the
// largest resident memory that it prints.
func runProcess(b *testing.B, name, environment string, arguments ...string) {
	file := program(b, arguments[0])
	b.Run(name, func(b *testing.B) {
		var processor, first time.Duration
		var peak float64
		for b.Loop() {
			command := exec.CommandContext(b.Context(), file, arguments[1:]...)
			command.Env, command.Stderr = append(os.Environ(), environment, "GOGC=100"), os.Stderr
			out, err := command.StdoutPipe()
			require.NoError(b, err)
			began := time.Now()
			require.NoError(b, command.Start())
			_, err = out.Read(make([]byte, 1))
			first += time.Since(began)
			require.NoError(b, err)
			printed, err := io.ReadAll(out)
			require.NoError(b, err)
			require.NoError(b, command.Wait())
			processor += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
			_, status, _ := strings.Cut(string(printed), "VmHWM:")
			kilobytes, err := strconv.ParseFloat(strings.Fields(status)[0], 64)
			require.NoError(b, err)
			peak = max(peak, kilobytes*1024)
		}
		b.ReportMetric(float64(processor)/float64(b.N), "cpu-ns/op")
		b.ReportMetric(float64(first)/float64(b.N), "first-ns/op")
		b.ReportMetric(peak, "peak-bytes")
	})
}

func BenchmarkReport(b *testing.B) {
	server := httptest.NewServer(handler())
	defer server.Close()
	address, rows := server.URL+"/3.0/", strconv.Itoa(reportBytes/len(reportLine))
	runProcess(b, "task=rows/side=baseline", "", "raw", "rows", address, rows)
	runProcess(b, "task=rows/side=ours", "", "client", "rows", address, rows)
	runProcess(b, "task=file/side=baseline", "", "raw", "file", address, rows)
	runProcess(b, "task=file/side=ours", "", "client", "file", address, rows)
	runProcess(b, "task=strings/side=baseline", "", "raw", "strings", address, rows)
	runProcess(b, "task=one_row/side=ours", "", "client", "file", address, "1")
	runProcess(b, "task=none/side=baseline", "", "empty")
}

// BenchmarkStart measures the time from the start of a process to its first response: a token and an account over TLS.
func BenchmarkStart(b *testing.B) {
	for _, version := range []string{"2", "1.1"} {
		b.Run("version="+version, func(b *testing.B) {
			server := httptest.NewUnstartedServer(handler())
			server.TLS = &tls.Config{Certificates: []tls.Certificate{newCertificate(b)}, MinVersion: tls.VersionTLS12}
			server.EnableHTTP2 = version == "2"
			server.StartTLS()
			defer server.Close()
			file := filepath.Join(b.TempDir(), "certificate.pem")
			encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			require.NoError(b, os.WriteFile(file, encoded, 0o600))
			warm, err := server.Client().Get(server.URL) // the server's first handshake does not count
			require.NoError(b, err)
			require.NoError(b, warm.Body.Close())
			sides := [][]string{{"baseline", "raw", "start"}, {"ours", "client", "start"}, {"linked", "client", "plain"}, {"two", "raw", "start2"}}
			for _, i := range rand.Perm(len(sides)) { // the first of a series is slower
				side := sides[i]
				runProcess(b, "side="+side[0], "SSL_CERT_FILE="+file, side[1], side[2], server.URL+"/3.0/", "-")
			}
		})
	}
}

// newCertificate returns a self-signed certificate for loopback.
func newCertificate(b *testing.B) tls.Certificate {
	private, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
	require.NoError(b, err)
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(cryptorand.Reader, &template, &template, private.Public(), private)
	require.NoError(b, err)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: private}
}

func BenchmarkSize(b *testing.B) {
	for _, side := range [][2]string{{"baseline", "sizeplain"}, {"ours", "sizeclient"}} {
		file := program(b, side[1])
		b.Run("side="+side[0], func(b *testing.B) {
			for b.Loop() {
				info, err := os.Stat(file)
				require.NoError(b, err)
				b.ReportMetric(float64(info.Size()), "program-bytes")
			}
		})
	}
}
