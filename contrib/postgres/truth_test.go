package prepaidpg

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// A repeatedly sent payment is unknown since its first attempt, not its last.
func TestStatsOldestUnknownIsNotTheLastSending(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.add(1)
	s.exec(`update prepaid.payments set state = 'unknown', began = now() - interval '10 hours', first_sent = now() - interval '10 hours',
		last_sent = now() - interval '1 minute', runs = 100, due = now() + interval '1 minute'`)
	stats, err := s.Stats(t.Context())
	require.NoError(t, err)
	require.Greater(t, stats.OldestUnknown, 9*time.Hour)
}

// A payment that was claimed and given back still waits for its first attempt.
func TestStatsOldestQueuedCountsWhatWasGivenBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	s.exec(`update prepaid.payments set changed = now() - interval '5 hours'`)
	var given atomic.Int32
	require.NoError(t, s.runUntil(&teller{reply: func(context.Context, prepaid.RequestID, time.Time) error { return notProcessed() }},
		Workers{Trace: journal.Trace{Sent: func(journal.Entry, time.Duration, error) { given.Add(1) }}}, func() bool { return given.Load() > 0 }))
	require.Equal(t, journal.StateNotSent, s.entry(id).State)
	stats, err := s.Stats(t.Context())
	require.NoError(t, err)
	t.Logf("%+v", stats)
	require.NotZero(t, stats.OldestQueued)
}

// enqueueOld adds a payment whose request ID is too old for Enqueue.
func (s testStore) enqueueOld(params prepaid.TransferParams) {
	e, err := journal.NewEntry(s.options.DigestKey, "EA1", params)
	require.NoError(s.t, err)
	sealed, err := e.Seal(s.options.Seal, params)
	require.NoError(s.t, err)
	s.exec(`insert into prepaid.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due)
		values ($1, $2, $3, $4::text::numeric, decode($5, 'hex'), decode($6, 'hex'), $7, 'queued', now())`, e.RequestID, e.Operation, e.AccountID, e.Amount.String(), e.Destination, e.Params, sealed)
}

// When the request ID of an unreadable payment becomes too old, a person must decide.
func TestUnreadablePaymentIsForAPersonWhenTooOld(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	params := transfer("old")
	params.RequestID = "20260901-7064-8000-8000-000000000001"
	s.enqueueOld(params)
	other, err := journal.NewAEAD(append(make([]byte, 31), 1))
	require.NoError(t, err)
	s.options.Seal = other
	require.NoError(t, s.runUntil(&teller{}, Workers{}, s.are(journal.StateUnknown, params.RequestID)))
	stats, err := s.Stats(t.Context())
	require.NoError(t, err)
	t.Logf("%+v", stats)
	require.Equal(t, 1, stats.Waiting)
}

// At most 100 faults are reported.
func TestBatchFaultsAreBounded(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var list, other []journal.Payment
	for i := range 500 {
		p := transfer(string(rune('a'+i%26)) + time.Duration(i).String())
		list = append(list, journal.Payment{Account: "EA1", Params: p})
		p.Amount = prepaid.Cents(1)
		other = append(other, journal.Payment{Account: "EA1", Params: p})
	}
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		_, err := s.EnqueueBatch(t.Context(), tx, each(list...))
		return err
	}))
	err := s.in(func(tx pgx.Tx) error {
		_, err := s.EnqueueBatch(t.Context(), tx, each(other...))
		return err
	})
	refused, ok := errors.AsType[*BatchError](err)
	require.True(t, ok)
	require.LessOrEqual(t, len(refused.Faults), 100)
}
