package prepaidpg

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/journal"
)

// takeOver has another worker take a payment, as if the lease were over.
func (s testStore) takeOver(id prepaid.RequestID) *claimed {
	s.t.Helper()
	c := &claimed{term: safeLease(time.Minute, &teller{rest: time.Minute}), taken: time.Now()}
	require.NoError(s.t, c.scan(s.pool.QueryRow(s.t.Context(), s.sql.get, id)))
	s.exec(`with p as (update prepaid.payments set lease = lease + 1, state = 'unknown', due = now() + interval '1 minute',
			sends_until = now() + interval '1 minute' where request_id = $1 returning number, lease)
		insert into prepaid.history (payment, lease, event, state, attempts) select number, lease, 'begin', 'unknown', 0 from p`, id)
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), "select lease from prepaid.payments where request_id = $1", id).Scan(&c.lease))
	return c
}

// An outcome whose row is gone is reported, and holds up no other.
func TestRowIsGone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table books (request_id text)")
	ids := s.add(20)
	gone := ids[:2*recorders]
	sender := &teller{reply: func(ctx context.Context, id prepaid.RequestID, _ time.Time) error {
		if slices.Contains(gone, id) {
			_, err := s.pool.Exec(context.WithoutCancel(ctx), "delete from prepaid.payments where request_id = $1", id)
			return err
		}
		return nil
	}}
	var lost atomic.Int64
	workers := Workers{N: 4, Settled: writeTestBooks, Trace: Trace{Lost: func(journal.Entry) { lost.Add(1) }}}
	done := s.are(journal.StateDone, ids[len(gone):]...)
	require.NoError(t, s.runUntil(sender, workers, func() bool { return lost.Load() == int64(len(gone)) && done() }))
}

// A claim whose commit was lost has a number that no other claim gets: its outcome changes nothing.
func TestLostClaimIsFenced(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	stale, err := s.claim(t.Context(), &teller{rest: time.Minute}, 1, time.Now())
	require.NoError(t, err)
	s.exec("update prepaid.payments set lease = 0, state = 'queued', began = null, runs = 0, due = now(), sends_until = null")
	holder, err := s.claim(t.Context(), &teller{rest: time.Minute}, 1, time.Now())
	require.NoError(t, err)
	require.NotEqual(t, stale[0].lease, holder[0].lease)
	run, err := stale[0].entry.Begin(time.Now(), time.Time{})
	require.NoError(t, err)
	written, err := s.record(t.Context(), []*outcome{{claimed: stale[0], after: run.GiveBack(), event: eventGiveBack}}, nil)
	require.NoError(t, err)
	require.Empty(t, written)
	require.Equal(t, journal.StateIntended, s.entry(id).State)
}

// An outcome of a worker that was overtaken: only that the money moved is recorded.
func TestOvertakenWorker(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply error
		state journal.State
		end   string
	}{
		"done":     {state: journal.StateDone, end: "late:done"},
		"unknown":  {reply: (&teller{rest: time.Minute}).unknownNow(), state: journal.StateUnknown, end: "begin:unknown"},
		"rejected": {reply: rejected(), state: journal.StateUnknown, end: "begin:unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.exec("create table books (request_id text)")
			id := s.add(1)[0]
			var holder *claimed
			sender := &teller{rest: time.Minute}
			sender.reply = func(context.Context, prepaid.RequestID, time.Time) error {
				holder = s.takeOver(id)
				return test.reply
			}
			var lost atomic.Int64
			workers := Workers{Settled: writeTestBooks, Trace: Trace{Lost: func(e journal.Entry) { lost.Add(1) }}}
			require.NoError(t, s.runUntil(sender, workers, func() bool { return lost.Load() == 1 }))
			require.Equal(t, test.state, s.entry(id).State)
			require.Equal(t, "enqueue:queued begin:intended begin:unknown "+test.end, "enqueue:queued begin:intended begin:unknown "+lastOf(s.history(id)))

			// The holder of the lease finds nothing: unknown. That must not undo what is known.
			going, err := holder.entry.Begin(time.Now(), time.Time{})
			require.NoError(t, err)
			after, _ := going.End(time.Now(), nil, (&teller{rest: time.Minute}).unknownNow())
			written, err := s.record(t.Context(), []*outcome{{claimed: holder, after: after, event: eventEnd}}, nil)
			require.NoError(t, err)
			require.Equal(t, test.reply == nil, len(written) == 0)
			require.Equal(t, test.state, s.entry(id).State)
			books := "0"
			if test.reply == nil {
				books = "1"
			}
			require.Equal(t, books, text(t, s.pool, "select count(*)::text from books"))
		})
	}
}

