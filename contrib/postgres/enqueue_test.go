package prepaidpg

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

func TestEnqueueIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	params := transfer("a")
	err := s.in(func(tx pgx.Tx) error {
		require.NoError(t, s.Enqueue(t.Context(), tx, "EA1", params))
		return errors.New("rolled back")
	})
	require.EqualError(t, err, "rolled back")
	_, err = s.Get(t.Context(), params.RequestID)
	require.ErrorIs(t, err, journal.ErrNoPayment)

	s.enqueue(params)
	e := s.entry(params.RequestID)
	require.Equal(t, journal.StateQueued, e.State)
	require.Equal(t, prepaid.AccountID("EA1"), e.AccountID)
	require.Equal(t, params.Amount, e.Amount)
	require.Equal(t, "Accounts.Transfer", e.Operation)
	require.Zero(t, e.Runs)
	require.True(t, e.Began.IsZero())
	require.WithinDuration(t, time.Now(), e.Changed, time.Minute)
	require.Equal(t, "enqueue:queued", s.history(params.RequestID))
}

func TestEnqueueAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := transfer("a")
	s.enqueue(first, first)
	s.enqueue(first)
	require.Equal(t, "enqueue:queued", s.history(first.RequestID))

	for _, test := range []struct {
		field   string
		account prepaid.AccountID
		change  func(p *prepaid.TransferParams)
	}{
		{"account_id", "EA9", func(*prepaid.TransferParams) {}},
		{"amount", "EA1", func(p *prepaid.TransferParams) { p.Amount = prepaid.Cents(1001) }},
		{"destination", "EA1", func(p *prepaid.TransferParams) { p.DestinationAccountID = "EA3" }},
		{"params", "EA1", func(p *prepaid.TransferParams) { p.SourceReference = "OTHER" }},
	} {
		other := first
		test.change(&other)
		require.NoError(t, s.in(func(tx pgx.Tx) error {
			err := s.Enqueue(t.Context(), tx, test.account, other)
			changed, ok := errors.AsType[*journal.ChangedError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, []string{test.field}, changed.Fields)
			require.Equal(t, journal.StateQueued, changed.State)
			require.ErrorIs(t, err, prepaid.ErrRequestIDReused)
			return s.Enqueue(t.Context(), tx, "EA1", transfer("in the same transaction "+test.field))
		}))
	}
	err := s.in(func(tx pgx.Tx) error {
		a, b := transfer("twice in one"), transfer("twice in one")
		b.Amount = prepaid.Cents(2)
		require.NoError(t, s.Enqueue(t.Context(), tx, "EA1", a))
		return s.Enqueue(t.Context(), tx, "EA1", b)
	})
	require.ErrorIs(t, err, journal.ErrChanged)
}

// Enqueueing a settled payment again, even an archived one, does not make it due.
func TestEnqueueAgainHasNoEffectInAnyState(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	params := transfer("a")
	s.enqueue(params)
	sender := &teller{reply: func(_ context.Context, _ prepaid.RequestID, _ time.Time) error { return rejected() }}
	require.NoError(t, s.runUntil(sender, Workers{}, s.are(journal.StateRejected, params.RequestID)))
	s.enqueue(params)
	require.Equal(t, journal.StateRejected, s.entry(params.RequestID).State)
	require.NoError(t, s.in(func(tx pgx.Tx) error { return s.Withdraw(t.Context(), tx, params.RequestID) }))
	s.enqueue(params)
	require.Equal(t, journal.StateWithdrawn, s.entry(params.RequestID).State)

	s.exec(`insert into prepaid.archive (number, request_id, operation, account_id, amount, destination, params, state, changed, attempts, runs, resolved)
		select number, request_id, operation, account_id, amount, destination, params, state, changed, attempts, runs, resolved from prepaid.payments`)
	s.exec("delete from prepaid.payments")
	s.enqueue(params)
	require.Equal(t, journal.StateWithdrawn, s.entry(params.RequestID).State)
	other := params
	other.Amount = prepaid.Cents(5)
	require.ErrorIs(t, s.in(func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, "EA1", other) }), journal.ErrChanged)
}

