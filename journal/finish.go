package journal

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// record records outcomes until there are no more. Those that are ready at the same time are recorded together. One that cannot be
// recorded holds up no other: it is tried again later.
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
		size := group
		select {
		case o, ok := <-next:
			if !ok {
				ended = nil
				continue
			}
			list = ready(next, append(list, o))
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
		if len(left) == 0 {
			failures = 0
		} else if !time.Now().Before(again) {
			again = time.Now().Add(backoff(20*time.Millisecond, time.Second, failures))
			failures++
		}
	}
}

// ready adds to list what has ended by now, up to a group. It does not wait: another recorder may take what it has seen.
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

// finish records outcomes, so many together, and returns those that are not recorded. A store that is down comes back, and nothing more
// is claimed meanwhile. Only if Run is to end is an outcome given up, when its lease is over.
func (r *work) finish(ctx context.Context, list []*outcome, size int) (left []*outcome) {
	for some := range slices.Chunk(list, size) {
		recorded, err := r.write(ctx, some)
		if err != nil {
			r.failed(ctx, err)
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
	wake(r.wake) // one may be due before its lease would have ended
	return slices.DeleteFunc(left, func(o *outcome) bool {
		lost := r.stops() && o.held.age() > r.lease.whole()
		if lost {
			r.lost.Add(1)
		}
		return lost
	})
}

// write bounds one attempt, so that a store that does not respond is given up.
func (r *work) write(ctx context.Context, list []*outcome) ([]Recorded, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	ends := make([]End, len(list))
	for i, o := range list {
		ends[i] = o.End
	}
	return r.store.Record(ctx, ends)
}

// report reports what became of an outcome.
func (r *work) report(ctx context.Context, o *outcome, recorded Recorded) {
	e := o.Entry
	id := slog.String("request_id", string(e.RequestID))
	if recorded.Written && e.Due() && e.Rests() {
		wake(r.rested)
	}
	if o.GivenBack {
		return
	}
	if recorded.Gone {
		r.Logger.LogAttrs(ctx, slog.LevelError, "prepaid: the payment of an outcome is no longer in the store", id,
			slog.String("state", string(e.State)), slog.String("transaction_id", string(e.TransactionID)))
		call(r.Trace.Gone, e)
	}
	if recorded.Overtaken {
		r.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: another worker has taken over a payment", id, slog.String("state", string(e.State)))
		call(r.Trace.Lost, e)
	}
	if known := recorded.Known; e.State == StateDone && known != "" && known != e.TransactionID {
		r.Logger.LogAttrs(ctx, slog.LevelError, "prepaid: two transactions for one payment", id,
			slog.String("transaction_id", string(e.TransactionID)), slog.String("recorded_transaction_id", string(known)))
		if r.Trace.PaidTwice != nil {
			r.Trace.PaidTwice(e, known)
		}
	}
	if recorded.Written {
		call(r.Trace.Recorded, e)
	}
}

func call(f func(Entry), e Entry) {
	if f != nil {
		f(e)
	}
}
