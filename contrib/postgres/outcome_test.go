package prepaidpg

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/journal"
)

// takeOver claims a payment for another worker, as if the lease were over.
func (s testStore) takeOver(id prepaid.RequestID) journal.Held {
	s.t.Helper()
	s.exec("update prepaid.payments set due = now() - interval '1 day' where request_id = $1", id)
	list := s.claims(&teller{rest: time.Minute}, 1)
	require.Len(s.t, list, 1)
	require.Equal(s.t, id, list[0].Entry.RequestID)
	return list[0]
}

// overtaken is the sender of a worker whose payments takeOver claims: the worker itself never claims one twice.
type overtaken struct{ *teller }

func (overtaken) AwaitRepeat(ctx context.Context, _ prepaid.AccountID, _ time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

// A success of a worker that was overtaken is settled.
func TestOvertakenWorker(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table books (request_id text)")
	id := s.add(1)[0]
	sender := &teller{rest: time.Minute, reply: func(context.Context, prepaid.RequestID, time.Time) error {
		s.takeOver(id)
		return nil
	}}
	var lost atomic.Int64
	workers := Workers{Settled: writeTestBooks, Trace: journal.Trace{Lost: func(journal.Entry) { lost.Add(1) }}}
	require.NoError(t, s.runUntil(overtaken{sender}, workers, func() bool { return lost.Load() == 1 }))
	require.Equal(t, "enqueue:queued begin:intended begin:unknown late:done", s.history(id))
	require.Equal(t, "1", text(t, s.pool, "select count(*)::text from books"))
}

// Both workers got a success: with one transaction (from the service's cache) it is one payment; with two, a person must know.
func TestBothWorkersWereDone(t *testing.T) {
	t.Parallel()
	for known, twice := range map[prepaid.TransactionID]bool{"1": false, "2": true} {
		t.Run(string(known), func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.exec("create table books (request_id text)")
			id := s.add(1)[0]
			sender := &teller{rest: time.Minute, reply: func(context.Context, prepaid.RequestID, time.Time) error {
				other := s.takeOver(id)
				_, err := s.record(t.Context(), []journal.End{s.ended(other, &prepaid.TransferResult{TransactionID: known}, nil)}, true)
				require.NoError(t, err)
				return nil
			}}
			var lost, alarms atomic.Int64
			workers := Workers{Settled: writeTestBooks, Trace: journal.Trace{
				Lost: func(journal.Entry) { lost.Add(1) },
				PaidTwice: func(e journal.Entry, first prepaid.TransactionID) {
					require.Equal(t, known, first)
					require.Equal(t, prepaid.TransactionID("1"), e.TransactionID)
					alarms.Add(1)
				},
			}}
			require.NoError(t, s.runUntil(overtaken{sender}, workers, func() bool { return lost.Load() == 1 }))
			require.Equal(t, twice, alarms.Load() == 1)
			require.Equal(t, known, s.entry(id).TransactionID)
			require.Equal(t, "1", text(t, s.pool, "select count(*)::text from books"))
		})
	}
}

// The database fails between the response and the outcome: the outcome is kept until the database works again.
func TestDatabaseIsDownWhenTheOutcomeIsKnown(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(server *pgtest.Server) error{
		"killed": func(server *pgtest.Server) error {
			if err := server.Kill(); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
			return server.Restart(context.Background())
		},
		"connections cut": func(server *pgtest.Server) error { return server.Cut(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, pool := ownServer(t, nil)
			s := openStore(t, pool)
			s.exec("create table books (request_id text)")
			ids := s.add(20)
			var failures atomic.Int64
			finished := make(chan struct{})
			var once atomic.Bool
			sender := &teller{rest: time.Minute, reply: func(context.Context, prepaid.RequestID, time.Time) error {
				if once.CompareAndSwap(false, true) {
					go func() {
						defer close(finished)
						if err := trouble(server); err != nil {
							t.Error(err)
						}
					}()
				}
				time.Sleep(20 * time.Millisecond)
				return nil
			}}
			workers := Workers{N: 5, Settled: writeTestBooks, Trace: journal.Trace{Failed: func(error) { failures.Add(1) }}}
			done, n := s.are(journal.StateDone, ids...), 0
			require.NoError(t, s.runUntil(sender, workers, func() bool { // a Settled whose connection is cut is called again later
				return done() && s.pool.QueryRow(t.Context(), "select count(*) from books").Scan(&n) == nil && n >= 20
			}))
			<-finished
			pool.Reset() // it may have connections that were cut
			require.Len(t, sender.sent, 20, "none was sent again")
			require.Equal(t, "20", text(t, s.pool, "select count(distinct request_id)::text from books"))
			require.Equal(t, "20", text(t, s.pool, "select count(*)::text from books"))
		})
	}
}