// Two transactions at the same time: the second one waits for the first.
func TestEnqueueAtTheSameTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		commit  bool
		amount  int64
		changed bool
		level   pgx.TxIsoLevel
	}{
		"same":         {commit: true, amount: 1000},
		"serializable": {commit: true, amount: 1000, level: pgx.Serializable},
		"other":        {commit: true, amount: 7, changed: true},
		"rolled back":  {amount: 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			params := transfer("a")
			tx, err := s.pool.Begin(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Enqueue(t.Context(), tx, "EA1", params))

			second := params
			second.Amount = prepaid.Cents(test.amount)
			result := make(chan error, 1)
			go func() {
				add := func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, "EA1", second) }
				err := pgx.BeginTxFunc(t.Context(), s.pool, pgx.TxOptions{IsoLevel: test.level}, add)
				if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Code == "40001" {
					err = s.in(add)
				}
				result <- err
			}()
			require.Eventually(t, func() bool {
				var waiting bool
				err := s.pool.QueryRow(t.Context(), "select exists (select from pg_stat_activity where wait_event = 'transactionid' and datname = current_database())").Scan(&waiting)
				return err == nil && waiting
			}, time.Minute, 5*time.Millisecond, "it waits")
			if test.commit {
				require.NoError(t, tx.Commit(t.Context()))
			} else {
				require.NoError(t, tx.Rollback(t.Context()))
			}
			err = <-result
			if test.changed {
				require.ErrorIs(t, err, journal.ErrChanged)
				return
			}
			require.NoError(t, err)
			require.Equal(t, second.Amount, s.entry(params.RequestID).Amount)
		})
	}
}

func TestEnqueueChecks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	try := func(account prepaid.AccountID, params prepaid.PaymentParams) error {
		return s.in(func(tx pgx.Tx) error {
			err := s.Enqueue(t.Context(), tx, account, params)
			require.NoError(t, tx.QueryRow(t.Context(), "select 1").Scan(nil), "the transaction can continue")
			return err
		})
	}
	bad := transfer("a")
	bad.Amount, bad.SourceReference = prepaid.Amount{}, ""
	for _, account := range []prepaid.AccountID{"", "..", "a/b", "a\nb", "a\xff"} {
		invalid, ok := errors.AsType[*prepaid.ValidationError](try(account, bad))
		require.True(t, ok)
		require.Len(t, invalid.Faults, 3, "account, amount and reference")
	}
	_, ok := errors.AsType[*prepaid.ValidationError](try("EA1", nil))
	require.True(t, ok)

	for days, expired := range map[int]bool{-23: true, -21: false, 0: false, 6: false, 8: true} {
		params := transfer("a")
		params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(time.Now().UTC().AddDate(0, 0, days)), "test", "a")
		err := try("EA1", params)
		require.Equal(t, expired, errors.Is(err, prepaid.ErrRequestIDExpired), "%d: %v", days, err)
		require.Equal(t, expired, err != nil)
	}
	own := transfer("a")
	own.RequestID = "an ID of one's own"
	require.NoError(t, try("EA1", own))
	own.RequestID = "a\xff"
	_, ok = errors.AsType[*prepaid.ValidationError](try("EA1", own))
	require.True(t, ok)
}

// A payment that was sent without the store has an unknown outcome.
func TestEnqueueTakesOverWhatWasSentElsewhere(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	params := transfer("a")
	sent := time.Now().Add(-time.Hour)
	params.LastSent = sent
	s.enqueue(params)
	e := s.entry(params.RequestID)
	require.Equal(t, journal.StateUnknown, e.State)
	for _, at := range []time.Time{e.Began, e.LastSent, e.NotBefore} {
		require.WithinDuration(t, sent, at, time.Minute)
	}
	sender := &teller{reply: func(_ context.Context, _ prepaid.RequestID, lastSent time.Time) error {
		require.WithinDuration(t, sent, lastSent, time.Minute)
		return nil
	}}
	require.NoError(t, s.runUntil(sender, Workers{}, s.are(journal.StateDone, params.RequestID)))
	require.Equal(t, "enqueue:unknown begin:unknown end:done", s.history(params.RequestID))
}

// A payment that was sent a moment ago is as old as that, however old the transaction is in which it is enqueued: a repeat must not be early.
func TestEnqueueInAnOldTransaction(t *testing.T) {
	t.Parallel()
	s, params := newStore(t), transfer("a")
	require.NoError(t, pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "select pg_sleep(0.2)")
		require.NoError(t, err)
		params.LastSent = time.Now()
		return s.Enqueue(t.Context(), tx, "payer", params)
	}))
	require.False(t, s.entry(params.RequestID).LastSent.Before(params.LastSent.Truncate(time.Microsecond)))
	require.False(t, s.entry(params.RequestID).FirstSent.IsZero())
}
