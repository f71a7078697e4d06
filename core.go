package prepaid

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/cardprograms/prepaid/internal/turns"
)

// version is the SDK's own, in the User-Agent.
const version = "0.1.0"

// core is what the calls of a client share: its settings, the way to the service, and what is known of earlier calls. It
// does not know the services. NewClient writes it, and apart from closed and authorization it does not change.
type core struct {
	config    Config
	base      *url.URL // without a trailing slash
	transport http.RoundTripper
	fresh     http.RoundTripper
	netHTTP   bool              // they are net/http's
	http2Only bool              // ... and speak nothing else, with TLS or without
	owned     []*http.Transport // closed with the client
	limiter   Limiter
	tokens    TokenSource
	manager   *tokenManager // tokens, when built in
	log       *slog.Logger
	traces    []*Trace
	closed    atomic.Bool
	turns     *turns.Guard // of keyed calls
	repeats   *repeatRule

	mediaType   string
	accept      []string
	acceptText  []string
	contentType []string
	userAgent   []string

	authorization atomic.Pointer[bearerHeader] // of the last token sent
}

// begin fills in all but the tokens. config has its defaults, and base is its address.
func (c *core) begin(config Config, base *url.URL) {
	c.config, c.base, c.log, c.limiter, c.tokens = config, base, config.Logger, config.Limiter, config.TokenSource
	c.repeats = config.repeatRule()
	c.turns = turns.New(c.repeats.notBefore)
	c.traces = config.Trace.flat()
	wire := "application/vnd." + config.Vendor + "+json"
	c.mediaType = strings.ToLower(wire)
	c.accept, c.contentType = []string{wire}, []string{wire}
	c.acceptText = []string{"application/octet-stream, " + wire}
	c.userAgent = []string{strings.TrimSpace("prepaid-go/" + version + " " + config.UserAgent)}
	if base.Scheme == "http" && !isLoopback(base.Hostname()) {
		c.log.LogAttrs(context.Background(), slog.LevelWarn, "prepaid: the address is http: client secret, tokens and data travel in clear")
	}
	c.setTransport()
	if c.limiter == nil {
		c.limiter = newSlotLimiter(config.RateShare, config.Retry.MaxRetryAfter, config.Retry.MaxWait)
	}
}

func (c *core) setTransport() {
	own, isNetHTTP := c.config.Transport.(*http.Transport)
	switch {
	case c.config.Transport == nil || isNetHTTP && own == nil:
		own = NewTransport()
		c.owned = []*http.Transport{own}
	case !isNetHTTP:
		c.transport, c.fresh = c.config.Transport, freshConnection{next: c.config.Transport}
		return
	}
	c.transport, c.fresh, c.netHTTP, c.http2Only = own, freshOf(own), true, http2Only(own)
}

func (c *core) closeIdle() {
	for _, transport := range c.owned {
		transport.CloseIdleConnections()
	}
}
