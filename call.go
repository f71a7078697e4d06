package prepaid

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/address"
	"github.com/cardprograms/prepaid/internal/exchange"
)

// call is one operation in progress.
type call struct {
	retries
	began time.Time
}

// buffers hold response bodies while they are decoded. A body never outlives its call.
var buffers = sync.Pool{New: func() any { return new(exchange.Buffer) }}

// calls are reused. What may outlive a call (transport hooks, a streamed body) refers to the attempt's Exchange, never to the
// attempt or the call.
var calls = sync.Pool{New: func() any { return new(call) }}

// do runs a request as DESIGN.md describes in "Follow one call": validate, encode once, attempt loop, decode. Every error that
// it returns is a *CallError.
func (c *core) do(ctx context.Context, r *request, decode func(*response) error) error {
	k := calls.Get().(*call)
	k.request = *r // the rest is zero
	k.core, k.lane, k.began, k.observer = c, r.op.lane, time.Now(), c.observer.of(ctx)
	k.effect = effect{outcome: OutcomeNotProcessed, notBefore: r.notBefore}
	switch {
	case r.op.class == classToken:
	case r.bulk:
		k.lane = LaneBulk
	case c.lane != nil:
		k.lane = *c.lane
	}
	ctx = k.observer.callStart(ctx, r.op.Operation)
	err := k.run(ctx, decode)
	if c.family.closed.Load() { // closed meanwhile: the transport has kept connections since then
		c.sender.CloseIdle()
	}
	k.observe(ctx, err)
	*k = call{}
	calls.Put(k)
	return err
}

func (c *call) run(ctx context.Context, decode func(*response) error) error {
	if len(c.faults) > 0 {
		return c.fail(OutcomeRejected, &ValidationError{Faults: c.faults})
	}
	if err := c.core.ended(ctx); err != nil {
		return c.fail(OutcomeNotProcessed, err)
	}
	var err error
	if c.content, err = c.encodeBody(); err != nil {
		return c.fail(OutcomeRejected, err)
	}
	c.url = address.Resolve(c.core.base, cmp.Or(c.expanded, c.op.Path), c.path, c.query)
	c.buffer = buffers.Get().(*exchange.Buffer)
	defer func() {
		if c.buffer.Cap() <= exchange.MostKept {
			buffers.Put(c.buffer)
		}
	}()
	c.loop(ctx)
	return c.conclude(ctx, decode)
}

// observe reports the end of the call to traces and log.
func (c *call) observe(ctx context.Context, err error) {
	status := 0
	if c.last != nil {
		status = c.last.status
	}
	c.observer.callDone(ctx, c.op.Operation, c.began, c.sent.attempts, status, err)
}

func (c *call) encodeBody() ([]byte, error) {
	switch {
	case c.form != "":
		return []byte(c.form), nil
	case c.encoded != nil:
		return c.encoded, nil
	case c.body != nil:
		return encode(c.body)
	}
	return nil, nil
}

// conclude turns the end of the loop into a result or an error.
func (c *call) conclude(ctx context.Context, decode func(*response) error) error {
	a := c.last
	if a.succeeded(&c.op) {
		err := error(nil)
		if a.oversize {
			err = a.undecodable(exchange.ErrTooLarge)
		} else {
			err = decode(&a.response)
		}
		c.capture(ctx)
		if err == nil {
			return nil
		}
		return c.fail(c.outcomeOfResponse(a, err), err)
	}
	c.capture(ctx)
	err := a.cause()
	if before := c.before(); !a.sent && before != nil && c.effect.unknown == nil {
		err = &bothCauses{last: err, earlier: before.cause()} // the last response stays readable
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
	case c.op.class == classRead && !a.fromService():
		return OutcomeNotProcessed
	case c.op.class == classKeyed, c.op.class == classReplayable,
		c.op.class == classNever && (c.op.modelsFailure || !a.declared(c.op.kind)):
		return OutcomeUnknown
	}
	return OutcomeApplied
}

// fail returns the CallError. Once an attempt of this call, or of an earlier one with its request ID, may have been applied,
// the outcome stays unknown until a success or a refusal settles it.
func (c *call) fail(outcome Outcome, err error) error {
	if c.moved {
		outcome = OutcomeApplied
	}
	earlier := c.effect.unknown
	if earlier == nil && !c.effect.notBefore.IsZero() {
		earlier = errEarlierCall
	}
	if earlier != nil && outcome != OutcomeApplied && !c.core.repeats.provesNotApplied(outcome, err, c.sent.last, c.effect.notBefore) {
		outcome = OutcomeUnknown
		if !errors.Is(err, earlier) {
			err = &bothCauses{last: err, earlier: earlier, unknown: true}
		}
	}
	failure := &CallError{
		Operation:     c.op.Name,
		Outcome:       outcome,
		AccountID:     c.account,
		RequestID:     c.requestID,
		CorrelationID: c.correlationID,
		Attempts:      c.sent.attempts,
		FirstSent:     c.sent.first,
		LastSent:      c.sent.last,
		Err:           err,
		rule:          c.core.repeats,
	}
	if outcome == OutcomeUnknown && c.op.class == classKeyed {
		if failure.LastSent.IsZero() {
			failure.LastSent = c.lastSent
		}
		failure.NotBefore = c.effect.notBefore
		if last := c.core.repeats.notBefore(c.sent.last); last.After(failure.NotBefore) {
			failure.NotBefore = last
		}
	}
	if failed, ok := errors.AsType[*TransferFailedError](err); ok {
		failure.CorrelationID = failed.CorrelationID
	}
	return failure
}

// capture stores the last response in the Capture of the context, if any.
func (c *call) capture(ctx context.Context) {
	seen := captureOf(ctx)
	if seen == nil || c.last.status == 0 || c.op.class == classToken {
		return
	}
	seen.last.Store(&Response{
		Operation:  c.op.Name,
		StatusCode: c.last.status,
		Header:     c.last.header.Clone(),
		Body:       bytes.Clone(c.last.body),
		Attempts:   c.sent.attempts,
		Duration:   time.Since(c.began),
	})
}
