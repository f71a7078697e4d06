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

// version is the SDK's own, in the User-Agent.
const version = "0.1.0"

// core is what the calls of a client share: its settings, the way to the service, and what is known of earlier calls. It
// does not know the services. NewClient writes it, and apart from closed and authorization it does not change.
type core struct {
	config   Config
	base     *url.URL // without a trailing slash
	sender   *exchange.Sender
	limiter  Limiter
	tokens   TokenSource
	manager  *tokenManager // tokens, when built in
	observer observer
	closed   atomic.Bool
	turns    *turns.Guard // of keyed calls
	repeats  *repeatRule

	mediaType   string
	accept      []string
	acceptText  []string
	contentType []string
	userAgent   []string

	authorization atomic.Pointer[bearerHeader] // of the last token sent
}

// begin fills in all but the tokens. config has its defaults, and base is its address.
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

// ended is why nothing may be sent any more.
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

// bearer makes the header of a token once for all calls that send it.
func (c *core) bearer(access string) []string {
	header := c.authorization.Load()
	if header == nil || header.token != access {
		header = &bearerHeader{token: access, value: []string{"Bearer " + access}}
		c.authorization.Store(header)
	}
	return header.value
}

// validator returns the validator of a request whose values are checked only if the caller wants it.
func (c *core) validator() validator { return validator{lax: c.config.SkipValueChecks} }

// tokenManager is the built-in TokenSource.
type tokenManager struct{ *token.Manager }

// Token implements TokenSource.
func (m *tokenManager) Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	current, err := m.Manager.Token(ctx, rejected)
	return current, closedAbove(err)
}

// Spare returns a token other than suspect.
func (m *tokenManager) Spare(ctx context.Context, suspect *oauth2.Token) (*oauth2.Token, error) {
	spare, err := m.Manager.Spare(ctx, suspect)
	return spare, closedAbove(err)
}

// closedAbove returns the client's own error for that of a closed manager.
func closedAbove(err error) error {
	if errors.Is(err, token.ErrClosed) {
		return ErrClosed
	}
	return err
}

// NewTransport returns a new transport like the client's own, to change before it becomes [Config.Transport]: a client
// certificate, a proxy, an authority of your own. An &http.Transport{} in its place keeps only 2 idle connections to the
// service and has no limit on any step.
//
// It keeps up to 128 idle connections to a host and 256 in all, each for 90 s; dials within 10 s, with keep-alives every
// 30 s; shakes hands within 10 s, with TLS 1.2 or later; uses HTTP/2 where the service offers it; takes headers of up to
// 1 MiB and proxies from the environment. There is no ResponseHeaderTimeout: [Config.AttemptTimeout] is that limit.
// [Client.Close] leaves a transport of yours alone: call CloseIdleConnections when all that use it are closed.
//
// A [Client] uses kept connections for reads and transfers. Requests for a token, operations that are never repeated,
// operations without a response body and polls of a report open a connection each, over HTTP/1.1.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    128, // net/http keeps two, and churns through connections beyond that
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// NotSent reports whether err, the error of a RoundTripper, says that the request never left: every leaf of its tree has
// a method NotSent() bool that returns true, and no error above a leaf has one that returns false. So a transport that
// tried two paths has to be certain of both. A [Client] applies this rule to a [Config].Transport that is not an
// [*http.Transport]. For the error of a call use [OutcomeOf].
func NotSent(err error) bool { return exchange.NotSent(err) }

// Wrappable returns t in a form that your own RoundTripper can wrap, for example to trace, sign or record:
//
//	config.Transport = otelhttp.NewTransport(prepaid.Wrappable(prepaid.NewTransport()))
//
// A wrapper hides from the [Client] what it knows of an [*http.Transport]. Wrappable keeps it: [NotSent] is true for an
// error after which t asked for a connection and never got one, and such calls are not processed and are repeated, as
// without the wrapper. A request with Close set opens its own connection, over HTTP/1.1 unless t speaks HTTP/2 only. The
// wrapper must return errors unchanged or wrapped, and must not clear Close. A nil t is that of [NewTransport].
func Wrappable(t *http.Transport) http.RoundTripper {
	if t == nil {
		t = NewTransport()
	}
	return exchange.Wrappable(t)
}

// DropUnsolicited returns a writer for the standard logger that leaves out the lines in which net/http prints what followed
// a complete response, and passes on all others to next:
//
//	log.SetOutput(prepaid.DropUnsolicited(log.Writer()))
//
// When a service counts a Content-Length in characters, or sends a body with a 204, net/http prints the rest of it (a
// name, a card number) through package log if the connection was kept. No setting of net/http prevents that. A [Client]
// prevents it only for requests that open their own connection, see [NewTransport]. Call DropUnsolicited after
// slog.SetDefault, which sets the output too.
func DropUnsolicited(next io.Writer) io.Writer { return unsolicitedDropper{next} }

type unsolicitedDropper struct{ next io.Writer }

// Write takes one record, as log calls it.
func (d unsolicitedDropper) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Unsolicited response received on idle HTTP channel")) {
		return len(line), nil
	}
	return d.next.Write(line)
}
