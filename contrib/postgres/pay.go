package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

var (
	errStopping = errors.New("prepaidpg: Run ends")
	errLate     = errors.New("prepaidpg: too much of the lease was over")
	errPaused   = errors.New("prepaidpg: nothing can be sent at the moment")
	errRests    = errors.New("prepaidpg: an earlier request may still be in progress")
)

// pay sends payments until there are no more.
func (r *run) pay(ctx context.Context) {
	for c := range r.work {
		r.ended <- r.payOne(ctx, c) // while outcomes cannot be recorded, nothing more is sent
		r.held.Add(-1)
		wake(r.wake)
	}
}

// payOne sends a payment, unless something speaks against it.
func (r *run) payOne(ctx context.Context, c *claimed) *outcome {
	now := time.Now()
	going, err := c.entry.Begin(now, time.Time{})
	switch {
	case errors.Is(err, journal.ErrWindow):
		o := r.giveBack(c, c.entry, 0, err)
		o.after.Review, o.event = journal.ReviewTooOld, eventEnd
		return o
	case err != nil: // the claim takes no other
		return r.giveBack(c, c.entry, firstWait, err)
	case r.ends():
		return r.giveBack(c, going.GiveBack(), 0, errStopping)
	case c.late():
		r.ahead.Store(max(r.ahead.Load()/2, 1)) // fewer will wait
		return r.giveBack(c, going.GiveBack(), 0, errLate)
	}
	if rests := time.Until(c.entry.Earliest(r.sender, now, time.Time{})); rests > 0 {
		return r.giveBack(c, going.GiveBack(), rests, errRests)
	}
	if pause := r.brake.pause(); pause > 0 {
		return r.giveBack(c, going.GiveBack(), pause, errPaused)
	}
	if ahead := r.ahead.Load(); ahead < int64(r.workers.Claim) {
		r.ahead.CompareAndSwap(ahead, ahead+1)
	}
	if c.entry.RequestID.Expired(now) { // as the client would say, also if the params cannot be read
		after, _ := going.End(now, nil, prepaid.ErrRequestIDExpired)
		return r.end(c, after)
	}
	params, err := c.entry.Open(r.options.Seal, r.options.DigestKey, c.sealed)
	if err != nil {
		r.log.LogAttrs(ctx, slog.LevelError, "prepaid: a payment cannot be read", slog.String("request_id", string(c.entry.RequestID)), slog.Any("error", err))
		o := r.giveBack(c, going.GiveBack(), backoff(firstWait, longestWait, c.idle), err)
		o.idle = c.idle + 1
		return o
	}
	call, cancel := context.WithDeadline(ctx, now.Add(c.term.call))
	defer cancel()
	began := time.Now()
	result, err := r.send(call, going, params)
	took := time.Since(began)
	r.observe(ctx, err) // of this call, whatever earlier ones say of the payment
	after, err := going.End(time.Now(), result, err)
	if r.workers.Trace.Sent != nil {
		r.workers.Trace.Sent(after, took, err)
	}
	return r.end(c, after)
}

// send returns a panic of the sender as an error of unknown outcome.
func (r *run) send(ctx context.Context, going journal.Run, params prepaid.PaymentParams) (result *prepaid.TransferResult, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			now := time.Now()
			err = &prepaid.CallError{
				Operation: going.Entry.Operation, Outcome: prepaid.OutcomeUnknown, AccountID: going.Entry.AccountID, RequestID: going.Entry.RequestID,
				Attempts: 1, FirstSent: now, LastSent: now, NotBefore: r.sender.NotBefore(now), Err: fmt.Errorf("panic: %v", cause),
			}
		}
	}()
	return going.Send(ctx, r.sender, params)
}

// observe presses or releases the brake.
func (r *run) observe(ctx context.Context, err error) {
	switch {
	case prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed && ctx.Err() == nil:
		r.brake.press()
	case err == nil || prepaid.OutcomeOf(err) != prepaid.OutcomeNotProcessed:
		r.brake.release()
	}
}

// end is the outcome of a call.
func (r *run) end(c *claimed, after journal.Entry) *outcome {
	o := &outcome{claimed: c, after: after, event: eventEnd}
	if !o.due() {
		return o
	}
	if why := after.NeedsPerson(time.Now()); why != nil {
		o.after.Review = journal.ReviewTooOld
		return o
	}
	o.idle = c.idle + 1
	pause := backoff(firstWait, longestWait, c.idle)
	pause = pause/2 + rand.N(pause/2+1) //nolint:gosec // spreads load only
	o.wait = max(pause, time.Until(after.Earliest(r.sender, time.Now(), time.Time{})))
	return o
}

// giveBack is the outcome of a payment that was not sent.
func (r *run) giveBack(c *claimed, after journal.Entry, wait time.Duration, why error) *outcome {
	r.givenBack(c.entry.RequestID, why)
	return &outcome{claimed: c, after: after, event: eventGiveBack, wait: wait, idle: c.idle}
}