func lastOf(history string) string {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i] == ' ' {
			return history[i+1:]
		}
	}
	return history
}

// Both workers were paid: with one transaction, as the service's cache makes sure, it is one payment; with two, a person must know.
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
				going, err := other.entry.Begin(time.Now(), time.Time{})
				require.NoError(t, err)
				after, err := going.End(time.Now(), &prepaid.TransferResult{TransactionID: known}, nil)
				require.NoError(t, err)
				_, err = s.record(t.Context(), []*outcome{{claimed: other, after: after, event: eventEnd}}, writeTestBooks)
				require.NoError(t, err)
				return nil
			}}
			var lost, alarms atomic.Int64
			workers := Workers{Settled: writeTestBooks, Trace: Trace{
				Lost: func(journal.Entry) { lost.Add(1) },
				PaidTwice: func(e journal.Entry, first prepaid.TransactionID) {
					require.Equal(t, known, first)
					require.Equal(t, prepaid.TransactionID("1"), e.TransactionID)
					alarms.Add(1)
				},
			}}
			require.NoError(t, s.runUntil(sender, workers, func() bool { return lost.Load() == 1 }))
			require.Equal(t, twice, alarms.Load() == 1)
			require.Equal(t, known, s.entry(id).TransactionID)
			require.Equal(t, "1", text(t, s.pool, "select count(*)::text from books"))
		})
	}
}

// A process that was frozen may have two outcomes of one payment to record at the same time, of which one was overtaken.
func TestTwoOutcomesOfOnePayment(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table books (request_id text)")
	id := s.add(1)[0]
	list, err := s.claim(t.Context(), &teller{rest: time.Minute}, 1, time.Now())
	require.NoError(t, err)
	var outcomes []*outcome
	for _, c := range []*claimed{list[0], s.takeOver(id)} {
		going, err := c.entry.Begin(time.Now(), time.Time{})
		require.NoError(t, err)
		after, err := going.End(time.Now(), &prepaid.TransferResult{TransactionID: "7"}, nil)
		require.NoError(t, err)
		outcomes = append(outcomes, &outcome{claimed: c, after: after, event: eventEnd})
	}
	written, err := s.record(t.Context(), outcomes, writeTestBooks)
	require.NoError(t, err)
	require.Equal(t, outcomes[1:], written)
	require.Equal(t, "1", text(t, s.pool, "select count(*)::text from books"))
	written, err = s.recorded(t.Context(), outcomes)
	require.NoError(t, err)
	require.Equal(t, outcomes[1:], written)
}

// A connection that breaks during the commit: the outcome may have been recorded. Written again, it is found.
func TestCommitOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table books (request_id text)")
	id := s.add(1)[0]
	var lost, recorded atomic.Int64
	sender := &teller{}
	var once atomic.Bool
	sender.reply = func(context.Context, prepaid.RequestID, time.Time) error {
		// As an attempt whose commit was carried out, but whose connection broke before the response.
		once.Store(true)
		s.exec(`update prepaid.payments set state = 'done', transaction_id = '1', due = null, sends_until = null, sealed = null, changed = now()`)
		return nil
	}
	workers := Workers{Settled: writeTestBooks, Trace: Trace{
		Lost: func(journal.Entry) { lost.Add(1) }, Recorded: func(journal.Entry) { recorded.Add(1) },
	}}
	require.NoError(t, s.runUntil(sender, workers, func() bool { return recorded.Load()+lost.Load() > 0 }))
	require.Zero(t, lost.Load())
	require.EqualValues(t, 1, recorded.Load())
	require.Equal(t, "0", text(t, s.pool, "select count(*)::text from books"), "the attempt that was carried out wrote it")
	require.Equal(t, journal.StateDone, s.entry(id).State)
}

