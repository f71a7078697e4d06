//go:build linux

package kernel

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/bank"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/transport"
)

// payerVariable holds a setup for a process of the test binary that is to pay.
const payerVariable = "PREPAID_TEST_NETCUT_PAYER"

// setup is a payer's job. It pays until the outcome of each payment is known.
type setup struct {
	URL, Certificate  string
	Transport         connections
	Attempt, InFlight time.Duration // zero for the defaults
	Payments          int
	Stagger           time.Duration // between the first requests of two payments
	LastSent          time.Time     // of all payments, by an earlier process
	Journal           string        // a file; else the client alone
	Proxy             string        // the address of a forward proxy
	Spread            time.Duration // each payment begins at a random moment within it
	Alone             int           // the last payments: each has its own client, which does nothing else
	Readers           int           // reads that the client of the other payments has in flight all the time
}

// connections is the kind of a payer's connections.
type connections string

const (
	kept      connections = "HTTP1 kept"
	fresh     connections = "HTTP1 fresh"
	tlsKept   connections = "TLS kept"
	tlsHTTP2  connections = "TLS offering HTTP2"
	http2Only connections = "HTTP2 only"
	wrapped   connections = "TLS in a RoundTripper of the caller"
)

// event is a line that a payer prints.
type event struct {
	What    string // one of those below
	Payment string
	Port    int // of the connection
	At      time.Time
	Err     string
}

const (
	ready     = "ready"     // has its connections
	connected = "connected" // a first request has its connection, and waits for commandWrite
	writing   = "writing"   // a request has its connection, and is handed to the kernel unless the process stops
	written   = "written"   // net/http has written the request; HTTP/1 may flush it a moment later
	ended     = "ended"     // an attempt ended without a response
	paid      = "paid"
	finished  = "finished" // all payments of the journal

	commandPay    = "pay"
	commandWrite  = "write"
	commandCancel = "cancel" // all calls; they are made again
	commandClose  = "close"  // the client; another one goes on
)

type payer struct {
	setup
	gate chan struct{} // closed by commandWrite

	alone []*prepaid.Client

	mu     sync.Mutex
	client *prepaid.Client
	ctx    context.Context //nolint:containedctx // of the calls until commandCancel
	cancel context.CancelFunc
	out    *json.Encoder
}

func payerMain(text string) int {
	p := &payer{gate: make(chan struct{}), out: json.NewEncoder(os.Stdout)}
	if err := json.Unmarshal([]byte(text), &p.setup); err != nil {
		return 2
	}
	p.renew()
	for range p.Alone {
		p.alone = append(p.alone, p.newClient())
	}
	if p.Transport != fresh && p.LastSent.IsZero() && p.Journal == "" {
		p.warm()
	}
	p.print(event{What: ready})
	for range p.Readers {
		go func() {
			for ; ; time.Sleep(10 * time.Millisecond) {
				_, _ = p.client.Accounts.Summary(context.Background(), "EA-1")
			}
		}()
	}
	var all sync.WaitGroup
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() { // to the end of the test, or of its process
		switch commands.Text() {
		case commandPay:
			if p.Journal != "" {
				all.Go(p.payJournal)
				continue
			}
			for i := range p.Payments {
				all.Go(func() { p.pay(i) })
			}
		case commandWrite:
			close(p.gate)
		case commandCancel, commandClose:
			client, cancel := p.renew()
			if commands.Text() == commandCancel {
				cancel()
			} else {
				_ = client.Close()
			}
		}
	}
	return 0
}

// renew sets a new client and context, and returns the ones before.
func (p *payer) renew() (*prepaid.Client, context.CancelFunc) {
	client := p.newClient()
	p.mu.Lock()
	defer p.mu.Unlock()
	oldClient, oldCancel := p.client, p.cancel
	p.client = client
	p.ctx, p.cancel = context.WithCancel(context.Background()) //nolint:gosec // until the process ends
	return oldClient, oldCancel
}

func (p *payer) newClient() *prepaid.Client {
	client, err := prepaid.NewClient(p.config())
	if err != nil {
		fmt.Fprintln(os.Stderr, "payer:", err)
		os.Exit(2)
	}
	return client
}

// clientOf returns the client of a payment, and the context of its calls.
func (p *payer) clientOf(i int) (*prepaid.Client, context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if shared := p.Payments - p.Alone; i >= shared {
		return p.alone[i-shared], p.ctx
	}
	return p.client, p.ctx
}

