package prepaidpg

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/journal"
)

// Events in the history, in addition to names of journal.Event.
const (
	eventEnd      = "end"
	eventGiveBack = "give back"
)

// Record implements [journal.Store].
func (s *Store) Record(ctx context.Context, ends []journal.End) ([]journal.Recorded, error) {
	return s.record(ctx, ends, false)
}

// record records ends. If settles is set, it marks final outcomes for Workers.Settled. If a row is locked, it records the ends one by one.
func (s *Store) record(ctx context.Context, ends []journal.End, settles bool) ([]journal.Recorded, error) {
	recorded, err := s.recordAll(ctx, ends, settles)
	if !isCode(err, lockNotAvailable) {
		return recorded, failure("record", err)
	}
	if len(ends) == 1 {
		return []journal.Recorded{{Locked: true}}, nil
	}
	recorded = nil
	for i := range ends {
		one, err := s.record(ctx, ends[i:i+1], settles)
		if err != nil {
			return nil, err
		}
		recorded = append(recorded, one...)
	}
	return recorded, nil
}

func (s *Store) recordAll(ctx context.Context, ends []journal.End, settles bool) ([]journal.Recorded, error) {
	recorded := make([]journal.Recorded, len(ends))
	leases := make([]int64, len(ends))
	for i, end := range ends {
		leases[i], _ = strconv.ParseInt(end.Fence, 10, 64) // a fence in any other form belongs to no claim
	}
	err := durably(ctx, s.pool, func(batch *pgx.Batch) {
		batch.Queue(impatient)
		batch.Queue(s.sql.Replace(outcomeSQL), outcomeArgs(ends, leases, settles)...).Query(func(rows pgx.Rows) error {
			var i int
			_, err := pgx.ForEachRow(rows, []any{&i}, func() error {
				recorded[i-1].Written = true
				return nil
			})
			return err
		})
	})
	for i, end := range ends {
		if err == nil && !recorded[i].Written {
			recorded[i], err = s.recordLate(ctx, end, leases[i], settles)
		}
	}
	return recorded, err
}

// recordLate is for an end whose row changed after the claim. It writes only a success.
func (s *Store) recordLate(ctx context.Context, end journal.End, lease int64, settles bool) (r journal.Recorded, err error) {
	e := end.Entry
	err = durably(ctx, s.pool, func(batch *pgx.Batch) {
		batch.Queue(impatient)
		batch.Queue(s.sql.Replace(lateSQL), e.RequestID, lease, e.State == journal.StateDone, storable(string(e.TransactionID)), storable(e.CorrelationID), settles).
			QueryRow(func(row pgx.Row) error {
				mine := false
				r.Overtaken = true
				err := row.Scan(&mine, &r.Written, &r.Known)
				switch {
				case errors.Is(err, pgx.ErrNoRows):
					r, err = journal.Recorded{Gone: true}, nil
				case mine: // an earlier commit succeeded, but its connection broke
					r = journal.Recorded{Written: true}
				}
				return err
			})
	})
	return r, err
}

// outcomeArgs returns the arguments of outcomeSQL. Each attempt to write converts times to ages anew.
func outcomeArgs(ends []journal.End, leases []int64, settles bool) []any {
	var ids, events, states, transactions, correlations, codes, reviews []string
	var waits, firsts, lasts, rests, changes []*int64
	var attempts, runs []int
	var began, hooks, resolved []bool
	now := time.Now()
	for i := range ends {
		end := &ends[i]
		e := &end.Entry
		event, changed, wait := eventEnd, (*int64)(nil), (*int64)(nil)
		if end.GivenBack { // Entry.Rest does not begin again
			event, changed = eventGiveBack, age(now, e.Changed)
		}
		if e.Due() {
			wait = new(end.Wait.Microseconds())
		}
		ids, events, states = append(ids, string(e.RequestID)), append(events, event), append(states, string(e.State))
		waits, changes, began = append(waits, wait), append(changes, changed), append(began, !e.Began.IsZero())
		firsts, lasts, rests = append(firsts, age(now, e.FirstSent)), append(lasts, age(now, e.LastSent)), append(rests, age(now, e.NotBefore))
		attempts, runs, resolved = append(attempts, e.Attempts), append(runs, e.Runs), append(resolved, e.Resolved)
		transactions = append(transactions, storable(string(e.TransactionID)))
		correlations, codes = append(correlations, storable(e.CorrelationID)), append(codes, string(e.Code))
		reviews, hooks = append(reviews, string(e.Review)), append(hooks, settles && end.Final())
	}
	return []any{
		ids, leases, events, states, waits, firsts, lasts, rests, attempts, runs, transactions, correlations, codes, reviews, began, hooks,
		resolved, changes,
	}
}

// age returns how long ago t was, in microseconds, or nil for the zero time.
func age(now, t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(now.Sub(t).Microseconds())
}

// storable returns a text of the service as Postgres can store it: no text may prevent the recording of an outcome.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
}

const beginSQL = "begin isolation level read committed read write"

// durably executes the statements that the function queue adds, in one transaction and round trip, with a durable commit.
func durably(ctx context.Context, pool *pgxpool.Pool, queue func(batch *pgx.Batch)) error {
	batch := &pgx.Batch{}
	batch.Queue(beginSQL)
	batch.Queue(durable)
	queue(batch)
	batch.Queue("commit").Exec(committed)
	return pool.SendBatch(ctx, batch).Close()
}

// committed checks the response to a commit: Postgres ends a failed transaction without an error.
func committed(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}