// The database goes away between the response and the outcome, and comes back: the outcome is kept until then.
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
			server := pgtest.Start(t, pgtest.Options{})
			pool := server.NewPool(t)
			require.NoError(t, Migrate(t.Context(), pool, ""))
			s := openStore(t, pool)
			s.options.CallTimeout = 30 * time.Second
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
			workers := Workers{N: 5, Settled: writeTestBooks, Trace: Trace{Failed: func(error) { failures.Add(1) }}}
			require.NoError(t, s.runUntil(sender, workers, s.are(journal.StateDone, ids...)))
			<-finished
			require.Len(t, sender.sent, 20, "none was sent again")
			require.Equal(t, "20", text(t, s.pool, "select count(distinct request_id)::text from books"))
			require.Equal(t, "20", text(t, s.pool, "select count(*)::text from books"))
		})
	}
}

// Settled that fails, panics, spoils its transaction or tries to end it: the outcome is recorded, and Settled is called again.
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.exec("create table books (request_id text)")
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
			}, Trace: Trace{
				SettledFailed: func(e journal.Entry, err error) {
					require.Equal(t, ids[5], e.RequestID)
					require.Error(t, err)
					failed.Add(1)
				},
				Recorded: func(journal.Entry) { recorded.Add(1) },
			}}
			require.NoError(t, s.runUntil(&teller{}, workers, func() bool { return recorded.Load() == 12 }))
			require.True(t, s.are(journal.StateDone, ids...)())
			require.Equal(t, "11", text(t, s.pool, "select count(*)::text from books"))
			require.EqualValues(t, 1, failed.Load())
			stats, err := s.Stats(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, stats.Unsettled)

			later := &run{Store: s.Store, workers: workers}
			due := func() { s.exec("update prepaid.payments set hook_due = now() where hook_due is not null") }
			due()
			_, err = later.settleOne(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, 2, failed.Load())
			require.Equal(t, "true", text(t, s.pool, "select (hook_due > now() + interval '1 second')::text from prepaid.payments where hook_due is not null"))
			broken.Store(false)
			due()
			found, err := later.settleOne(t.Context())
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, "12", text(t, s.pool, "select count(distinct request_id)::text from books"))
			require.Equal(t, "12", text(t, s.pool, "select count(*)::text from books"))
			found, err = later.settleOne(t.Context())
			require.NoError(t, err)
			require.False(t, found)
		})
	}
}

// Run itself calls Settled again.
func TestSettledIsCalledLater(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table books (request_id text)")
	id := s.add(1)[0]
	var calls atomic.Int64
	workers := Workers{Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
		if calls.Add(1) == 1 {
			return errors.New("once")
		}
		return writeTestBooks(ctx, tx, e)
	}}
	require.NoError(t, s.runUntil(&teller{}, workers, func() bool {
		return text(t, s.pool, "select count(*)::text from books") == "1"
	}))
	require.EqualValues(t, 2, calls.Load())
	require.Equal(t, journal.StateDone, s.entry(id).State)
}

// A writer that sees what another one takes does not keep its own outcomes until the next payment has ended.
func TestWritersDoNotWaitForMore(t *testing.T) {
	t.Parallel()
	for range 20_000 {
		ended := make(chan *outcome, 1)
		ended <- &outcome{}
		var writers sync.WaitGroup
		var ready atomic.Int32
		for range 2 {
			writers.Go(func() {
				for ready.Add(1); ready.Load() < 2; { // they look at the same moment
					runtime.Gosched()
				}
				waiting(ended, nil)
			})
		}
		writers.Wait()
	}
}
