// Package bank is a service that treats payments in the worst way that the reference allows. It carries out each
// request that it has read, even if the connection is gone. It caches results of finished requests by request ID
// alone. It carries out a repeat that arrives before the first request is finished. It counts its payments.
package bank

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const mediaType = "application/vnd.vendor+json"

// Options configures a bank.
type Options struct {
	// Takes returns how long a payment takes after its request's last byte. Default: no time.
	Takes func(requestID string, request int) time.Duration
	// TLS makes the bank serve https and offer HTTP/2.
	TLS bool
	// HTTP2Only makes the bank serve only HTTP/2, without TLS.
	HTTP2Only bool
}

// Bank is a running service.
type Bank struct {
	// URL is the BaseURL for clients. With TLS, a client must trust Certificate (PEM).
	URL, Certificate string

	options  Options
	listener *listener

	mu       sync.Mutex
	frozen   chan struct{} // nil unless the bank is frozen; Thaw closes it
	payments map[string]*payment
	moved    int
}

type payment struct {
	requests int
	results  []int // transaction IDs; more than one means paid twice
}

// Serve starts a bank that ends with the test.
func Serve(tb testing.TB, on net.Listener, options Options) *Bank {
	tb.Helper()
	b := &Bank{options: options, listener: &listener{Listener: on}, payments: map[string]*payment{}}
	server := httptest.NewUnstartedServer(b)
	_ = server.Listener.Close()
	server.Listener, server.EnableHTTP2 = b.listener, true
	if options.HTTP2Only {
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
	}
	if options.TLS {
		server.StartTLS()
		b.Certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	} else {
		server.Start()
	}
	b.URL = server.URL + "/3.0/"
	tb.Cleanup(func() {
		b.Thaw()
		b.Vanish()
		server.Close()
	})
	return b
}

// CertPool returns a pool with a certificate in PEM.
func CertPool(certificate string) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(certificate))
	return pool
}

// ServeHTTP implements [http.Handler].
func (b *Bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the request is incomplete
	}
	b.wait()
	w.Header().Set("Content-Type", mediaType)
	switch _, operation, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/3.0/accounts/"), "/"); {
	case r.URL.Path == "/3.0/token":
		_, _ = io.WriteString(w, `{"access_token":"token","token_type":"bearer","expires_in":3600}`)
	case operation == "status":
		_, _ = io.WriteString(w, `{"external_account_id":"ext-1","company_id":7,"balance":0,"status":"active","is_plastic_enabled":true,`+
			`"card_number":"5555********4444","plastic_expiry":"2030-01-01T00:00:00Z","product_type":"reloadable"}`)
	case operation == "transfer", operation == "directentryout":
		var params struct {
			RequestID string `json:"request_id"`
		}
		if json.Unmarshal(body, &params) != nil || params.RequestID == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		transaction := b.pay(params.RequestID)
		_, _ = fmt.Fprintf(w, `{"transaction_id":%d,"correlation_id":"c-%d"}`, transaction, transaction)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (b *Bank) pay(id string) int {
	b.mu.Lock()
	p := b.payments[id]
	if p == nil {
		p = new(payment)
		b.payments[id] = p
	}
	p.requests++
	request := p.requests
	if len(p.results) > 0 {
		defer b.mu.Unlock()
		return p.results[0]
	}
	b.mu.Unlock()
	if b.options.Takes != nil {
		time.Sleep(b.options.Takes(id, request))
	}
	b.wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moved++
	p.results = append(p.results, b.moved)
	return b.moved
}

// wait returns when the bank is not frozen.
func (b *Bank) wait() {
	b.mu.Lock()
	frozen := b.frozen
	b.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
}

// Freeze stops all handling and all responses until Thaw. Connections stay, and requests are still read.
func (b *Bank) Freeze() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frozen == nil {
		b.frozen = make(chan struct{})
	}
}

// Thaw ends the effect of Freeze.
func (b *Bank) Thaw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frozen != nil {
		close(b.frozen)
		b.frozen = nil
	}
}

// Vanish resets all connections; the client gets a reset only if the link is up. Payments continue.
func (b *Bank) Vanish() { b.listener.vanish() }

// Count counts the requests and payments of a bank.
type Count struct {
	Requests int      // requests for payments whose handling has begun
	Paid     int      // payments, each counted once
	Twice    []string // request IDs that were paid more than once
}

// Count returns the counts of the bank so far.
func (b *Bank) Count() (c Count) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.payments {
		c.Requests += p.requests
		if len(p.results) > 0 {
			c.Paid++
		}
		if len(p.results) > 1 {
			c.Twice = append(c.Twice, id)
		}
	}
	slices.Sort(c.Twice)
	return c
}

// listener remembers its connections.
type listener struct {
	net.Listener

	mu   sync.Mutex
	open []net.Conn
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		l.open = append(l.open, c)
		l.mu.Unlock()
	}
	return c, err
}

func (l *listener) vanish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
	l.open = nil
}
