package prepaid

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/address"
	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/idlock"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/internal/slots"
	"github.com/cardprograms/prepaid/internal/token"
	"github.com/cardprograms/prepaid/internal/wire"
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

// call is one operation in progress. do sets the first group of fields. The others change with each attempt and never outlive the call.
type call struct {
	request  request
	core     *core
	observer observer
	lane     ratelimit.Lane
	began    time.Time
	url      url.URL
	content  []byte // the body of every attempt; nil for none
	buffer   *exchange.Buffer

	space [2]attempt // the last attempt and the one before
	last  *attempt
	made  int           // attempts begun, sent or not
	token *oauth2.Token // of the last attempt
	sent  sentRecord

	effect   effect
	progress progress
	next     nextAttempt
}

// buffers hold response bodies while they are decoded. A body never outlives its call.
var buffers = sync.Pool{New: func() any { return new(exchange.Buffer) }}

// calls are reused. Whatever may outlive a call (transport hooks, a streamed body) refers to the attempt's Exchange, never to the
// attempt or the call.
var calls = sync.Pool{New: func() any { return new(call) }}

// do runs a request as DESIGN.md describes in "Follow one call": validate, encode once, make attempts, decode. Every error that
// it returns is a *CallError.
func (c *core) do(ctx context.Context, r *request, decode func(*response) error) error {
	k := calls.Get().(*call)
	k.request = *r // the other groups are zero
	k.core, k.lane, k.began, k.observer = c, r.op.lane, time.Now(), c.observer.of(ctx, r)
	k.effect.outcome, k.next.unknown, k.next.fresh = OutcomeNotProcessed, r.unknown, r.fresh
	switch {
	case r.op.class == classToken:
		k.lane = c.tokenLane
	case r.bulk:
		k.lane = ratelimit.Bulk
	case c.lane != 0:
		k.lane = c.lane
	}
	if k.observer.traces != nil {
		ctx = k.observer.callStart(ctx)
	}
	err := k.run(ctx, decode)
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, cause) && !hasOurs(cause) {
		failure, _ := errors.AsType[*CallError](err)
		failure.Err = &endedError{failure.Err, cause}
	}
	if c.family.closed.Load() { // Close ran during this call: the transport may have kept a connection since
		c.sender.CloseIdle()
	}
	status := 0
	if k.last != nil {
		status = k.last.status
	}
	k.observer.resolves = !k.next.unknown.IsZero()
	k.observer.callDone(ctx, k.began, k.sent.count, status, err)
	*k = call{}
	calls.Put(k)
	return err
}

func (c *call) run(ctx context.Context, decode func(*response) error) error {
	if len(c.request.faults) > 0 {
		return c.fail(OutcomeRejected, &ValidationError{Faults: c.request.faults})
	}
	if err := c.core.ended(ctx); err != nil {
		return c.fail(OutcomeNotProcessed, err)
	}
	err := c.request.unencodable
	if c.content = c.request.encoded; c.request.body != nil {
		c.content, err = encodeBody(c.request.body, encodeOptions)
	}
	if err != nil {
		return c.fail(OutcomeRejected, err)
	}
	c.url = address.Resolve(c.core.base, cmp.Or(c.request.expanded, c.request.op.Path), c.request.path, c.request.query)
	c.buffer = buffers.Get().(*exchange.Buffer)
	defer func() {
		if c.buffer.Cap() <= exchange.MostKept {
			buffers.Put(c.buffer)
		}
	}()
	if c.try(ctx); c.decide(ctx) && pause.For(ctx, c.sleep()) == nil { // seldom
		c.repeat(ctx)
	}
	return c.conclude(ctx, decode)
}

// encodeBody returns the JSON of a request, with its further members.
func encodeBody(body any, options json.Options) ([]byte, error) {
	var w wire.Writer
	w.Body, w.Err = json.Marshal(body, options)
	if own := reflect.Indirect(reflect.ValueOf(body)); own.Kind() == reflect.Struct {
		if field, ok := own.Type().FieldByName("Extra"); ok && field.Type == reflect.TypeFor[ExtraMembers]() {
			if extra, err := own.FieldByIndexErr(field.Index); err == nil { // not in an embedded pointer that is nil
				w.Members(ExtraMembers(extra.String()).text())
			}
		}
	}
	return w.Body, w.Err
}

