package faults

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The faults of the wire in the tables of outcomes.

func say(status int, mediaType, body string) func(net.Conn, *contract.Fixture) {
	return func(conn net.Conn, _ *contract.Fixture) {
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, mediaType, len(body), body)
	}
}

func sayError(status int, code string) func(net.Conn, *contract.Fixture) {
	return say(status, "application/vnd.vendor+json", fmt.Sprintf(`{"error":%q,"error_description":"canary"}`, code))
}

func sayReset(conn net.Conn, _ *contract.Fixture) {
	harness.Reset(conn)
}

// sayWell responds with the recorded success.
func sayWell(conn net.Conn, f *contract.Fixture) {
	var head strings.Builder
	for name, value := range f.Response.Header {
		fmt.Fprintf(&head, "%s: %s\r\n", name, value)
	}
	body := f.Body()
	if f.Response.Status != http.StatusNoContent {
		fmt.Fprintf(&head, "Content-Length: %d\r\n", len(body))
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d X\r\n%s\r\n%s", f.Response.Status, head.String(), body)
}

// sayUnlike sends a status with the body of the recorded success, or without one for 204.
func sayUnlike(status int) func(net.Conn, *contract.Fixture) {
	return func(conn net.Conn, f *contract.Fixture) {
		if status == http.StatusNoContent {
			_, _ = conn.Write([]byte("HTTP/1.1 204 X\r\n\r\n"))
			return
		}
		say(status, "application/vnd.vendor+json", string(f.Body()))(conn, f)
	}
}

// sayFailed sends the error shape with a status that says success.
func sayFailed(conn net.Conn, f *contract.Fixture) {
	status := f.Response.Status
	if status == http.StatusNoContent { // which has no body
		status = http.StatusOK
	}
	sayError(status, "server_error")(conn, f)
}

func successHead(f *contract.Fixture, length int) string {
	mediaType := f.Response.Header["Content-Type"]
	if mediaType == "" {
		mediaType = "application/vnd.vendor+json"
	}
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", f.Response.Status, mediaType, length)
}

func sayHalf(conn net.Conn, f *contract.Fixture) {
	_, _ = conn.Write([]byte(successHead(f, 9000) + "{"))
	_ = conn.Close()
}

func sayGarbage(conn net.Conn, f *contract.Fixture) {
	_, _ = conn.Write([]byte(successHead(f, 9) + `{"lost": `))
}

func sayNoHTTP(conn net.Conn, _ *contract.Fixture) {
	_, _ = conn.Write([]byte("canary hello\r\n\r\n"))
	_ = conn.Close()
}

func sayTooMuch(conn net.Conn, f *contract.Fixture) {
	body := `"` + strings.Repeat("canary", 4000) + `"`
	_, _ = conn.Write([]byte(successHead(f, len(body)) + body))
}

// sayAsProxy sends the page of a proxy with the status of the success.
func sayAsProxy(mediaType string) func(net.Conn, *contract.Fixture) {
	return func(conn net.Conn, f *contract.Fixture) { say(f.Response.Status, mediaType, harness.HTMLPage)(conn, f) }
}

func dialRefused(_ *testing.T, config *prepaid.Config) { config.BaseURL = closedAddress + "/3.0/" }

// dialUntrusted has a server whose certificate is not trusted, and which speaks no newer TLS than version.
func dialUntrusted(version uint16) func(*testing.T, *prepaid.Config) {
	return func(t *testing.T, config *prepaid.Config) {
		t.Helper()
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("a request reached a server that is not trusted")
		}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}
		server.StartTLS()
		t.Cleanup(server.Close)
		config.BaseURL = server.URL + "/3.0/"
	}
}

func dialNameless(_ *testing.T, config *prepaid.Config) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
	config.BaseURL = "https://cards.invalid/3.0/"
	config.Transport = &http.Transport{DialContext: (&net.Dialer{Resolver: resolver}).DialContext}
}

// dialHangUp keeps the plain server for a client that expects TLS of it.
func dialHangUp(t *testing.T, config *prepaid.Config) {
	t.Helper()
	config.BaseURL = newHangUp(t, "this is not TLS\r\n") + "/3.0/"
}

