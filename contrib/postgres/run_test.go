package prepaidpg

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

func writeTestBooks(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
	_, err := tx.Exec(ctx, "insert into books values ($1)", e.RequestID)
	return err
}

func TestRunPaysEachOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ids := s.add(200)
	sender := &teller{}
	var first, second, sent atomic.Int64
	results := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	for _, count := range []*atomic.Int64{&first, &second} {
		go func() {
			results <- s.Run(ctx, sender, Workers{N: 5, Claim: 7, Trace: journal.Trace{
				Claimed:  func(n int) { count.Add(int64(n)) },
				Sent:     func(journal.Entry, time.Duration, error) { sent.Add(1) },
				Recorded: func(e journal.Entry) {},
			}})
		}()
	}
	require.Eventually(t, s.are(journal.StateDone, ids...), time.Minute, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-results)
	require.NoError(t, <-results)
	require.Len(t, sender.sent, 200)
	require.GreaterOrEqual(t, first.Load()+second.Load(), int64(200), "on a busy machine some are given back and claimed again")
	require.Equal(t, int64(200), sent.Load())
	e := s.entry(ids[0])
	require.Equal(t, "c", e.CorrelationID)
	require.NotEmpty(t, e.TransactionID)
	require.Equal(t, 1, e.Runs)
	require.Equal(t, "0", text(t, s.pool, "select count(sealed)::text from prepaid.payments"), "what was sent is erased")
}

// If a person must decide, the payment is never claimed again.
func TestWaitsForAPerson(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare string
		reply   error
		review  journal.Review
		sent    int
		state   journal.State
	}{
		"expired": {reply: &prepaid.CallError{Outcome: prepaid.OutcomeUnknown, Err: prepaid.ErrRequestIDExpired}, review: journal.ReviewTooOld, sent: 1, state: journal.StateUnknown},
		"reused":  {reply: &prepaid.CallError{Outcome: prepaid.OutcomeUnknown, Err: prepaid.ErrRequestIDReused}, review: journal.ReviewReused, sent: 1, state: journal.StateUnknown},
		"window": {prepare: "update prepaid.payments set state = 'unknown', began = now() - interval '30 days', runs = 1, last_sent = now(), not_before = now()",
			review: journal.ReviewTooOld, state: journal.StateUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			id := s.add(1)[0]
			if test.prepare != "" {
				s.exec(test.prepare)
			}
			sender := &teller{reply: func(context.Context, prepaid.RequestID, time.Time) error { return test.reply }}
			var settled atomic.Int64
			workers := Workers{Settled: func(_ context.Context, _ pgx.Tx, e journal.Entry) error {
				require.Equal(t, test.review, e.Review)
				settled.Add(1)
				return nil
			}}
			waits := func() bool { return s.entry(id).Review != "" }
			require.NoError(t, s.runUntil(sender, workers, waits))
			require.Equal(t, test.sent, sender.sendings(id))
			e := s.entry(id)
			require.Equal(t, test.review, e.Review)
			require.Equal(t, test.state, e.State)
			require.EqualValues(t, 1, settled.Load())
			require.Empty(t, s.claims(sender, 5))
			stats, err := s.Stats(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, stats.Waiting)
			for e, err := range s.Waiting(t.Context()) {
				require.NoError(t, err)
				require.Equal(t, id, e.RequestID)
			}
			require.NoError(t, s.in(func(tx pgx.Tx) error { return s.Resolve(t.Context(), tx, id, journal.Moved("77")) }))
			require.Equal(t, journal.StateDone, s.entry(id).State)
		})
	}
}

func TestRunChecks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.options.CallTimeout = 1
	err := s.Run(t.Context(), nil, Workers{N: -1, Claim: 1001, Grace: -1})
	var invalid *prepaid.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Faults, 5)
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
