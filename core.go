package prepaid

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

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
