package journal

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// record records outcomes until there are no more. Those that are ready at the same time are recorded together.
func (r *work) record(ctx context.Context) {
	list := make([]*outcome, 0, group)
	for o := range r.ended {
		list = ready(r.ended, append(list[:0], o))
		slices.SortFunc(list, func(a, b *outcome) int { // the order in which rows are locked
			return strings.Compare(string(a.Entry.RequestID), string(b.Entry.RequestID))
		})
		r.finish(ctx, list)
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

// finish records outcomes together or, if that fails again and again, one by one. It tries until it knows what became of each: a
// store that is down comes back, and nothing more is claimed meanwhile. Only if Run is to end does it give up when the leases are over.
func (r *work) finish(ctx context.Context, list []*outcome) {
	for failures := 0; ; failures++ {
		recorded, err := r.write(ctx, list)
		if err == nil {
			for i, o := range list {
				r.report(ctx, o, recorded[i])
			}
			wake(r.wake) // one may be due before its lease would have ended
			return
		}
		r.failed(ctx, err)
		if len(list) > 1 && failures > 1 {
			for _, o := range list {
				r.finish(ctx, []*outcome{o})
			}
			return
		}
		held := func(o *outcome) bool { return o.held.age() <= r.lease.whole() }
		if r.stops() && !slices.ContainsFunc(list, held) {
			r.lost.Add(int64(len(list)))
			return
		}
		time.Sleep(backoff(20*time.Millisecond, time.Second, failures))
	}
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
