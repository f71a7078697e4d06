package exchange

import (
	"net"
	"sync"
)

// Door is a listener that also takes back connections which a handler had taken over, so that net/http
// continues to serve them.
type Door struct {
	net.Listener
	connections chan net.Conn
	done        chan struct{}
	once        sync.Once
}

// NewDoor makes a door in front of a listener.
func NewDoor(listener net.Listener) *Door {
	return &Door{Listener: listener, connections: make(chan net.Conn), done: make(chan struct{})}
}

// Run passes new connections to Accept until the door is stopped.
func (f *Door) Run() {
	for {
		connection, err := f.Listener.Accept()
		if err != nil {
			return
		}
		f.resume(connection)
	}
}

func (f *Door) resume(connection net.Conn) {
	select {
	case f.connections <- connection:
	case <-f.done:
		_ = connection.Close()
	}
}

// Accept returns the next connection, new or resumed.
func (f *Door) Accept() (net.Conn, error) {
	select {
	case connection := <-f.connections:
		return connection, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close stops accepting.
func (f *Door) Close() error {
	f.Stop()
	return f.Listener.Close()
}

// Stop stops accepting connections.
func (f *Door) Stop() { f.once.Do(func() { close(f.done) }) }
