package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/pause"
)

var (
	errStopping = errors.New("journal: Run ends")
	errLate     = errors.New("journal: too much of the lease was over")
	errPaused   = errors.New("journal: nothing can be sent at the moment")
	errRests    = errors.New("journal: an earlier request may still be in progress")
	errLocked   = errors.New("journal: another transaction holds a lock of a payment")

	errStoreLimit = fmt.Errorf("journal: the store did not respond within %s", storeLimit)
	errCallLimit  = errors.New("journal: CallTimeout is over")
)

type outcome struct {
	End

	held *held
}

// pay sends payments. While one waits for its repeat, another has its place.
func (r *work) pay(ctx context.Context) {
	places := pause.NewPlaces(r.N, func(places int) {
		r.held.Add(int64(places))
		r.roomChanged()
	})
	ctx = places.With(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	for h := range r.queue {
		places.Take(!h.Entry.Rests()) // here, to keep the order
		running.Go(func() {
			o := r.payOne(ctx, h)
			r.ended <- o // while outcomes cannot be recorded, nothing more is sent
			places.Leave(!o.GivenBack && !o.Entry.State.Open())
			r.held.Add(-1)
			r.roomChanged()
		})
	}
}

func (r *work) roomChanged() {
	if r.room() > 0 {
		pause.Wake(r.wake)
	}
}

func (r *work) payOne(ctx context.Context, h *held) *outcome {
	now := time.Now()
	run, err := h.Entry.Begin(now)
	switch {
	case errors.Is(err, ErrWindow):
		return r.end(h, h.Entry)
	case err != nil: // giving back is the only end that the store accepts
		return r.giveBack(h, h.Entry, firstWait, err)
	case r.stops():
		return r.giveBack(h, run.GiveBack(), 0, errStopping)
	case h.age() > r.lease.Sends-r.CallTimeout: // not enough time for a whole call
		r.ahead.Store(max(r.ahead.Load()/2, 1)) // fewer payments will wait
		return r.giveBack(h, run.GiveBack(), 0, errLate)
	}
	if rests := time.Until(h.Entry.Earliest(r.sender, now)); rests > 0 {
		return r.giveBack(h, run.GiveBack(), rests, errRests)
	}
	if wait := r.brake.pause(); wait > 0 {
		return r.giveBack(h, run.GiveBack(), wait, errPaused)
	}
	if ahead := r.ahead.Load(); ahead < int64(r.Claim) {
		r.ahead.CompareAndSwap(ahead, ahead+1)
	}
	if h.Entry.RequestID.Expired(now) { // the client would refuse it, too; this check works even if the params cannot be read
		after, _ := run.End(now, nil, prepaid.ErrRequestIDExpired)
		return r.end(h, after)
	}
	params, err := guard.Get("journal: AEAD", func() (prepaid.PaymentParams, error) { return h.Entry.Open(r.Seal, r.DigestKey, h.Entry.Sealed) })
	if err != nil {
		r.Logger.LogAttrs(ctx, slog.LevelError, "prepaid: a payment cannot be read", slog.String("request_id", string(h.Entry.RequestID)), slog.String("error", err.Error()))
		return r.giveBack(h, run.GiveBack(), unreadableWait, err)
	}
	call, cancel := context.WithDeadlineCause(ctx, now.Add(r.CallTimeout), errCallLimit)
	defer cancel()
	result, err := run.Send(call, r.sender, params)
	err = pause.Cause(call, err)
	took := time.Since(now)
	switch {
	case prepaid.OutcomeOf(err) != prepaid.OutcomeNotProcessed: // the outcome of this call alone
		r.brake.release()
	case ctx.Err() == nil:
		r.brake.press()
	}
	after, err := run.End(time.Now(), result, err)
	r.Trace.Sent(after, took, err)
	return r.end(h, after)
}

func (h *held) ends(after Entry, wait time.Duration) *outcome {
	return &outcome{held: h, End: End{Fence: h.Fence, Entry: after, Wait: wait}}
}

func (r *work) end(h *held, after Entry) *outcome {
	if after.Due() && after.NeedsPerson(time.Now()) != nil {
		after.Review = ReviewTooOld
	}
	if !after.Due() {
		return h.ends(after, 0)
	}
	// Each kill increases Runs but not Attempts.
	wait := backoff(firstWait, longestWait, min(after.Runs, after.Attempts)-1)
	wait = wait/2 + rand.N(wait/2+1) //nolint:gosec // spreads load only
	return h.ends(after, max(wait, time.Until(after.Earliest(r.sender, time.Now()))))
}

func (r *work) giveBack(h *held, after Entry, wait time.Duration, why error) *outcome {
	r.Trace.GivenBack(after.RequestID, why)
	o := h.ends(after, wait)
	o.GivenBack = true
	return o
}

// record records outcomes until there are no more. It records all ready outcomes together. An outcome that cannot be recorded
// delays no other: record tries it again later.
func (r *work) record(ctx context.Context) {
	var left []*outcome // not recorded yet
	var again time.Time // when these are tried again
	for failures, ended := 0, r.ended; ended != nil || len(left) > 0; {
		list, next := []*outcome(nil), ended
		var retry <-chan time.Time
		if len(left) > 0 {
			retry = time.After(time.Until(again))
		}
		if len(left) >= group { // while outcomes cannot be recorded, nothing more is sent
			next = nil
		}
		size, release := group, func() {}
		select {
		case o, ok := <-next:
			if !ok {
				ended = nil
				continue
			}
			r.collecting <- struct{}{}
			release = sync.OnceFunc(func() { <-r.collecting })
			time.Sleep(gather)
			if list = ready(next, append(list, o)); len(list) == group {
				release()
			} else { // if this commit is slow, later outcomes get another commit meanwhile
				time.AfterFunc(patience, release)
			}
		case <-retry:
			list, left = left, nil
			if failures > 2 {
				size = 1
			}
		}
		slices.SortFunc(list, func(a, b *outcome) int { // the order in which rows are locked
			return strings.Compare(string(a.Entry.RequestID), string(b.Entry.RequestID))
		})
		left = append(left, r.finish(ctx, list, size)...)
		release()
		if len(left) == 0 {
			failures = 0
		} else if !time.Now().Before(again) {
			again = time.Now().Add(backoff(20*time.Millisecond, time.Second, failures))
			failures++
		}
	}
}

func ready(ended <-chan *outcome, list []*outcome) []*outcome {
	for len(list) < group {
		select {
		case o, ok := <-ended:
			if !ok {
				return list
			}
			list = append(list, o)
		default:
			return list
		}
	}
	return list
}

// finish records outcomes in groups of size, and returns those that are not recorded. While a store is down, nothing more is claimed.
// finish drops an outcome only if Run is to end and the payment's lease is over.
func (r *work) finish(ctx context.Context, list []*outcome, size int) (left []*outcome) {
	for some := range slices.Chunk(list, size) {
		recorded, err := r.write(ctx, some)
		if err != nil {
			r.failed(ctx, err)
		}
		if recorded == nil {
			left = append(left, some...)
			continue
		}
		for i, o := range some {
			if recorded[i].Locked {
				r.failed(ctx, errLocked)
				left = append(left, o)
				continue
			}
			r.report(ctx, o, recorded[i])
		}
	}
	pause.Wake(r.wake) // a payment may be due before its lease would have ended
	return slices.DeleteFunc(left, func(o *outcome) bool {
		lost := r.stops() && o.held.age() > r.lease.Sends+r.lease.Rest
		if lost {
			r.lost.Add(1)
		}
		return lost
	})
}

// write makes one attempt to record, with a limit in case the store does not respond.
func (r *work) write(ctx context.Context, list []*outcome) ([]Recorded, error) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), storeLimit, errStoreLimit)
	defer cancel()
	ends := make([]End, len(list))
	for i, o := range list {
		ends[i] = o.End
	}
	recorded, err := r.store.Record(ctx, ends)
	return recorded, pause.Cause(ctx, err)
}

func (r *work) report(ctx context.Context, o *outcome, recorded Recorded) {
	e := o.Entry
	id := slog.String("request_id", string(e.RequestID))
	if recorded.Written && e.Due() && e.Rests() {
		pause.Wake(r.rested)
	}
	if o.GivenBack {
		return
	}
	if recorded.Gone {
		r.Logger.LogAttrs(ctx, slog.LevelError, "prepaid: the payment of an outcome is no longer in the store", id,
			slog.String("state", string(e.State)), slog.String("transaction_id", string(e.TransactionID)))
		r.Trace.Gone(e)
	}
	if recorded.Overtaken {
		r.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: another worker has taken over a payment", id, slog.String("state", string(e.State)))
		r.Trace.Lost(e)
	}
	if known := recorded.Known; e.State == StateDone && known != "" && known != e.TransactionID {
		r.Logger.LogAttrs(ctx, slog.LevelError, "prepaid: two transactions for one payment", id,
			slog.String("transaction_id", string(e.TransactionID)), slog.String("recorded_transaction_id", string(known)))
		r.Trace.PaidTwice(e, known)
	}
	if recorded.Written {
		r.Trace.Recorded(e)
	}
}
