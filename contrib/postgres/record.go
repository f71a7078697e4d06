package prepaidpg

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
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
	var failover error
	recorded = nil
	for i := range ends {
		one, err := s.record(ctx, ends[i:i+1], settles)
		if errors.Is(err, journal.ErrFailover) {
			failover, err = err, nil
		}
		if err != nil {
			return nil, err
		}
		recorded = append(recorded, one...)
	}
	return recorded, failover
}

func (s *Store) recordAll(ctx context.Context, ends []journal.End, settles bool) ([]journal.Recorded, error) {
	recorded := make([]journal.Recorded, len(ends))
	rows, now := make([]endRow, len(ends)), time.Now()
	for i, end := range ends {
		lease, _ := strconv.ParseInt(end.Fence, 10, 64) // a fence in any other form belongs to no claim
		rows[i] = rowOf(end, lease, now, settles)
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	var here *string
	err = durably(ctx, s.pool, impatient, func(batch *pgx.Batch) {
		batch.Queue(s.sql.Replace(outcomeSQL), s.epoch.Load(), string(text), now).Query(func(rows pgx.Rows) error {
			var i int
			var epoch *string
			_, err := pgx.ForEachRow(rows, []any{&i, &epoch}, func() error {
				if i == 0 {
					here = epoch
				} else {
					recorded[i-1].Written = true
				}
				return nil
			})
			return err
		})
	})
	for i := range recorded {
		if err == nil && !recorded[i].Written {
			recorded[i], err = s.recordLate(ctx, rows[i])
		}
	}
	if err == nil {
		err = s.isOn(here)
	}
	return recorded, err
}

// recordLate is for an end whose row changed after the claim. It writes only a success.
func (s *Store) recordLate(ctx context.Context, late endRow) (r journal.Recorded, err error) {
	err = durably(ctx, s.pool, impatient, func(batch *pgx.Batch) {
		batch.Queue(s.sql.Replace(lateSQL), late.RequestID, late.Lease, late.State == journal.StateDone, late.TransactionID, late.CorrelationID, late.Hook).
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

// endRow is an end as outcomeSQL reads it from JSON.
type endRow struct {
	journal.Entry

	Lease int64  `json:"lease"`
	Event string `json:"event"`
	Wait  *int64 `json:"wait"` // until the payment is due again, in microseconds
	Hook  bool   `json:"hook"`
}

// rowOf returns the row of an end, without what outcomeSQL does not read. Each attempt to write converts the times again: the process's
// clock may have been set meanwhile.
func rowOf(end journal.End, lease int64, now time.Time, settles bool) endRow {
	r := endRow{Entry: end.Entry.Shift(now, now.UTC()), Lease: lease, Event: eventEnd, Hook: settles && end.Final()}
	if end.GivenBack {
		r.Event = eventGiveBack
	}
	if r.Due() {
		r.Wait = new(end.Wait.Microseconds())
	}
	r.TransactionID, r.CorrelationID = prepaid.TransactionID(storable(string(r.TransactionID))), storable(r.CorrelationID)
	r.Operation, r.AccountID, r.Destination, r.Params, r.Sealed = "", "", "", "", nil
	return r
}

// storable returns a text of the service as Postgres can store it in every encoding: no text may prevent the recording of an outcome.
func storable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == 0 || r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, text)
}

const beginSQL = "begin isolation level read committed read write"

// durably executes the statements that the function queue adds, in one transaction and round trip, with a durable commit. settings are
// those of durable, or more.
func durably(ctx context.Context, pool *pgxpool.Pool, settings string, queue func(batch *pgx.Batch)) error {
	batch := begun(settings, queue)
	batch.Queue("commit").Exec(committed)
	return pool.SendBatch(ctx, batch).Close()
}

// certainly is durably in two round trips: it commits only if all results could be read.
func certainly(ctx context.Context, pool *pgxpool.Pool, settings string, queue func(batch *pgx.Batch)) error {
	return pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if err := c.SendBatch(ctx, begun(settings, queue)).Close(); err != nil {
			return err // the pool closes a connection in a transaction
		}
		tag, err := c.Exec(ctx, "commit")
		return cmp.Or(err, committed(tag))
	})
}

func begun(settings string, queue func(batch *pgx.Batch)) *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(beginSQL)
	batch.Queue(settings)
	queue(batch)
	return batch
}

// committed checks the response to a commit: Postgres ends a failed transaction without an error.
func committed(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}
