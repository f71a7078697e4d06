package harness

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Request is a request as the server read it.
type Request struct {
	Connection int // number of the connection, from 1
	Method     string
	Target     string
	Header     http.Header
	Body       string
}

// Server reads requests from raw connections and leaves the bytes of the responses to the test.
type Server struct {
	Address string
	Stop    func() // cuts all connections and waits for respond; after that, the test may read variables that respond wrote

	respond func(n int, p *Peer)
	running sync.WaitGroup

	mu          sync.Mutex
	changed     sync.Cond // a connection ended
	stopped     bool
	requests    []Request
	connections int
	ended       int // connections that the client or the test closed
	open        []net.Conn
}

// Peer is the server's end of a connection with a request that waits for its response.
type Peer struct {
	net.Conn
	Request Request
	Turn    int // number of the request on its connection, from 1
}

// NewServer starts a server that passes each request, with its number from 1, to respond. If respond leaves a connection
// open, the server continues to read from it.
func NewServer(t *testing.T, respond func(n int, p *Peer)) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := newServer(t, "http://"+listener.Addr().String(), respond, listener.Close)
	s.running.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.accept(connection)
		}
	})
	return s
}

func newServer(t *testing.T, address string, respond func(n int, p *Peer), stop func() error) *Server {
	t.Helper()
	s := &Server{Address: address, respond: respond}
	s.changed.L = &s.mu
	s.Stop = sync.OnceFunc(func() {
		_ = stop()
		s.mu.Lock()
		s.stopped = true
		for _, connection := range s.open {
			_ = connection.Close()
		}
		s.mu.Unlock()
		s.running.Wait()
	})
	t.Cleanup(s.Stop)
	return s
}

// accept serves a connection. After Stop it closes it.
func (s *Server) accept(connection net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		_ = connection.Close()
		return
	}
	s.connections++
	number := s.connections
	s.open = append(s.open, connection)
	s.running.Go(func() { s.serve(number, connection) })
}

func (s *Server) serve(number int, connection net.Conn) {
	defer func() {
		_ = connection.Close()
		s.mu.Lock()
		s.ended++
		s.changed.Broadcast()
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
		seen := Request{
			Connection: number, Method: request.Method, Target: request.RequestURI, Header: request.Header, Body: string(body),
		}
		s.mu.Lock()
		if len(s.requests) > 0 && s.requests[0].keyed() && IsPathRead(request) {
			s.mu.Unlock()
			(&Peer{Conn: connection}).Respond(http.StatusOK, VendorJSON, "{}")
			continue
		}
		s.requests = append(s.requests, seen)
		count := len(s.requests)
		s.mu.Unlock()
		s.respond(count, &Peer{connection, seen, turn})
	}
}

func (r Request) keyed() bool {
	return r.Method == http.MethodPost && (strings.HasSuffix(r.Target, "/transfer") || strings.HasSuffix(r.Target, "/directentryout"))
}

// IsPathRead reports whether r is the read that a client makes before it repeats a payment. Script, and Server after a payment,
// respond to this read themselves and do not count it.
func IsPathRead(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/status")
}

// Seen returns the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Connections returns the number of connections made so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

// Left returns the number of open connections.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections - s.ended
}

// AwaitNoneLeft waits until no connection is open.
func (s *Server) AwaitNoneLeft() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.connections > s.ended {
		s.changed.Wait()
	}
}

// Send sends raw bytes. It ignores errors, since the client may be gone.
func (p *Peer) Send(text string) { _, _ = io.WriteString(p.Conn, text) }

// Respond sends a whole response and leaves the connection open.
func (p *Peer) Respond(status int, mediaType, body string, headers ...string) {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n", status, len(body))
	if mediaType != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", mediaType)
	}
	for _, header := range headers {
		b.WriteString(header + "\r\n")
	}
	p.Send(b.String() + "\r\n" + body)
}

// Succeed sends the successful response.
func (p *Peer) Succeed(op Op) { p.Respond(op.Status, op.MediaType, op.Body) }

// Reset resets the connection.
func (p *Peer) Reset() {
	Reset(p.Conn)
}

// Reset resets a connection of a Server.
func Reset(connection net.Conn) {
	if abrupt, ok := connection.(interface{ SetLinger(seconds int) error }); ok {
		_ = abrupt.SetLinger(0)
	}
	_ = connection.Close()
}

// Hang sends nothing until the client closes the connection.
func (p *Peer) Hang() { _, _ = io.Copy(io.Discard, p.Conn) }
