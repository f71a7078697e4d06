package prepaidredis

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// server is a Redis server of one test. A kill loses its state.
type server struct {
	t       *testing.T
	program string
	address string
	dir     string
	process *exec.Cmd
}

func startServer(t *testing.T) *server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("PREPAID_TEST_REDIS") == "required" {
			t.Fatal("redis-server is not installed, and PREPAID_TEST_REDIS=required asks for it")
		}
		t.Skip("redis-server is not installed; PREPAID_TEST_REDIS=required makes this a failure")
	}
	dir, err := os.MkdirTemp("", "redis") //nolint:usetesting // that of t may be too long for a socket
	require.NoError(t, err)
	s := &server{t: t, program: program, address: filepath.Join(dir, "socket"), dir: dir}
	t.Cleanup(func() {
		s.kill()
		require.NoError(t, os.RemoveAll(dir))
	})
	s.start()
	return s
}

// start returns when the server responds.
func (s *server) start() {
	s.t.Helper()
	s.process = exec.Command(s.program, "--port", "0", "--unixsocket", s.address, "--dir", s.dir, "--save", "", "--appendonly", "no")
	require.NoError(s.t, s.process.Start())
	client := redis.NewClient(&redis.Options{Addr: s.address, MaxRetries: -1, DialTimeout: time.Second})
	defer client.Close()
	for end := time.Now().Add(time.Minute); ; {
		err := client.Ping(context.Background()).Err()
		if err == nil {
			return
		}
		require.True(s.t, time.Now().Before(end), "the server does not respond: %v", err)
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *server) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// client returns a client for the test.
func (s *server) client() *redis.Client {
	client := newClient(s.address)
	s.t.Cleanup(func() { require.NoError(s.t, client.Close()) })
	return client
}

func newClient(address string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: address, ContextTimeoutEnabled: true, DialTimeout: 500 * time.Millisecond})
}
