package prepaidpg

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// write records outcomes until there are no more. Those that are ready at the same time share a transaction.
func (r *run) write(ctx context.Context) {
	list := make([]*outcome, 0, group)
	for o := range r.ended {
		list = waiting(r.ended, append(list[:0], o))
		slices.SortFunc(list, func(a, b *outcome) int { return int(a.number - b.number) }) // the order in which rows are locked
		r.finish(ctx, list)
	}
}

// waiting adds to list what has ended by now, up to a group. It does not wait: another writer may take what it has seen.
func waiting(ended <-chan *outcome, list []*outcome) []*outcome {
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

// finish records outcomes together or, if that fails, one by one. It tries until it knows what happened to each: a database that is
// down comes back, and nothing more is claimed meanwhile. Only if Run is to end does it give up when the leases are over.
func (r *run) finish(ctx context.Context, list []*outcome) {
	for failures := 0; ; failures++ {
		written, err := r.attempt(ctx, list, r.record)
		spoiled, byHook := errors.AsType[*errSettled](err)
		_, byServer := errors.AsType[*pgconn.PgError](err)
		switch {
		case err == nil:
			r.tell(written)
			wake(r.wake) // one may be due before its lease would have ended
			if slices.ContainsFunc(written, (*outcome).rests) {
				wake(r.open)
			}
			if len(written) < len(list) {
				r.overtaken(ctx, slices.DeleteFunc(list, func(o *outcome) bool { return slices.Contains(written, o) }))
			}
			return
		case len(list) > 1 && (byHook || byServer || failures > 2):
			for _, o := range list {
				r.finish(ctx, []*outcome{o})
			}
			return
		case byHook && !(spoiled.lost && failures < lostConnections):
			r.settledFailed(ctx, list[0].after, spoiled.err)
			list[0].postponed = true
		case !r.again(ctx, list, err, failures):
			return
		}
	}
}

// overtaken is for outcomes that were not written, because the row is no longer as the claim left it.
func (r *run) overtaken(ctx context.Context, list []*outcome) {
	for failures := 0; ; failures++ {
		// The connection may have broken during a commit that was carried out.
		recorded, err := r.attempt(ctx, list, func(ctx context.Context, list []*outcome, _ settledFunc) ([]*outcome, error) {
			return r.recorded(ctx, list)
		})
		if err == nil {
			r.tell(recorded)
			list = slices.DeleteFunc(list, func(o *outcome) bool { return slices.Contains(recorded, o) })
			break
		}
		if !r.again(ctx, list, err, failures) {
			return
		}
	}
	for _, o := range list {
		if o.event != eventEnd {
			continue
		}
		r.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: another worker has taken over a payment",
			slog.String("request_id", string(o.after.RequestID)), slog.String("state", string(o.after.State)))
		if r.workers.Trace.Lost != nil {
			r.workers.Trace.Lost(o.after)
		}
		if o.after.State == journal.StateDone {
			r.finishLate(ctx, o)
		}
	}
}

// finishLate records that the money of a payment moved which another worker has taken over.
func (r *run) finishLate(ctx context.Context, o *outcome) {
	for failures := 0; ; failures++ {
		var known prepaid.TransactionID
		_, err := r.attempt(ctx, []*outcome{o}, func(ctx context.Context, _ []*outcome, settled settledFunc) (_ []*outcome, err error) {
			known, err = r.recordLate(ctx, o, settled)
			return nil, err
		})
		spoiled, byHook := errors.AsType[*errSettled](err)
		switch {
		case err == nil:
			if known != "" && known != o.after.TransactionID {
				r.log.LogAttrs(ctx, slog.LevelError, "prepaid: two transactions for one payment",
					slog.String("request_id", string(o.after.RequestID)), slog.String("transaction_id", string(o.after.TransactionID)),
					slog.String("recorded_transaction_id", string(known)))
				if r.workers.Trace.PaidTwice != nil {
					r.workers.Trace.PaidTwice(o.after, known)
				}
			} else if known == "" {
				r.tell([]*outcome{o})
			}
			return
		case errors.Is(err, journal.ErrNoPayment): // no attempt brings it back, and others wait
			r.log.LogAttrs(ctx, slog.LevelError, "prepaid: a payment was made whose row is gone",
				slog.String("request_id", string(o.after.RequestID)), slog.String("transaction_id", string(o.after.TransactionID)))
			return
		case byHook && !(spoiled.lost && failures < lostConnections):
			r.settledFailed(ctx, o.after, spoiled.err)
			o.postponed = true
		case !r.again(ctx, []*outcome{o}, err, failures):
			return
		}
	}
}

