package prepaid

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/token"
	"github.com/cardprograms/prepaid/internal/turns"
)

// version is the SDK's version in the User-Agent.
const version = "0.1.0"

// core is what the calls of a client share: settings, transport, and state of earlier calls. It does not know the
// services. NewClient sets it; only closed and authorization change later.
type core struct {
	config   Config
	base     *url.URL // without a trailing slash
	sender   *exchange.Sender
	limiter  Limiter
	tokens   TokenSource
	manager  *tokenManager // same as tokens if built in, else nil
	observer observer
	closed   atomic.Bool
	turns    *turns.Guard // for keyed calls
	repeats  *repeatRule

	mediaType   string
	accept      []string
	acceptText  []string
	contentType []string
	userAgent   []string

	authorization atomic.Pointer[bearerHeader] // for the last token sent
}

// begin sets everything except tokens and manager. config has its defaults; base is its parsed address.
func (c *core) begin(config Config, base *url.URL) {
	c.config, c.base, c.limiter, c.tokens = config, base, config.Limiter, config.TokenSource
	c.repeats = config.repeatRule()
	c.turns = turns.New(c.repeats.notBefore)
	c.observer = observer{log: config.Logger, traces: config.Trace.flat()}
	wire := "application/vnd." + config.Vendor + "+json"
	c.mediaType = strings.ToLower(wire)
	c.accept, c.contentType = []string{wire}, []string{wire}
	c.acceptText = []string{"application/octet-stream, " + wire}
	c.userAgent = []string{strings.TrimSpace("prepaid-go/" + version + " " + config.UserAgent)}
	if base.Scheme == "http" && !isLoopback(base.Hostname()) {
		config.Logger.LogAttrs(context.Background(), slog.LevelWarn, "prepaid: the address is http: client secret, tokens and data travel in clear")
	}
	c.sender = exchange.NewSender(config.Transport, NewTransport)
	if c.limiter == nil {
		c.limiter = newSlotLimiter(config.RateShare, config.Retry.MaxRetryAfter, config.Retry.MaxWait)
	}
}

// ended returns why nothing may be sent any more, or nil.
func (c *core) ended(ctx context.Context) error {
	if c.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}

// bearerHeader is the Authorization header of a token.
type bearerHeader struct {
	token string
	value []string
}

// bearer returns the header value of a token. It is built once per token.
func (c *core) bearer(access string) []string {
	header := c.authorization.Load()
	if header == nil || header.token != access {
		header = &bearerHeader{token: access, value: []string{"Bearer " + access}}
		c.authorization.Store(header)
	}
	return header.value
}

// validator returns a validator that honours Config.SkipValueChecks.
func (c *core) validator() validator { return validator{lax: c.config.SkipValueChecks} }

// tokenManager is the built-in TokenSource.
type tokenManager struct{ *token.Manager }

// Token implements TokenSource.
func (m *tokenManager) Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	current, err := m.Manager.Token(ctx, rejected)
	return current, mapClosed(err)
}

// Spare returns a token other than suspect.
func (m *tokenManager) Spare(ctx context.Context, suspect *oauth2.Token) (*oauth2.Token, error) {
	spare, err := m.Manager.Spare(ctx, suspect)
	return spare, mapClosed(err)
}

// mapClosed maps token.ErrClosed to ErrClosed.
func mapClosed(err error) error {
	if errors.Is(err, token.ErrClosed) {
		return ErrClosed
	}
	return err
}

// NewTransport returns a transport with the client's default settings. Change it, for example to add a client certificate, a
// proxy or your own certificate authority, and set it as [Config.Transport]. A plain &http.Transport{} keeps only 2 idle
// connections to the service and has no timeout for any step.
//
// The transport keeps up to 128 idle connections per host and 256 in total, each for 90 s. The dial timeout is 10 s, with
// keep-alives every 30 s; the TLS handshake timeout is 10 s, with TLS 1.2 or later. It uses HTTP/2 if the service offers it,
// accepts response headers of up to 1 MiB and takes proxies from the environment. There is no ResponseHeaderTimeout:
// [Config.AttemptTimeout] is that limit. [Client.Close] does not close your transport: call CloseIdleConnections when all
// clients that use it are closed.
//
// A [Client] reuses connections for reads and transfers. Token requests, operations that are never repeated, operations
// without a response body and polls of a report each open a new connection, over HTTP/1.1. The exception is the first token
// request: if the service offers HTTP/2, the calls that follow use its connection, so that the first call of a process makes one
// TLS handshake and not two.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    128, // the default, 2, would open and close connections all the time
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// NotSent reports whether err, the error of a RoundTripper, means that the request never left: every leaf of its tree has
// a method NotSent() bool that returns true, and no error above a leaf has one that returns false. A transport that
// tried two paths must be certain of both. A [Client] applies this rule to a [Config].Transport that is not an
// [*http.Transport]. For the error of a call use [OutcomeOf].
func NotSent(err error) bool { return exchange.NotSent(err) }

// Wrappable returns t in a form that your own RoundTripper can wrap, for example to trace, sign or record:
//
//	config.Transport = otelhttp.NewTransport(prepaid.Wrappable(prepaid.NewTransport()))
//
// A wrapper hides from the [Client] whether an [*http.Transport] sent the request. Wrappable preserves this: [NotSent] is
// true for the error of a request for which t asked for a connection and never got one. As without the wrapper, such a call
// is not processed, and the client repeats it. A request with Close set opens its own connection, over HTTP/1.1 unless t
// supports only HTTP/2. The wrapper must return errors unchanged or wrapped, and must not clear Close. If t is nil,
// [NewTransport] is used.
func Wrappable(t *http.Transport) http.RoundTripper {
	if t == nil {
		t = NewTransport()
	}
	return exchange.Wrappable(t)
}

// DropUnsolicited returns a writer for the standard logger. It drops the lines in which net/http prints data that followed a
// complete response, and writes all others to next:
//
//	log.SetOutput(prepaid.DropUnsolicited(log.Writer()))
//
// If a service counts Content-Length in characters, or sends a body with a 204, net/http logs the excess bytes (a name, a
// card number) through package log if the connection was kept. No setting of net/http prevents this. A [Client] prevents it
// only for requests that open their own connection, see [NewTransport]. Call DropUnsolicited after slog.SetDefault, which
// also sets the output.
func DropUnsolicited(next io.Writer) io.Writer { return unsolicitedDropper{next} }

type unsolicitedDropper struct{ next io.Writer }

// Write handles one record: package log calls it once per record.
func (d unsolicitedDropper) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Unsolicited response received on idle HTTP channel")) {
		return len(line), nil
	}
	return d.next.Write(line)
}