// If Settled commits its transaction with a statement of its own, calls are repeated, but none is lost.
func TestSettledCommits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table books (request_id text)")
	s.add(5)
	s.exec("update prepaid.payments set state = 'done', due = null, sealed = null, hook_due = now()")
	settleDue(t, s.Store, Workers{Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
		_, err := tx.Exec(ctx, "commit")
		return errors.Join(writeTestBooks(ctx, tx, e), err)
	}})
	require.Equal(t, "0", text(t, s.pool, `select count(*)::text from prepaid.payments where hook_due is null
		and request_id not in (select request_id from books)`))
}

// If Settled fails, panics, breaks its transaction or tries to end it, the outcome is recorded, and Settled is called again. Other
// calls do not wait, even if the error appears only at the commit.
func TestSettledFails(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(ctx context.Context, tx pgx.Tx) error{
		"error": func(context.Context, pgx.Tx) error { return errors.New("no such order") },
		"panic": func(context.Context, pgx.Tx) error { panic("oops") },
		"refused by Postgres": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "insert into nowhere values (1)")
			return err
		},
		"spoiled": func(ctx context.Context, tx pgx.Tx) error {
			_, _ = tx.Exec(ctx, "insert into nowhere values (1)")
			return nil
		},
		"commit":   func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
		"rollback": func(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) },
		"rollback as a statement": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "rollback")
			return err
		},
		"deferred constraint": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "insert into lines values ('no order')")
			return err
		},
		"unread rows": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Query(ctx, "select 1") //nolint:gocritic // that is the mistake
			return err
		},
		"idle in transaction": func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "set local idle_in_transaction_session_timeout = 50")
			time.Sleep(slowSettled + 50*time.Millisecond) // no call after it
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.exec(`create table books (request_id text); create table orders (id text primary key);
				create table lines (id text references orders deferrable initially deferred)`)
			ids := s.add(12)
			var broken atomic.Bool
			broken.Store(true)
			var failed, recorded atomic.Int64
			workers := Workers{N: 3, Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
				if err := writeTestBooks(ctx, tx, e); err != nil {
					return err
				}
				if e.RequestID == ids[5] && broken.Load() {
					return fault(ctx, tx)
				}
				return nil
			}, SettledFailed: func(e journal.Entry, err error) {
				require.Equal(t, ids[5], e.RequestID)
				require.Error(t, err)
				require.NotContains(t, err.Error(), "oops", "the value of a panic may be private")
				failed.Add(1)
			}, Trace: journal.Trace{Recorded: func(journal.Entry) { recorded.Add(1) }}}
			require.NoError(t, s.runUntil(&teller{}, workers, func() bool { return recorded.Load() == 12 }))
			require.True(t, s.are(journal.StateDone, ids...)())
			require.Equal(t, "11", text(t, s.pool, "select count(*)::text from books"))
			first := failed.Load()
			if !slices.Contains([]string{"rollback as a statement", "deferred constraint", "unread rows", "idle in transaction"}, name) {
				require.EqualValues(t, 1, first)
			}
			require.Less(t, first, int64(20), "if the transaction is over, another worker may call Settled at once")
			stats, err := s.Stats(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, stats.Unsettled)

			due := func() { s.exec("update prepaid.payments set hook_due = now() where hook_due is not null") }
			due()
			settleDue(t, s.Store, workers)
			require.Equal(t, first+1, failed.Load())
			require.Equal(t, "true", text(t, s.pool, "select (hook_due > now() + interval '1 second')::text from prepaid.payments where hook_due is not null"))
			broken.Store(false)
			due()
			require.Equal(t, 1, settleDue(t, s.Store, workers))
			require.Equal(t, "12", text(t, s.pool, "select count(distinct request_id)::text from books"))
			require.Equal(t, "12", text(t, s.pool, "select count(*)::text from books"))
			require.Zero(t, settleDue(t, s.Store, workers))
		})
	}
}
