package prepaidtest

import (
	"context"
	"net"
	"net/http"
)

// memoryNetwork is a listener on pipes.
type memoryNetwork struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (m *memoryNetwork) Accept() (net.Conn, error) {
	select {
	case connection := <-m.connections:
		return connection, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memoryNetwork) Close() error {
	close(m.closed)
	return nil
}

func (*memoryNetwork) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (m *memoryNetwork) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.connections <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memoryNetwork) transport() *http.Transport { return &http.Transport{DialContext: m.dial} }