func (p *payer) config() prepaid.Config {
	t := transport.New()
	t.TLSClientConfig = &tls.Config{RootCAs: bank.CertPool(p.Certificate), ServerName: "example.com", MinVersion: tls.VersionTLS12}
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(p.Transport != http2Only)
	t.Protocols.SetHTTP2(p.Transport == tlsHTTP2 || p.Transport == wrapped)
	t.Protocols.SetUnencryptedHTTP2(p.Transport == http2Only)
	t.DisableKeepAlives = p.Transport == fresh
	if p.Proxy != "" {
		t.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: p.Proxy})
	}
	own := http.RoundTripper(t)
	if p.Transport == wrapped {
		own = roundTripper(transport.Wrappable(t).RoundTrip)
	}
	return prepaid.Config{
		BaseURL: p.URL, Vendor: "vendor", TestEnvironment: true, InsecureHTTP: true, Transport: own,
		ClientID: "client", ClientSecret: prepaid.NewSecret("secret"),
		Limiter:        ratelimit.None{},
		AttemptTimeout: p.Attempt,
		Retry: prepaid.RetryPolicy{
			MaxAttempts: 50, MinWait: time.Millisecond, MaxWait: 20 * time.Millisecond, InFlightWait: p.InFlight, TokenHold: 20 * time.Millisecond,
		},
		Trace: &prepaid.Trace{AttemptStart: p.start, AttemptDone: p.done},
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (p *payer) print(e event) {
	e.At = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Encode(e)
}

// warm leaves a connection for each payment.
func (p *payer) warm() {
	var all sync.WaitGroup
	for i := range p.Payments {
		all.Go(func() {
			client, ctx := p.clientOf(i)
			for p.transfer(ctx, client, warmID(i), time.Time{}) != nil {
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	all.Wait()
}

func warmID(i int) string    { return fmt.Sprint("warm-", i) }
func paymentID(i int) string { return fmt.Sprint("pay-", i) }

func transferParams(id string, lastSent time.Time) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.RequestID(id), Amount: prepaid.Cents(100), SourceReference: "PAY", DestinationReference: "PAY",
		DestinationAccountID: "EA-2", LastSent: lastSent,
	}
}

// transfer makes a payment, of one kind or the other.
func (p *payer) transfer(ctx context.Context, client *prepaid.Client, id string, lastSent time.Time) (err error) {
	ctx = context.WithValue(ctx, requestKey{}, &request{payment: id})
	params := transferParams(id, lastSent)
	if id[len(id)-1]%2 == 0 {
		_, err = client.Accounts.Transfer(ctx, "EA-1", params)
		return err
	}
	_, err = client.Accounts.DirectEntryOut(ctx, "EA-1", prepaid.DirectEntryOutParams{
		RequestID: params.RequestID, Amount: params.Amount, SourceReference: "PAY", DestinationReference: "PAY", BSB: "062000",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "J CITIZEN"}, LastSent: lastSent,
	})
	return err
}

func (p *payer) pay(i int) {
	time.Sleep(rand.N(p.Spread + 1))
	for lastSent := p.LastSent; ; {
		client, ctx := p.clientOf(i)
		err := p.transfer(ctx, client, paymentID(i), lastSent)
		if err == nil {
			p.print(event{What: paid, Payment: paymentID(i)})
			return
		}
		if failure, ok := errors.AsType[*prepaid.CallError](err); ok && failure.Outcome == prepaid.OutcomeUnknown {
			lastSent = failure.LastSent // for the next client
		}
		time.Sleep(time.Millisecond)
	}
}

// payJournal makes all payments with package journalfile.
func (p *payer) payJournal() {
	j, err := journalfile.Open(p.Journal, journalfile.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "payer:", err)
		os.Exit(2)
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range p.Payments {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			for { // an unknown outcome waits by itself
				_, err := j.Transfer(context.Background(), p.client.Accounts, "EA-1", transferParams(paymentID(i), time.Time{}))
				if err == nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	_ = j.Close()
	p.print(event{What: finished})
}

// requestKey is the key of the request that a context is of.
type requestKey struct{}

type request struct {
	payment string
	port    int
	watched atomic.Bool // the hooks now see a read that the client makes during the attempt
}

// start sees which connection an attempt of a payment gets, and keeps a first request until commandWrite.
func (p *payer) start(ctx context.Context, op prepaid.Operation, attempt int) context.Context {
	call, _ := ctx.Value(requestKey{}).(*request)
	if call == nil || !strings.HasPrefix(call.payment, "pay-") || op.Method != http.MethodPost {
		if call != nil {
			call.watched.Store(true)
		}
		return ctx
	}
	r := &request{payment: call.payment}
	wrote := func(httptrace.WroteRequestInfo) {
		if !r.watched.Load() {
			p.print(event{What: written, Payment: r.payment, Port: r.port})
		}
	}
	return httptrace.WithClientTrace(context.WithValue(ctx, requestKey{}, r), &httptrace.ClientTrace{WroteRequest: wrote, GotConn: func(info httptrace.GotConnInfo) {
		if r.watched.Load() {
			return
		}
		if address, ok := info.Conn.LocalAddr().(*net.TCPAddr); ok {
			r.port = address.Port
		}
		if attempt == 1 && p.Stagger > 0 && p.LastSent.IsZero() {
			select {
			case <-p.gate:
			default:
				p.print(event{What: connected, Payment: r.payment, Port: r.port})
				<-p.gate
				var i int
				_, _ = fmt.Sscanf(r.payment, "pay-%d", &i)
				time.Sleep(time.Duration(i) * p.Stagger)
			}
		}
		p.print(event{What: writing, Payment: r.payment, Port: r.port})
	}})
}

func (p *payer) done(ctx context.Context, _ prepaid.Operation, a prepaid.Attempt) {
	if r, _ := ctx.Value(requestKey{}).(*request); r != nil && r.port != 0 && a.Err != nil {
		p.print(event{What: ended, Payment: r.payment, Port: r.port, Err: a.Err.Error()})
	}
}
