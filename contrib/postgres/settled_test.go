package prepaidpg

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/journal"
)

// settleDue calls Settled for due payments, as one Run at its end, and returns how many calls were committed.
func settleDue(t *testing.T, s *Store, w Workers) int {
	t.Helper()
	count := func() int {
		stats, err := s.Stats(t.Context())
		require.NoError(t, err)
		return stats.Unsettled
	}
	before := count()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	h := &settler{Store: s, workers: w, stopping: over.Done()}
	h.run(t.Context())
	return before - count()
}

// hooksOf pays 200 payments with a Settled that misbehaves for some of them, and returns when all others are settled.
func hooksOf(t *testing.T, misbehaves func(ctx context.Context, n int)) (s testStore, sender *teller, failed *atomic.Int64) {
	t.Helper()
	s = newStore(t)
	s.exec("create table books (request_id text)")
	ids := s.add(200)
	sender, failed = &teller{}, new(atomic.Int64)
	var calls atomic.Int64
	workers := Workers{
		Grace: time.Second,
		Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
			if n := slices.Index(ids, e.RequestID); n%70 == 0 && calls.Add(1) <= 3 {
				misbehaves(ctx, n)
			}
			return writeTestBooks(ctx, tx, e)
		},
		SettledFailed: func(journal.Entry, error) { failed.Add(1) },
	}
	pace := startPace(t)
	require.NoError(t, s.runUntil(sender, workers, s.are(journal.StateDone, ids...)))
	require.Len(t, sender.sent, len(ids), "each was sent once")
	pace.within(20 * time.Second)
	return s, sender, failed
}

// A Settled that does not return, ends its goroutine or is slow prevents neither records of outcomes nor the end of Run. Its
// transaction is rolled back, and its connection leaves the pool.
func TestSettledMisbehaves(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	defer close(hold)
	for name, misbehaves := range map[string]func(ctx context.Context, n int){
		"ignores its context": func(context.Context, int) { <-hold },
		"Goexit":              func(context.Context, int) { runtime.Goexit() },
		"slow":                func(ctx context.Context, _ int) { sleepFor(ctx, 3*time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, failed := hooksOf(t, misbehaves)
			require.NoError(t, s.runUntil(&teller{}, Workers{Settled: writeTestBooks}, func() bool {
				return text(t, s.pool, "select count(distinct request_id)::text from books") == "200"
			}))
			require.Equal(t, "200", text(t, s.pool, "select count(*)::text from books"))
			t.Log(failed.Load(), "calls failed")
			require.Eventually(t, func() bool { return s.pool.Stat().AcquiredConns() == 0 }, time.Minute, time.Millisecond)
		})
	}
}

func sleepFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// The error of a Settled that uses up its time says so.
func TestSettledThatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.add(1)
	s.exec("update prepaid.payments set hook_due = now()")
	var failed []error
	h := &settler{Store: s.Store, workers: Workers{
		Settled: func(ctx context.Context, _ pgx.Tx, _ journal.Entry) error {
			<-ctx.Done()
			return ctx.Err()
		},
		SettledFailed: func(_ journal.Entry, err error) { failed = append(failed, err) },
	}}
	_, _, err := h.settle(t.Context(), nil, 1)
	require.NoError(t, err)
	require.Len(t, failed, 1)
	require.ErrorIs(t, failed[0], errSettledLimit)
	require.ErrorIs(t, failed[0], context.DeadlineExceeded)
}

// A call that breaks its transaction is repeated later. No other worker repeats it at once: the row is locked until then.
func TestSettledThatSpoilsIsCalledLater(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.add(1)
	s.exec("update prepaid.payments set hook_due = now()")
	h := &settler{Store: s.Store, workers: Workers{Settled: func(ctx context.Context, tx pgx.Tx, _ journal.Entry) error {
		_, err := tx.Exec(ctx, "insert into nowhere values (1)")
		return err
	}}}
	before := s.pool.Stat().AcquireCount()
	_, _, err := h.settle(t.Context(), nil, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1, s.pool.Stat().AcquireCount()-before, "another transaction")
}

// Hooks that panic or end their goroutine, and a log that does, stop no call of Settled.
func TestHooksOfSettledMisbehave(t *testing.T) {
	t.Parallel()
	for name, misbehaves := range map[string]func(){"panic": func() { panic("private") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.add(1)
			s.exec("update prepaid.payments set hook_due = now()")
			options := s.options
			options.Logger = slog.New(rudeHandler(misbehaves))
			store, err := Open(t.Context(), s.pool, options)
			require.NoError(t, err)
			var calls []string
			ctx, cancel := context.WithCancel(t.Context())
			h := &settler{Store: store, workers: Workers{
				Settled: func(context.Context, pgx.Tx, journal.Entry) error { return errors.New("refused") },
				SettledFailed: func(journal.Entry, error) {
					calls = append(calls, "SettledFailed")
					misbehaves()
				},
				Trace: journal.Trace{Failed: func(error) {
					calls = append(calls, "Failed")
					cancel()
					misbehaves()
				}},
			}}
			_, _, err = h.settle(ctx, nil, 1)
			require.NoError(t, err)
			s.exec("drop table prepaid.payments cascade")
			h.run(ctx)
			require.Equal(t, []string{"SettledFailed", "Failed"}, calls)
		})
	}
}

type rudeHandler func()

func (h rudeHandler) Enabled(context.Context, slog.Level) bool { h(); return true }
func (rudeHandler) Handle(context.Context, slog.Record) error  { return nil }
func (h rudeHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h rudeHandler) WithGroup(string) slog.Handler            { return h }
