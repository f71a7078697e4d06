package prepaid

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/address"
	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/wire"
	"github.com/cardprograms/prepaid/ratelimit"
)

// call is one operation in progress. do sets the first group of fields. The others change with each attempt and never outlive the call.
type call struct {
	request  request
	core     *core
	observer observer
	lane     ratelimit.Lane
	began    time.Time
	url      url.URL
	buffer   *exchange.Buffer

	first   attempt       // most calls make no other
	token   *oauth2.Token // of the last attempt
	status  int           // of the last attempt; 0 without a response
	sent    sentRecord
	outcome Outcome // of the last attempt
	unknown error   // the cause of the first attempt that may have been applied
	bounds  bounds
	next    nextAttempt
}

// buffers hold response bodies while they are decoded. A body never outlives its call.
var buffers = sync.Pool{New: func() any { return new(exchange.Buffer) }}

// calls are reused. Whatever may outlive a call (transport hooks, a streamed body) refers to the attempt's Exchange, never to the
// attempt or the call.
var calls = sync.Pool{New: func() any { return new(call) }}

// do runs a request as DESIGN.md describes in "Follow one call": make attempts, decode. Every error that it returns is a *CallError.
func (c *core) do(ctx context.Context, r *request, decode func(*response) error) error {
	k := calls.Get().(*call)
	k.request = *r // the other groups are zero
	k.core, k.lane, k.began, k.observer = c, r.op.lane, time.Now(), c.observer.of(ctx, r)
	k.next.unknown, k.next.fresh = r.unknown, r.fresh
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
	k.observer.resolves = !k.next.unknown.IsZero()
	k.observer.callDone(ctx, k.began, k.sent.count, k.status, err)
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
	if c.request.unencodable != nil {
		return c.fail(OutcomeRejected, c.request.unencodable)
	}
	c.url = address.Resolve(c.core.base, cmp.Or(c.request.expanded, c.request.op.Path), c.request.path, c.request.query)
	c.buffer = buffers.Get().(*exchange.Buffer)
	defer func() {
		if c.buffer.Cap() <= exchange.MostKept {
			buffers.Put(c.buffer)
		}
	}()
	last, previous := c.attempts(ctx)
	if c.status = last.status; c.observer.traces != nil && last.complete && c.request.op.class != classToken && !c.request.once {
		c.observer.response(ctx, last)
	}
	if last.err != nil {
		return c.fail(c.outcome, c.causes(ctx, last, previous))
	}
	if err := c.accept(last, decode); err != nil {
		return c.fail(c.request.op.judge(last.evidence(c.request.op.kind, err)).outcome, err)
	}
	return nil
}

// accept decodes the body of a success, unless the body proves nothing.
func (c *call) accept(a *attempt, decode func(*response) error) error {
	op := &c.request.op
	switch {
	case a.oversize:
		return a.undecodable(exchange.ErrTooLarge)
	case op.movesMoney() && !op.bodyAfter204 && !a.declared(op.kind): // bodyAfter204: the caller of a raw call judges the body
		return a.undecodable(errUnexpectedBody)
	case op.movesMoney() && wire.Repeats(a.body, "transaction_id", "outcome", "success"):
		return a.undecodable(errRepeatedMember)
	}
	return decode(&a.response)
}

// causes returns the error of the last attempt, together with the response to the one before, and with the error of an ended context.
func (c *call) causes(ctx context.Context, last, previous *attempt) error {
	err := last.err
	if !last.sent && previous != nil && previous.sent && c.unknown == nil {
		err = &bothCauses{last: err, earlier: previous.err}
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = &bothCauses{last: ended, earlier: err}
	}
	return err
}

// fail returns the CallError of a call whose last attempt had this outcome and error.
func (c *call) fail(last Outcome, err error) error {
	earlier := c.unknown
	if earlier == nil && !c.next.unknown.IsZero() {
		earlier = errEarlierCall
	}
	before := history{applied: c.request.moved, unknown: earlier != nil}
	before.refuted = before.unknown && c.core.repeats.provesNotApplied(last, err, c.sent.last, c.next.unknown.NotBefore)
	outcome := before.conclude(last)
	if before.unknown && outcome == OutcomeUnknown && !errors.Is(err, earlier) {
		err = &bothCauses{last: err, earlier: earlier, unknown: true}
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