// conclude turns the last attempt into a result or an error.
func (c *call) conclude(ctx context.Context, decode func(*response) error) error {
	a := c.last
	if c.observer.traces != nil && a.status != 0 && a.err == nil && c.request.op.class != classToken && !c.request.once {
		c.observer.response(ctx, a)
	}
	if a.succeeded(&c.request.op) {
		err := error(nil)
		switch {
		case a.oversize:
			err = a.undecodable(exchange.ErrTooLarge)
		case c.request.op.movesMoney() && !c.request.op.bodyAfter204 && !a.declared(c.request.op.kind): // bodyAfter204: the caller of a raw call judges the body
			err = a.undecodable(errUnexpectedBody)
		case c.request.op.movesMoney() && wire.Repeats(a.body, "transaction_id", "outcome", "success"):
			err = a.undecodable(errRepeatedMember)
		default:
			err = decode(&a.response)
		}
		if err == nil {
			return nil
		}
		return c.fail(c.outcomeOfResponse(a, err), err)
	}
	err := a.cause()
	if before := c.before(); !a.sent && before != nil && c.effect.unknown == nil {
		err = &bothCauses{last: err, earlier: before.cause()} // the error contains the response of the attempt before this one, too
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = &bothCauses{last: ended, earlier: err}
	}
	return c.fail(c.effect.outcome, err)
}

// before returns the attempt before the last one if it may have reached the service, else nil.
func (c *call) before() *attempt {
	if c.made < 2 {
		return nil
	}
	if a := &c.space[(c.made-2)%len(c.space)]; a != c.last && a.sent {
		return a
	}
	return nil
}

// outcomeOfResponse returns the outcome of a response with a success status whose body the decoder refused.
func (c *call) outcomeOfResponse(a *attempt, err error) Outcome {
	switch {
	case errors.Is(err, ErrTransferFailed):
		return OutcomeRejected
	case errors.Is(err, ErrReportNotReady):
		return OutcomeNotProcessed
	case c.request.op.class == classRead && !a.fromService():
		return OutcomeNotProcessed
	case c.request.op.class == classKeyed, c.request.op.class == classRepeated,
		c.request.op.class == classNever && (c.request.op.modelsFailure || !a.declared(c.request.op.kind)):
		return OutcomeUnknown
	}
	return OutcomeApplied
}

// fail returns the CallError. Once an attempt of this call, or of an earlier one with its request ID, may have been applied,
// the outcome stays unknown until a success or a refusal resolves it.
func (c *call) fail(outcome Outcome, err error) error {
	if c.request.moved {
		outcome = OutcomeApplied
	}
	earlier := c.effect.unknown
	if earlier == nil && !c.next.unknown.IsZero() {
		earlier = errEarlierCall
	}
	if earlier != nil && outcome != OutcomeApplied && !c.core.repeats.provesNotApplied(outcome, err, c.sent.last, c.next.unknown.NotBefore) {
		outcome = OutcomeUnknown
		if !errors.Is(err, earlier) {
			err = &bothCauses{last: err, earlier: earlier, unknown: true}
		}
	}
	failure := &CallError{
		Operation:     c.request.op.Name,
		Outcome:       outcome,
		AccountID:     c.request.account,
		RequestID:     c.request.requestID,
		CorrelationID: c.request.correlationID,
		Attempts:      c.sent.count,
		FirstSent:     presently(c.sent.first),
		LastSent:      presently(c.sent.last),
		Err:           err,
		rule:          c.core.repeats,
		admitted:      c.sent.admitted,
	}
	if outcome == OutcomeUnknown && c.request.op.class == classKeyed {
		if failure.LastSent.IsZero() {
			failure.LastSent = cmp.Or(c.request.lastSent, presently(c.next.unknown.Last))
		}
		failure.unknown = c.next.unknown.Later(c.core.repeats.after(c.sent.latest, c.sent.last))
		failure.NotBefore = presently(failure.unknown.NotBefore)
	}
	if failed, ok := errors.AsType[*correlatedError](err); ok {
		failure.CorrelationID = failed.correlationID
	}
	return failure
}

// presently returns t by the present wall clock, which may have been set since: a store keeps nothing else of a time.
func presently(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	now := time.Now()
	return now.Add(t.Sub(now))
}
