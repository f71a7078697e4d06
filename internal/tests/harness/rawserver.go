package harness

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// RawServer reads HTTP/1.1 requests off plain connections and leaves every byte of the answer to the test.
type RawServer struct {
	Address string
	Stop    func() // cuts all connections and waits; the test may then read what its handler wrote
}

// NewRawServer calls answer for one request after the other.
func NewRawServer(t *testing.T, answer func(conn net.Conn, body []byte)) *RawServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var (
		one     sync.Mutex // requests are answered one after the other
		mu      sync.Mutex
		open    []net.Conn
		running sync.WaitGroup
	)
	running.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, connection)
			mu.Unlock()
			running.Go(func() {
				defer func() { _ = connection.Close() }()
				reader := bufio.NewReader(connection)
				for {
					request, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					body, err := io.ReadAll(request.Body)
					if err != nil {
						return
					}
					one.Lock()
					answer(connection, body)
					one.Unlock()
				}
			})
		}
	})
	s := &RawServer{Address: listener.Addr().String(), Stop: sync.OnceFunc(func() {
		_ = listener.Close()
		mu.Lock()
		for _, connection := range open {
			_ = connection.Close()
		}
		mu.Unlock()
		running.Wait()
	})}
	t.Cleanup(s.Stop)
	return s
}
