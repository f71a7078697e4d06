package prepaid

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/pause"
)

// repeatRule decides when a request may be sent again with its request ID, and which refusal of the repeat resolves the unknown outcome of
// the first request. A client's rule follows its [Config]; for an error that no client returned, the default Config applies.
type repeatRule struct {
	wait    time.Duration // after a request of this client
	longest *atomic.Int64 // wait after a request of any client that shares its request IDs; if nil, wait applies
	codes   []ErrorCode   // of refusals that resolve, in addition to CodeInvalidRequest
	own     string        // media type of the service's responses; empty if the vendor is unknown
	alive   *liveness.Tracker
}

// share makes r a rule of a family of clients.
func (r *repeatRule) share(longest *atomic.Int64) {
	r.longest = longest
	for now := longest.Load(); now < int64(r.wait) && !longest.CompareAndSwap(now, int64(r.wait)); {
		now = longest.Load()
	}
}

func (c Config) repeatRule() *repeatRule {
	whole := c.withDefaults()
	wait := whole.AttemptTimeout + whole.Retry.InFlightWait
	if wait < 0 { // overflow: neither is negative
		wait = math.MaxInt64
	}
	r := &repeatRule{wait: wait, codes: whole.RefusalCodes}
	if c.Vendor != "" {
		r.own = strings.ToLower(vendorType(c.Vendor))
	}
	return r
}

func vendorType(vendor string) string { return "application/vnd." + vendor + "+json" }

// errEarlierCall is the cause of an unknown outcome that a call inherits from an earlier one.
var errEarlierCall = errors.New("an earlier call with unknown outcome")

// after returns the request of unknown outcome that this client sent between first and last; zero if last is zero.
func (r *repeatRule) after(first, last time.Time) liveness.Request {
	if last.IsZero() {
		return liveness.Request{}
	}
	return liveness.Request{First: first, Last: last, NotBefore: last.Add(r.wait)}
}

// afterAny is after for a request that any client of the family may have sent.
func (r *repeatRule) afterAny(first, last time.Time) liveness.Request {
	if r.longest == nil {
		return r.after(first, last)
	}
	return (&repeatRule{wait: time.Duration(r.longest.Load())}).after(first, last)
}

// provesNotApplied reports whether the refusal of a request proves that an earlier request, which may have been in progress until
// notBefore, moved no money. sent is when the refused request was sent. A zero notBefore means unknown.
func (r *repeatRule) provesNotApplied(outcome Outcome, refusal error, sent, notBefore time.Time) bool {
	if outcome != OutcomeRejected || notBefore.IsZero() || sent.Before(notBefore) {
		return false
	}
	if errors.Is(refusal, ErrTransferFailed) {
		return true
	}
	response, ok := errors.AsType[*APIError](refusal)
	return ok && response.StatusCode == http.StatusBadRequest &&
		(response.Code == CodeInvalidRequest || slices.Contains(r.codes, response.Code)) &&
		r.isOwn(exchange.MediaType(response.Header))
}

// isOwn reports whether only the service sends a media type. Gateways send their own errors as application/json or
// application/vnd.error+json.
func (r *repeatRule) isOwn(mediaType string) bool {
	if r.own == "" {
		return strings.HasPrefix(mediaType, "application/vnd.")
	}
	return mediaType == r.own
}

// provesLife reports whether a response shows that the network and the service work. A response with an Age comes from a cache.
func (c *core) provesLife(a *attempt) bool {
	return a.status >= http.StatusOK && a.status < http.StatusInternalServerError && a.status != http.StatusTooManyRequests &&
		c.repeats.isOwn(a.mediaType) && len(a.received.Header["Age"]) == 0
}

// awaitRepeat waits until a movement of source may be repeated after a request of unknown outcome. See [AccountsService.AwaitRepeat].
func (c *core) awaitRepeat(ctx context.Context, source AccountID, unknown liveness.Request) error {
	return pause.Aside(ctx, func(ctx context.Context) error {
		return c.alive.Await(ctx, unknown, 2*min(c.repeats.wait, math.MaxInt64/2), c.reader(source))
	})
}

// watch is called while an attempt to move money from source has no response for a third of its time. It makes sure that a
// repeat need not wait for the first of its two responses.
func (c *core) watch(ctx context.Context, source string, since time.Time) {
	defer func() { _ = recover() }() // of the caller's limiter or token source: the attempt goes on
	c.alive.Sign(untraced{ctx}, since, c.config.AttemptTimeout, c.reader(AccountID(source)))
}

// untraced hides the caller's [httptrace.ClientTrace], which expects one request at a time.
type untraced struct{ context.Context } //nolint:containedctx // it is a context

func (c untraced) Value(key any) any {
	value := c.Context.Value(key)
	if _, ok := value.(*httptrace.ClientTrace); ok {
		return nil
	}
	return value
}

// reader reads the summary of an account; no cache on the way may respond. Each read has a connection of its own: a kept one may
// be dead.
func (c *core) reader(source AccountID) liveness.Reader {
	return liveness.Reader{Subject: string(source), Read: func(ctx context.Context) (final bool, err error) {
		r := request{op: c.summary, account: source, path: pathValues{string(source)}, header: noCache, once: true, fresh: true}
		if err = c.do(ctx, &r, func(*response) error { return nil }); errors.Is(err, ErrClosed) {
			return true, ErrClosed
		}
		if call, ok := errors.AsType[*CallError](err); ok {
			err = call.Err
		}
		if response, ok := errors.AsType[*APIError](err); ok && c.repeats.isOwn(exchange.MediaType(response.Header)) {
			err = &liveness.RefusedError{Err: err}
		}
		return false, err
	}}
}

var noCache = http.Header{"Cache-Control": {"no-cache"}}

// settledBy is provesNotApplied for an error that was returned to a caller, after a request that another client may have sent.
func (r *repeatRule) settledBy(refusal *CallError, lastSent time.Time) bool {
	earlier := r.afterAny(lastSent, lastSent)
	if refusal.rule != nil && refusal.admitted.Before(earlier.NotBefore) && !r.alive.Admitted(earlier, refusal.LastSent) {
		return false // the first may still have been in flight
	}
	return r.provesNotApplied(refusal.Outcome, refusal.Err, refusal.LastSent, earlier.NotBefore)
}

// ProvesNotApplied reports whether err, the result of sending a payment again with the same request ID and params, proves that no earlier
// request moved the money. lastSent is [CallError].LastSent of the earlier call; if it is zero, the result is false. The conditions:
//
//   - The refused request (LastSent of err) was sent no earlier than NotBefore of lastSent, and after the wait of
//     [AccountsService.AwaitRepeat].
//   - The refusal is a failed transfer ([ErrTransferFailed]), or a 400 of type application/vnd.<vendor>+json in the service's own form,
//     with the code invalid_request or one of [Config].RefusalCodes.
//
// For an error of a [Client], its Config applies, with the longest wait of its derived clients. For other errors, the defaults and
// NotBefore alone apply. A client applies this to its own calls and, if the params have LastSent, to those of other processes.
func ProvesNotApplied(err error, lastSent time.Time) bool {
	call, ok := errors.AsType[*CallError](err)
	if !ok || call == nil {
		return false
	}
	rule := call.rule
	if rule == nil {
		rule = Config{}.repeatRule()
	}
	return rule.settledBy(call, lastSent)
}
