package hostile

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo is a database that sends each line back.
func echo(t *testing.T, network, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen(network, address)
	require.NoError(t, err)
	var wait sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		wait.Wait()
	})
	wait.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				defer connection.Close()
				for lines := bufio.NewScanner(connection); lines.Scan(); {
					fmt.Fprintln(connection, lines.Text())
				}
			})
		}
	})
	return listener
}

func dial(t *testing.T, address string) (net.Conn, func(string) (string, error)) {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	lines := bufio.NewReader(connection)
	return connection, func(text string) (string, error) {
		if _, err := fmt.Fprintln(connection, text); err != nil {
			return "", err
		}
		line, err := lines.ReadString('\n')
		return strings.TrimSpace(line), err
	}
}

func proxied(t *testing.T, text string) (*proxy, *url.URL) {
	t.Helper()
	target, err := newTarget(text)
	require.NoError(t, err)
	var background sync.WaitGroup
	p, through, err := target.proxy(t.Context(), &background)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.close()
		background.Wait()
		require.Empty(t, p.open)
	})
	u, err := url.Parse(through)
	require.NoError(t, err)
	return p, u
}

func TestDatabaseIsCutOff(t *testing.T) {
	t.Parallel()
	database := echo(t, "tcp", "127.0.0.1:0")
	p, through := proxied(t, "mysql://user:secret@"+database.Addr().String()+"/payments?a=b")
	require.NotEqual(t, database.Addr().String(), through.Host)
	require.Equal(t, "user:secret", through.User.String())
	require.Equal(t, "/payments?a=b", through.RequestURI())
	_, ask := dial(t, through.Host)
	got, err := ask("hello")
	require.NoError(t, err)
	require.Equal(t, "hello", got)

	began := time.Now()
	p.cut()
	_, err = ask("lost")
	require.Error(t, err)
	require.True(t, p.down.After(began))
	p.setDown(time.Now().Add(time.Hour))
	_, ask = dial(t, through.Host)
	_, err = ask("refused")
	require.Error(t, err)
	p.setDown(time.Now().Add(-time.Nanosecond))
	_, ask = dial(t, through.Host)
	got, err = ask("again")
	require.NoError(t, err)
	require.Equal(t, "again", got)
}

// setDown sets the end of the outage.
func (p *proxy) setDown(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = until
}

func TestSocketOfPostgres(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	echo(t, "unix", filepath.Join(dir, ".s.PGSQL.5433"))
	_, through := proxied(t, "postgres:///payments?host="+url.QueryEscape(dir)+"&port=5433&user=me")
	require.Equal(t, "/payments?user=me", through.RequestURI())
	_, ask := dial(t, through.Host)
	got, err := ask("hello")
	require.NoError(t, err)
	require.Equal(t, "hello", got)
	near, _ := dial(t, through.Host)
	require.NoError(t, near.Close(), "the proxy closes the other end")

	target, err := newTarget("postgres://db.example.com/x")
	require.NoError(t, err)
	require.Equal(t, "db.example.com:5432", target.address)
}

func TestDatabaseThatIsDown(t *testing.T) {
	t.Parallel()
	_, through := proxied(t, "postgres://127.0.0.1:1") // a port that was just closed may go to another test
	_, ask := dial(t, through.Host)
	_, err := ask("nobody")
	require.Error(t, err)
}
