package prepaid_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// The service's side of the tests of the shared core: a raw server for faults of the wire, and a scripted RoundTripper
// for tests on a fake clock.

// wireRequest is a request as the server read it.
type wireRequest struct {
	connection int // counted from 1
	method     string
	target     string
	header     http.Header
	body       string
}

// wireServer reads requests from raw connections and leaves the bytes of the answers to the test.
type wireServer struct {
	address string

	mu          sync.Mutex
	requests    []wireRequest
	connections int
	ended       int // connections that the client closed, or the test
	open        []net.Conn
}

// peer is the server's end of a connection with a request that waits for its answer.
type peer struct {
	net.Conn
	request wireRequest
	turn    int // of the request on its connection, counted from 1
}

// newWireServer starts a server that hands each request, counted from 1, to answer. A connection that answer leaves
// open is read on.
func newWireServer(t *testing.T, answer func(n int, p *peer)) *wireServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &wireServer{address: "http://" + listener.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.connections++
			number := s.connections
			s.open = append(s.open, connection)
			s.mu.Unlock()
			running.Go(func() { s.serve(number, connection, answer) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		s.mu.Lock()
		for _, connection := range s.open {
			_ = connection.Close()
		}
		s.mu.Unlock()
		running.Wait()
	})
	return s
}

func (s *wireServer) serve(number int, connection net.Conn, answer func(int, *peer)) {
	defer func() {
		_ = connection.Close()
		s.mu.Lock()
		s.ended++
		s.mu.Unlock()
	}()
	reader := bufio.NewReader(connection)
	for turn := 1; ; turn++ {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		seen := wireRequest{
			connection: number, method: request.Method, target: request.RequestURI, header: request.Header, body: string(body),
		}
		s.mu.Lock()
		s.requests = append(s.requests, seen)
		count := len(s.requests)
		s.mu.Unlock()
		answer(count, &peer{connection, seen, turn})
	}
}

func (s *wireServer) seen() []wireRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// left is how many connections are open.
func (s *wireServer) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections - s.ended
}

// write sends raw bytes; the client may be gone.
func (p *peer) write(text string) { _, _ = io.WriteString(p.Conn, text) }

// respond sends a whole answer and leaves the connection open.
func (p *peer) respond(status int, mediaType, body string, headers ...string) {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n", status, len(body))
	if mediaType != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", mediaType)
	}
	for _, header := range headers {
		b.WriteString(header + "\r\n")
	}
	p.write(b.String() + "\r\n" + body)
}

// succeed answers as the service does when all is well.
func (p *peer) succeed(op coreOp) { p.respond(op.status, op.mediaType, op.body) }

// reset breaks the connection without a farewell.
func (p *peer) reset() {
	if connection, ok := p.Conn.(*net.TCPConn); ok {
		_ = connection.SetLinger(0)
	}
	_ = p.Close()
}

// hang says nothing until the client goes away.
func (p *peer) hang() { _, _ = io.Copy(io.Discard, p.Conn) }

// script is a RoundTripper that answers from a list, whose last entry repeats. It has no connections, so that it
// works on a fake clock.
type script struct {
	steps []step

	mu   sync.Mutex
	sent []scriptRequest
	open int
	most int // requests at the same time
}

type step func(r *http.Request) (*http.Response, error)

type scriptRequest struct {
	at time.Time
	wireRequest
}

func scripted(steps ...step) *script { return &script{steps: steps} }

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	s.mu.Lock()
	next := s.steps[min(len(s.sent), len(s.steps)-1)]
	s.sent = append(s.sent, scriptRequest{time.Now(), wireRequest{
		method: r.Method, target: r.URL.RequestURI(), header: r.Header.Clone(), body: string(body),
	}})
	s.open++
	s.most = max(s.most, s.open)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()
	return next(r)
}

func (s *script) requests() []scriptRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// gaps are the times between one request and the next.
func (s *script) gaps() []time.Duration {
	var gaps []time.Duration
	requests := s.requests()
	for i := 1; i < len(requests); i++ {
		gaps = append(gaps, requests[i].at.Sub(requests[i-1].at))
	}
	return gaps
}

// answered is a complete answer. Headers are "Name: value".
func answered(status int, mediaType, body string, headers ...string) step {
	return func(r *http.Request) (*http.Response, error) {
		header := http.Header{}
		if mediaType != "" {
			header.Set("Content-Type", mediaType)
		}
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			header.Set(name, value)
		}
		return &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
		}, nil
	}
}

// serviceError is an error answer in the service's shape.
func serviceError(status int, code string, headers ...string) step {
	return answered(status, vendorJSON, fmt.Sprintf(`{"error":%q,"error_description":"words of the service"}`, code), headers...)
}

func wellAnswered(op coreOp) step { return answered(op.status, op.mediaType, op.body) }

// broken is an exchange that ends with err after the request left.
func broken(err error) step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// unreachable is a dial that failed.
func unreachable(err error) step {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return prepaid.Wrappable(&http.Transport{DialContext: dial}).RoundTrip
}

// after is next, some time later, unless the request's context ends first.
func after(wait time.Duration, next step) step {
	return func(r *http.Request) (*http.Response, error) {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			return next(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}
