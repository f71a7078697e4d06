package journal

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cardprograms/prepaid"
)

var (
	errStopping = errors.New("journal: Run ends")
	errLate     = errors.New("journal: too much of the lease was over")
	errPaused   = errors.New("journal: nothing can be sent at the moment")
	errRests    = errors.New("journal: an earlier request may still be in progress")
	errLocked   = errors.New("journal: another transaction holds a lock of a payment")
)

// outcome is the end of a run of this worker.
type outcome struct {
	End

	held *held
}

// pay sends payments until there are no more.
func (r *work) pay(ctx context.Context) {
	for h := range r.queue {
		r.ended <- r.payOne(ctx, h) // while outcomes cannot be recorded, nothing more is sent
		r.held.Add(-1)
		wake(r.wake)
	}
}

// payOne sends a payment, unless there is a reason not to.
func (r *work) payOne(ctx context.Context, h *held) *outcome {
	now := time.Now()
	run, err := h.Entry.Begin(now)
	switch {
	case errors.Is(err, ErrWindow):
		e := h.Entry
		e.Review = ReviewTooOld
		return h.ends(e, 0)
	case err != nil: // the store takes no other
		return r.giveBack(h, h.Entry, firstWait, err)
	case r.stops():
		return r.giveBack(h, run.GiveBack(), 0, errStopping)
	case h.age() > r.lease.wait:
		r.ahead.Store(max(r.ahead.Load()/2, 1)) // fewer will wait
		return r.giveBack(h, run.GiveBack(), 0, errLate)
	}
	if rests := time.Until(h.Entry.Earliest(r.sender, now)); rests > 0 {
		return r.giveBack(h, run.GiveBack(), rests, errRests)
	}
	if pause := r.brake.pause(); pause > 0 {
		return r.giveBack(h, run.GiveBack(), pause, errPaused)
	}
	if ahead := r.ahead.Load(); ahead < int64(r.Claim) {
		r.ahead.CompareAndSwap(ahead, ahead+1)
	}
	if h.Entry.RequestID.Expired(now) { // as the client would report, also if the params cannot be read
		after, _ := run.End(now, nil, prepaid.ErrRequestIDExpired)
		return r.end(h, after)
	}
	var params prepaid.PaymentParams
	if unsafe := guard(func() { params, err = h.Entry.Open(r.Seal, r.DigestKey, h.Entry.Sealed) }); unsafe != nil {
		err = unsafe
	}
	if err != nil {
		r.Logger.LogAttrs(ctx, slog.LevelError, "prepaid: a payment cannot be read", slog.String("request_id", string(h.Entry.RequestID)), slog.Any("error", err))
		return r.giveBack(h, run.GiveBack(), unreadableWait, err)
	}
	call, cancel := context.WithDeadline(ctx, now.Add(r.lease.call))
	defer cancel()
	result, err := run.Send(call, r.sender, params)
	took := time.Since(now)
	switch {
	case prepaid.OutcomeOf(err) != prepaid.OutcomeNotProcessed: // of this call, whatever earlier ones did
		r.brake.release()
	case ctx.Err() == nil:
		r.brake.press()
	}
	after, err := run.End(time.Now(), result, err)
	if r.Trace.Sent != nil {
		r.Trace.Sent(after, took, err)
	}
	return r.end(h, after)
}

// ends is the outcome of a run that was sent.
func (h *held) ends(after Entry, wait time.Duration) *outcome {
	return &outcome{held: h, End: End{Fence: h.Fence, Entry: after, Wait: wait}}
}

// end is the outcome of a call.
func (r *work) end(h *held, after Entry) *outcome {
	if !after.Due() {
		return h.ends(after, 0)
	}
	if after.NeedsPerson(time.Now()) != nil {
		after.Review = ReviewTooOld
		return h.ends(after, 0)
	}
	// Attempts are 0 after a kill, and runs grow with each.
	pause := backoff(firstWait, longestWait, min(after.Runs, after.Attempts)-1)
	pause = pause/2 + rand.N(pause/2+1) //nolint:gosec // spreads load only
	return h.ends(after, max(pause, time.Until(after.Earliest(r.sender, time.Now()))))
}

// giveBack is the outcome of a payment that was not sent.
func (r *work) giveBack(h *held, after Entry, wait time.Duration, why error) *outcome {
	if r.Trace.GivenBack != nil {
		r.Trace.GivenBack(after.RequestID, why)
	}
	o := h.ends(after, wait)
	o.GivenBack = true
	return o
}
