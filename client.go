package prepaid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/ratelimit"
)

// Client calls the service. It is immutable and safe for concurrent use: create one per process with [NewClient]. The zero value is not
// usable.
type Client struct {
	Accounts   *AccountsService   // manages card accounts, their transfers and wallets
	Policy     *PolicyService     // manages the restriction policy of a program
	Reporting  *ReportingService  // runs reports from templates
	Funding    *FundingService    // posts redemptions, reversals and refunds
	Simulation *SimulationService // simulates card activity in the test environment
	PIN        *PINService        // changes PINs
	Hooks      *HooksService      // manages webhooks

	core
}

// NewClient returns a client for config. It does no I/O. If config is invalid, the error is a *[ValidationError] that lists all faults.
func NewClient(config Config) (*Client, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	base, err := url.Parse(strings.TrimSuffix(config.BaseURL, "/"))
	if err != nil {
		return nil, err
	}
	c := new(Client)
	c.core.begin(config, base)
	c.summary = opAccountsSummary
	if c.tokens == nil {
		c.manager = c.newTokenManager()
		c.tokens = c.manager.Token
	}
	return c.serve(), nil
}

// serve sets the services.
func (c *Client) serve() *Client {
	c.Accounts = &AccountsService{client: c}
	c.Policy = &PolicyService{client: c}
	c.Reporting = &ReportingService{client: c}
	c.Funding = &FundingService{client: c}
	c.Simulation = &SimulationService{client: c}
	c.PIN = &PINService{client: c}
	c.Hooks = &HooksService{client: c}
	return c
}

// Overrides are the settings of a client derived by [Client.With]. A field that is zero, also within Retry, is inherited.
type Overrides struct {
	Retry RetryPolicy // bounds the attempts of one call; InFlightWait and TokenHold must be zero or those of the client
	// AttemptTimeout limits one attempt. If it is longer than the client's, the pause before a transfer is sent again is longer too. If it is
	// shorter, that pause stays: the service needs as much time as before. The client that sent the transfer sets the pause.
	AttemptTimeout time.Duration
	Logger         *slog.Logger // replaces the log; for no log, use slog.New(slog.DiscardHandler)
	// Trace replaces the trace. For no trace, use &Trace{}; to add one, [Trace.Join]. Its TokenRenewed is not called: only the client that
	// NewClient returned reports tokens.
	Trace *Trace
	// Lane is the limiter's queue for all calls, instead of the queue of each operation: in [ratelimit.Bulk], a nightly job gives way to calls
	// for users. Prefetched pages and report polls are always in Bulk.
	Lane ratelimit.Lane
}

// With returns a client with the settings of c except for those in o. Both clients share tokens, limiter, connections and the memory of
// request IDs: calls with the same request ID wait for each other, as in one client. Derive clients at startup, not per call. For closing,
// see [Client.Close]. The error is a *[ValidationError] that lists all faults. With does no I/O.
func (c *Client) With(o Overrides) (*Client, error) {
	config := c.config
	config.AttemptTimeout = cmp.Or(o.AttemptTimeout, config.AttemptTimeout)
	config.Logger, config.Trace = cmp.Or(o.Logger, config.Logger), cmp.Or(o.Trace, config.Trace)
	config.Retry = o.Retry.or(config.Retry)
	v := validator{}
	config.check(&v)
	for _, shared := range []struct {
		field       string
		value, only time.Duration
	}{
		{"retry.in_flight_wait", config.Retry.InFlightWait, c.config.Retry.InFlightWait},
		{"retry.token_hold", config.Retry.TokenHold, c.config.Retry.TokenHold},
	} {
		if shared.value != shared.only {
			v.fault(shared.field, "must be that of the client: set it in its Config")
		}
	}
	if o.Lane < 0 || o.Lane > ratelimit.Bulk {
		v.fault("lane", "must be ratelimit.Money, Call or Bulk")
	}
	if len(v.faults) > 0 {
		return nil, &ValidationError{Faults: v.faults}
	}
	other := new(Client)
	other.derived, other.lane = true, cmp.Or(o.Lane, c.lane)
	other.join(c.family, config)
	other.repeats.wait = max(other.repeats.wait, c.repeats.wait) // no derived client shortens the wait of a transfer
	return other.serve(), nil
}

func (c *Client) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.LogValue().String())) }

func (c *Client) LogValue() slog.Value {
	address := ""
	if c.family != nil {
		address = c.base.Redacted()
	}
	return slog.StringValue("prepaid.Client{" + address + "}")
}

