package hostile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// target is a database.
type target struct {
	url              *url.URL
	network, address string
}

// newTarget reads a URL that has a host and a port, or the socket of Postgres.
func newTarget(text string) (target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return target{}, errors.New("hostile: Database: must be a URL")
	}
	t := target{url: u, network: "tcp"}
	port := cmp.Or(u.Port(), u.Query().Get("port"))
	if strings.HasPrefix(u.Scheme, "postgres") {
		port = cmp.Or(port, "5432")
	}
	host := cmp.Or(u.Hostname(), u.Query().Get("host"))
	switch {
	case host == "" || port == "":
		return target{}, errors.New("hostile: Database: must have a host and a port")
	case filepath.IsAbs(host):
		t.network, t.address = "unix", filepath.Join(host, ".s.PGSQL."+port)
	default:
		t.address = net.JoinHostPort(host, port)
	}
	return t, nil
}

// proxy connects a copy to the database, and can cut the connections.
type proxy struct {
	target   target
	listener net.Listener

	mu     sync.Mutex // guards all below
	closed bool
	down   time.Time // until then, new connections are refused
	open   map[net.Conn]bool
}

// outage is how long a database is cut off.
const outage = 100 * time.Millisecond

// proxy starts a proxy. The URL that it returns leads through this proxy.
func (t target) proxy(ctx context.Context, background *sync.WaitGroup) (*proxy, string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	p := &proxy{target: t, listener: listener, open: make(map[net.Conn]bool)}
	through := *t.url
	through.Host = listener.Addr().String()
	query := through.Query()
	query.Del("host")
	query.Del("port")
	through.RawQuery = query.Encode()
	background.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			background.Go(func() { p.pass(ctx, near) })
		}
	})
	return p, through.String(), nil
}

// keep records an open connection. If the proxy is closed or cut, keep closes the connection and returns false.
func (p *proxy) keep(connection net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || time.Now().Before(p.down) {
		_ = connection.Close()
		return false
	}
	p.open[connection] = true
	return true
}

func (p *proxy) pass(ctx context.Context, near net.Conn) {
	if !p.keep(near) {
		return
	}
	far, err := new(net.Dialer).DialContext(ctx, p.target.network, p.target.address)
	if err != nil {
		p.drop(near)
		return
	}
	if p.keep(far) {
		var both sync.WaitGroup
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			both.Go(func() {
				_, _ = io.Copy(way[0], way[1])
				p.drop(near, far) // if either end closes
			})
		}
		both.Wait()
	}
	p.drop(near)
}

func (p *proxy) drop(connections ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, connection := range connections {
		_ = connection.Close()
		delete(p.open, connection)
	}
}

// cut closes all connections, and refuses new connections for one outage.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = time.Now().Add(outage)
	p.closeAll()
}

// closeAll closes all connections. The caller holds the lock.
func (p *proxy) closeAll() {
	for connection := range p.open {
		_ = connection.Close()
	}
	clear(p.open)
}

func (p *proxy) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.closeAll()
	return p.listener.Close()
}
