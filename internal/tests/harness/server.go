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
	Connection int // counted from 1
	Method     string
	Target     string
	Header     http.Header
	Body       string
}

// Server reads requests from raw connections and leaves the bytes of the answers to the test.
type Server struct {
	Address string

	Mu          sync.Mutex
	requests    []Request
	Connections int
	ended       int // connections that the client closed, or the test
	open        []net.Conn
}

// Peer is the server's end of a connection with a request that waits for its answer.
type Peer struct {
	net.Conn
	Request Request
	Turn    int // of the request on its connection, counted from 1
}

// NewServer starts a server that hands each request, counted from 1, to answer. A connection that answer leaves
// open is read on.
func NewServer(t *testing.T, answer func(n int, p *Peer)) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{Address: "http://" + listener.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.Mu.Lock()
			s.Connections++
			number := s.Connections
			s.open = append(s.open, connection)
			s.Mu.Unlock()
			running.Go(func() { s.serve(number, connection, answer) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		s.Mu.Lock()
		for _, connection := range s.open {
			_ = connection.Close()
		}
		s.Mu.Unlock()
		running.Wait()
	})
	return s
}

func (s *Server) serve(number int, connection net.Conn, answer func(int, *Peer)) {
	defer func() {
		_ = connection.Close()
		s.Mu.Lock()
		s.ended++
		s.Mu.Unlock()
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
		s.Mu.Lock()
		s.requests = append(s.requests, seen)
		count := len(s.requests)
		s.Mu.Unlock()
		answer(count, &Peer{connection, seen, turn})
	}
}

func (s *Server) Seen() []Request {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.requests)
}

// Left is how many connections are open.
func (s *Server) Left() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Connections - s.ended
}

// Send sends raw bytes; the client may be gone.
func (p *Peer) Send(text string) { _, _ = io.WriteString(p.Conn, text) }

// Respond sends a whole answer and leaves the connection open.
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

// Succeed answers as the service does when all is well.
func (p *Peer) Succeed(op Op) { p.Respond(op.Status, op.MediaType, op.Body) }

// Reset breaks the connection without a farewell.
func (p *Peer) Reset() {
	if connection, ok := p.Conn.(*net.TCPConn); ok {
		_ = connection.SetLinger(0)
	}
	_ = p.Close()
}

// Hang says nothing until the client goes away.
func (p *Peer) Hang() { _, _ = io.Copy(io.Discard, p.Conn) }