// attempt bounds one attempt, so that a server that does not respond is given up.
func (r *run) attempt(ctx context.Context, list []*outcome, write func(ctx context.Context, list []*outcome, settled settledFunc) ([]*outcome, error)) ([]*outcome, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseLimit)
	defer cancel()
	return write(ctx, list, r.workers.Settled)
}

// again reports whether to try again, after a wait.
func (r *run) again(ctx context.Context, list []*outcome, err error, failures int) bool {
	r.failed(ctx, err)
	over := func(o *outcome) bool { return time.Since(o.taken) > o.term.whole }
	if r.ends() && !slices.ContainsFunc(list, func(o *outcome) bool { return !over(o) }) {
		r.lost.Add(int64(len(list)))
		return false
	}
	time.Sleep(backoff(20*time.Millisecond, time.Second, failures))
	return true
}

// tell reports what was committed.
func (r *run) tell(list []*outcome) {
	if r.workers.Trace.Recorded == nil {
		return
	}
	for _, o := range list {
		if o.event == eventEnd {
			r.workers.Trace.Recorded(o.after)
		}
	}
}

// settledFailed reports a failure of Settled. Its text may contain anything, so only the trace gets it.
func (r *run) settledFailed(ctx context.Context, e journal.Entry, err error) {
	r.log.LogAttrs(ctx, slog.LevelError, "prepaid: Settled failed; it is called again later", slog.String("request_id", string(e.RequestID)))
	if r.workers.Trace.SettledFailed != nil {
		r.workers.Trace.SettledFailed(e, err)
	}
	select {
	case r.unsettled <- struct{}{}:
	default:
	}
}

// settleLater calls Settled again where it failed, until ctx ends.
func (r *run) settleLater(ctx context.Context) {
	for ctx.Err() == nil {
		found, err := r.settleOne(context.WithoutCancel(ctx))
		switch {
		case err != nil:
			r.failed(ctx, err)
			sleep(ctx, settlePoll, nil)
		case !found:
			r.awaitUnsettled(ctx)
		}
	}
}

// awaitUnsettled returns when Settled may be due: some time after it failed in this Run, or after the time for which other
// workers may fail unnoticed.
func (r *run) awaitUnsettled(ctx context.Context) {
	timer := time.NewTimer(settlePoll)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-r.unsettled:
		sleep(ctx, firstWait, nil)
	}
}

// settleOne calls Settled for one outcome for which it is due.
func (r *run) settleOne(ctx context.Context) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, databaseLimit)
	defer cancel()
	var p payment
	err = r.transaction(ctx, true, func(tx pgx.Tx) error {
		err := p.scan(tx.QueryRow(ctx, r.sql.hooksDue))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		if err := settle(ctx, tx, p.entry, r.workers.Settled); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, r.sql.hookDone, p.entry.RequestID)
		return err
	})
	if spoiled, ok := errors.AsType[*errSettled](err); ok && found {
		r.settledFailed(ctx, p.entry, spoiled.err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseLimit) // Settled may have used up the other
		defer cancel()
		_, err = r.pool.Exec(ctx, r.sql.later, p.entry.RequestID, firstWait.Microseconds(), longestWait.Microseconds())
	}
	if err != nil {
		return found, failure("settle", err)
	}
	return found, nil
}
