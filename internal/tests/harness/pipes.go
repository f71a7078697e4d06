package harness

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/transport"
)

// NewPipes returns a Server on pipes instead of a port, for a test in a synctest bubble: a goroutine that reads from a pipe
// does not stop the clock of the bubble. Only a client with the transport of Server.Transport reaches it.
func NewPipes(t *testing.T, respond func(n int, p *Peer)) *Server {
	t.Helper()
	return newServer(t, "http://127.0.0.1:1", respond, func() error { return nil })
}

// Dial connects to a Server of NewPipes.
func (s *Server) Dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	reset := new(atomic.Bool)
	s.accept(pipeServer{far, reset})
	return pipeClient{near, reset}, nil
}

// Transport is a client's transport to a Server of NewPipes.
func (s *Server) Transport() *http.Transport {
	t := transport.New()
	t.DialContext = s.Dial
	return t
}

// PipesConfig returns the settings of Config for a client of a Server of NewPipes.
func PipesConfig(s *Server) prepaid.Config {
	config := Config(s.Address)
	config.Transport = s.Transport()
	return config
}

type pipeServer struct {
	net.Conn

	reset *atomic.Bool
}

// SetLinger makes Close reset the connection, as that of a TCP connection does.
func (c pipeServer) SetLinger(int) error {
	c.reset.Store(true)
	return nil
}

type pipeClient struct {
	net.Conn

	reset *atomic.Bool
}

func (c pipeClient) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) && c.reset.Load() {
		err = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return n, err
}