// Close cancels a token renewal in progress and closes idle connections; other connections are closed when their calls end. Later calls
// fail with [ErrClosed]. A call that waits before a retry fails after the wait: cancel its context to end it at once. Close can be
// repeated. An idle Client leaks no goroutine if it is not closed. Clients derived by [Client.With] are closed with it. Close of a derived
// client only makes its later calls fail.
func (c *Client) Close() error {
	if c.derived {
		c.left.Store(true)
		return nil
	}
	if !c.closed.CompareAndSwap(false, true) {
		return nil
	}
	if c.manager != nil {
		c.manager.Close()
	}
	c.alive.Close()
	c.sender.CloseIdle()
	return nil
}

// Token returns the access token that a call would use now. Treat it as a secret. Errors: *[TokenError]. Safety: repeated. API: POST
// /token.
func (c *Client) Token(ctx context.Context) (*oauth2.Token, error) {
	if err := c.ended(ctx); errors.Is(err, ErrClosed) { // a known token is returned even after ctx has ended
		return nil, &CallError{Operation: opToken.Name, Outcome: OutcomeNotProcessed, Err: err}
	}
	current, err := c.tokens(ctx, nil)
	if err == nil && current != nil && current.AccessToken != "" {
		return current, nil
	}
	if err == nil {
		err = errNoToken
	}
	if ended := ctx.Err(); ended != nil {
		err = ended
	} else if !errors.Is(err, ErrClosed) {
		err = tokenError(err)
	}
	return nil, &CallError{Operation: opToken.Name, Outcome: OutcomeNotProcessed, Err: err}
}

// CheckResult is the result of [Client.Check].
type CheckResult struct {
	TokenLifetime time.Duration // the remaining lifetime of the access token
	ClockSkew     time.Duration // the service's clock minus the local one, accurate to about a second; zero if the response had no Date header
	RoundTrip     time.Duration // the duration of the read, without the token request
	MediaType     string        // the Content-Type as received; a proxy may have changed it to application/json
	Warnings      []string      // lists promises about payments that the client cannot keep in this deployment, and why; they are also logged
}

// Check verifies a deployment without changing anything: address, TLS, credentials, address whitelist, media type and clock. Run it at
// startup or as a readiness probe. It obtains a token and reads one merchant category. Errors: *[TokenError] if the credentials or the
// token address are wrong, *[TransportError] if the service is unreachable, [ErrUnauthorized] or [ErrForbidden] if it refuses your
// address, *[DecodeError] if something else responds. Safety: read. API: POST /token, GET /policy/mccodes.
func (c *Client) Check(ctx context.Context) (*CheckResult, error) {
	current, err := c.Token(ctx)
	if err != nil {
		return nil, err
	}
	var last RawResponse
	began := time.Now()
	params := Paging{Page: 1, Size: 1}
	page, err := c.Policy.MerchantCategoryCodesPage(WithTrace(ctx, &Trace{Response: func(_ context.Context, _ Operation, r RawResponse) { last = r }}), params)
	if err != nil {
		return nil, err
	}
	result := &CheckResult{RoundTrip: time.Since(began), ClockSkew: page.skew, MediaType: last.Header.Get("Content-Type")}
	if !current.Expiry.IsZero() {
		result.TokenLifetime = time.Until(current.Expiry)
	}
	if c.sender.Hidden() {
		result.Warnings = append(result.Warnings, "the transport hides its TCP connections: the system may deliver an abandoned payment after its repeat, see Config.Transport")
	}
	mediaType := exchange.MediaType(last.Header)
	if mediaType != "" && !slices.Contains(c.own, mediaType) {
		result.Warnings = append(result.Warnings, "the media type of responses is not the service's: the outcome of every payment is unknown, see Config.MediaTypes")
	}
	if mediaType != "" && !c.repeats.isOwn(mediaType) {
		result.Warnings = append(result.Warnings, "something replaces the media type of responses: no payment of unknown outcome is sent again, see Accounts.AwaitRepeat")
	}
	for _, warning := range result.Warnings {
		c.config.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: "+warning)
	}
	return result, nil
}

// fetch makes a call whose response is one JSON value.
func fetch[T any](ctx context.Context, c *Client, r request) (*T, error) {
	result := new(T)
	if err := c.do(ctx, &r, func(a *response) error { return decodeJSON(a, result) }); err != nil {
		return nil, err
	}
	return result, nil
}

// receive makes a call whose response is read by decode.
func receive[T any](ctx context.Context, c *Client, r request, decode func(*response) (T, error)) (T, error) {
	var result, none T
	err := c.do(ctx, &r, func(a *response) (err error) {
		result, err = decode(a)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// send makes a call whose response has no body. A response with a body is not a success.
func send(ctx context.Context, c *Client, r request) error {
	return c.do(ctx, &r, func(*response) error { return nil })
}
