package prepaidtest

import (
	"net"
	"sync"
)

// frontDoor is a listener that also takes back connections which a handler had taken over, so that they are
// served further like any other.
type frontDoor struct {
	net.Listener
	connections chan net.Conn
	done        chan struct{}
	once        sync.Once
}

func newFrontDoor(listener net.Listener) *frontDoor {
	return &frontDoor{Listener: listener, connections: make(chan net.Conn), done: make(chan struct{})}
}

// accept moves new connections inside until the door is stopped.
func (f *frontDoor) accept() {
	for {
		connection, err := f.Listener.Accept()
		if err != nil {
			return
		}
		f.resume(connection)
	}
}

func (f *frontDoor) resume(connection net.Conn) {
	select {
	case f.connections <- connection:
	case <-f.done:
		_ = connection.Close()
	}
}

// Accept returns the next connection, new or resumed.
func (f *frontDoor) Accept() (net.Conn, error) {
	select {
	case connection := <-f.connections:
		return connection, nil
	case <-f.done:
		return nil, net.ErrClosed
	}
}

// Close stops accepting.
func (f *frontDoor) Close() error {
	f.stop()
	return f.Listener.Close()
}

func (f *frontDoor) stop() { f.once.Do(func() { close(f.done) }) }