// dialReset connects and breaks with the first byte, none of which leaves.
func dialReset(_ *testing.T, config *prepaid.Config) {
	dial := new(net.Dialer).DialContext
	if pipes, ok := config.Transport.(*http.Transport); ok {
		dial = pipes.DialContext
	}
	config.Transport = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dial(ctx, network, address)
		return watchedConn{connection, func() error {
			_ = connection.Close()
			return &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}
		}}, err
	}}
}

// watchedConn calls before each write a function, whose error replaces the write.
type watchedConn struct {
	net.Conn
	before func() error
}

// Write writes, or fails.
func (c watchedConn) Write(p []byte) (int, error) {
	if err := c.before(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func dialForever(t *testing.T, config *prepaid.Config) {
	t.Helper()
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) }) // net/http dials on by itself, for the next request
	config.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		<-ended
		return nil, net.ErrClosed
	}}
}

// closedAddress is an unused one of this machine: a port that was just closed may go to another test.
const closedAddress = "http://127.0.0.1:1"

// newHangUp listens and closes every connection after a greeting. Its address asks for TLS.
func newHangUp(t *testing.T, greeting string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var accepts sync.WaitGroup
	accepts.Go(func() {
		for connection, err := listener.Accept(); err == nil; connection, err = listener.Accept() {
			_, _ = io.WriteString(connection, greeting)
			_ = connection.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		accepts.Wait()
	})
	return "https://" + listener.Addr().String()
}

// refusal is the error of a transport that did not send.
type refusal struct{ notSent bool }

func (refusal) Error() string { return "refused here" }

func (r refusal) NotSent() bool { return r.notSent }

// saying says it for its wrapped error.
type saying struct {
	refusal
	wrapped error
}

func (s saying) Unwrap() error { return s.wrapped }

// A caller's transport that reports "not sent" is believed, and asked once. Any other error proves nothing.
func TestTransportThatSaysNotSent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err     error
		outcome prepaid.Outcome
	}{
		{refusal{notSent: true}, prepaid.OutcomeNotProcessed},
		{&net.OpError{Op: "write", Err: refusal{notSent: true}}, prepaid.OutcomeNotProcessed},
		{refusal{}, prepaid.OutcomeUnknown},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, prepaid.OutcomeUnknown},
		{&net.DNSError{Err: "no such host", Name: "cards.example"}, prepaid.OutcomeUnknown},
		// Two ways were tried, and one of them may have sent.
		{errors.Join(refusal{notSent: true}, io.ErrUnexpectedEOF), prepaid.OutcomeUnknown},
		{fmt.Errorf("failover: %w; %w", io.ErrUnexpectedEOF, refusal{notSent: true}), prepaid.OutcomeUnknown},
		{fmt.Errorf("failover: %w", errors.Join(refusal{notSent: true}, refusal{})), prepaid.OutcomeUnknown},
		{errors.Join(refusal{notSent: true}, refusal{notSent: true}), prepaid.OutcomeNotProcessed},
		// Every leaf says so itself, and nothing above it the opposite.
		{saying{refusal{notSent: true}, io.ErrUnexpectedEOF}, prepaid.OutcomeUnknown},
		{saying{refusal{notSent: true}, errors.Join(refusal{notSent: true}, io.EOF)}, prepaid.OutcomeUnknown},
		{saying{refusal{}, refusal{notSent: true}}, prepaid.OutcomeUnknown},
		{saying{refusal{notSent: true}, refusal{notSent: true}}, prepaid.OutcomeNotProcessed},
		{fmt.Errorf("%w; %w", errors.Join(refusal{notSent: true}), &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), prepaid.OutcomeUnknown},
	} {
		script := harness.NewScript(harness.Broken(test.err))
		err := harness.OpCreate().Call(t.Context(), script.Client(t))
		require.Equal(t, test.outcome, prepaid.OutcomeOf(err), "%v", err)
		require.Len(t, script.Requests(), 1)
		require.ErrorIs(t, err, test.err)
	}
}
