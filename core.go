package prepaid

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/idlock"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/slots"
	"github.com/cardprograms/prepaid/internal/token"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/transport"
)

// version is the SDK's version in the User-Agent.
const version = "0.1.0"

// family is shared by a client and its derived clients: credentials, allowance, connections and the memory of request
// IDs. NewClient sets it; only closed, longest and authorization change later.
type family struct {
	base    *url.URL // without a trailing slash
	sender  *exchange.Sender
	limiter ratelimit.Limiter
	// tokenLane is above all lanes in the client's own limiter, and Money in any other.
	tokenLane ratelimit.Lane
	tokens    func(context.Context, *oauth2.Token) (*oauth2.Token, error)
	manager   *token.Manager // provides tokens; nil with Config.Token
	locks     *idlock.Guard  // for keyed calls
	alive     *liveness.Tracker
	summary   operation    // the operation with which alive asks for a response
	longest   atomic.Int64 // see repeatRule
	closed    atomic.Bool

	own         []string // media types of the service's responses, its vendor's first
	accept      []string
	acceptText  []string
	contentType []string
	userAgent   []string

	authorization atomic.Pointer[bearerHeader] // for the last token sent
}

// core is shared by the calls of a client: its family, and settings that a derived client can override. It is
// independent of the services. NewClient and Client.With set it; only left changes later.
type core struct {
	*family
	config   Config
	observer observer
	repeats  *repeatRule
	lane     ratelimit.Lane                                            // of all calls; 0: the lane of each operation
	watcher  func(ctx context.Context, source string, since time.Time) // its method watch
	derived  bool                                                      // by Client.With
	left     atomic.Bool                                               // closed by its own Close
}

// begin starts a family. The caller adds the token manager. config has its defaults; base is its parsed address.
func (c *core) begin(config Config, base *url.URL) {
	f := &family{base: base, limiter: config.Limiter, tokenLane: ratelimit.Money, tokens: config.Token}
	f.alive = liveness.New(config.AttemptTimeout, config.Retry.InFlightWait)
	mediaType := vendorType(config.Vendor)
	f.own = append([]string{strings.ToLower(mediaType), "application/json"}, config.MediaTypes...)
	f.accept, f.contentType = []string{mediaType}, []string{mediaType}
	f.acceptText = []string{"application/octet-stream, " + mediaType}
	f.userAgent = []string{strings.TrimSpace("prepaid-go/" + version + " " + config.UserAgent)}
	if base.Scheme == "http" && !isLoopback(base.Hostname()) {
		config.Logger.LogAttrs(context.Background(), slog.LevelWarn, "prepaid: the address is http: client secret, tokens and data travel in clear")
	}
	f.sender = exchange.NewSender(config.Transport, transport.New)
	if f.limiter == nil {
		f.tokenLane = slots.Token
		f.limiter = newLimiter(config.RateShare, config.Retry.MaxRetryAfter, config.Retry.MaxWait)
	}
	c.join(f, config)
	f.locks = idlock.New(func() liveness.Request {
		now := time.Now()
		return c.repeats.afterAny(now, now)
	})
}

// join sets everything that config decides for this client alone.
func (c *core) join(f *family, config Config) {
	c.family, c.config = f, config
	c.observer = observer{log: config.Logger, traces: config.Trace.flat()}
	c.repeats, c.watcher = config.repeatRule(), c.watch
	c.repeats.share(&f.longest)
	c.repeats.alive = f.alive
}

// ended returns why nothing may be sent any more, or nil. ErrClosed, of this client or the client that it derives from, comes
// before the error of ctx. The deadline is compared with the clock: in a process that was frozen, the timer of ctx may not have
// fired yet.
func (c *core) ended(ctx context.Context) error {
	if c.family.closed.Load() || c.left.Load() {
		return ErrClosed
	}
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil && time.Until(deadline) <= 0 {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// bearerHeader is the header of requests with a token.
type bearerHeader struct {
	token  string
	header http.Header
}

// bearer returns a copy of the header of requests with a token. The header is built once per token.
func (c *core) bearer(access string) http.Header {
	last := c.authorization.Load()
	if last == nil || last.token != access {
		last = &bearerHeader{token: access, header: c.header("Bearer " + access)}
		c.authorization.Store(last)
	}
	return maps.Clone(last.header)
}

func (c *core) header(authorization string) http.Header {
	return http.Header{"User-Agent": c.userAgent, "Accept": c.accept, "Authorization": {authorization}}
}

// validator returns a validator that honours Config.SkipValueChecks.
func (c *core) validator() validator { return validator{lax: c.config.SkipValueChecks} }
