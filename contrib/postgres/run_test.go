package prepaidpg

import (
	"context"
	"strings"
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

// When Run ends, it gives unsent payments back, and calls in progress end by themselves.
func TestRunEndsInOrder(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ids := s.add(10)
	started, release := make(chan struct{}), make(chan struct{})
	sender := &teller{reply: func(ctx context.Context, _ prepaid.RequestID, _ time.Time) error {
		close(started)
		<-release
		return ctx.Err()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	var given atomic.Int64
	go func() {
		result <- s.Run(ctx, sender, Workers{N: 1, Claim: 5, Trace: journal.Trace{GivenBack: func(_ prepaid.RequestID, why error) {
			require.ErrorContains(t, why, "Run ends")
			given.Add(1)
		}}})
	}()
	<-started
	cancel()
	time.Sleep(20 * time.Millisecond)
	close(release)
	require.NoError(t, <-result)
	require.Len(t, sender.sent, 1)
	require.Positive(t, given.Load())
	require.Equal(t, journal.StateDone, s.entry(sender.sent[0]).State)
	require.Equal(t, "0", text(t, s.pool, "select count(sends_until)::text from prepaid.payments"), "nobody holds one")
	require.Equal(t, "9", text(t, s.pool, "select count(*)::text from prepaid.payments where due <= now()"))
	for _, id := range ids {
		if id != sender.sent[0] {
			e := s.entry(id)
			require.Zero(t, e.Runs)
			require.True(t, e.Began.IsZero())
		}
	}
}

// After Grace, calls are cancelled, and their known outcomes are recorded.
func TestGrace(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	started := make(chan struct{})
	sender := &teller{rest: time.Second}
	sender.reply = func(ctx context.Context, _ prepaid.RequestID, _ time.Time) error {
		close(started)
		<-ctx.Done()
		return sender.unknownNow()
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- s.Run(ctx, sender, Workers{Grace: 50 * time.Millisecond}) }()
	<-started
	cancel()
	require.NoError(t, <-result)
	e := s.entry(id)
	require.Equal(t, journal.StateUnknown, e.State)
	require.Equal(t, 1, e.Attempts)
}

// During slow calls fewer payments wait, so that most claimed ones are sent. Payments that waited too long are given back and sent
// later.
func TestSlowCalls(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.options.CallTimeout = time.Second
	pace := startPace(t)
	ids := s.add(60)
	sender := &teller{reply: func(context.Context, prepaid.RequestID, time.Time) error {
		time.Sleep(60 * time.Millisecond)
		return nil
	}}
	var given atomic.Int64
	workers := Workers{N: 1, Claim: 60, Trace: journal.Trace{GivenBack: func(_ prepaid.RequestID, why error) {
		if strings.Contains(why.Error(), "too much of the lease") {
			given.Add(1)
		}
	}}}
	require.NoError(t, s.runUntil(sender, workers, s.are(journal.StateDone, ids...)))
	if pace.slow(s.options.CallTimeout) && (len(sender.sent) > 60 || given.Load() >= 120) {
		t.Skipf("too slow to tell: %d requests, %d given back", len(sender.sent), given.Load())
	}
	require.Len(t, sender.sent, 60, "each once")
	require.Positive(t, given.Load())
	require.Less(t, given.Load(), int64(120), "each claim would take all of them")
}

// If a worker cannot read a payment, it reports that, and others can send it.
func TestWrongKey(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	options := testOptions(t)
	var err error
	options.Seal, err = journal.NewAEAD(append(make([]byte, 31), 1))
	require.NoError(t, err)
	wrong, err := Open(t.Context(), s.pool, options)
	require.NoError(t, err)
	var given atomic.Int64
	sender := &teller{}
	require.NoError(t, testStore{wrong, t}.runUntil(sender, Workers{Trace: journal.Trace{GivenBack: func(_ prepaid.RequestID, why error) {
		require.ErrorIs(t, why, journal.ErrKey)
		given.Add(1)
	}}}, func() bool { return given.Load() > 0 }))
	require.Empty(t, sender.sent)
	require.NoError(t, s.runUntil(sender, Workers{}, s.are(journal.StateDone, id)))
}

func TestRunChecks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	err := s.Run(t.Context(), nil, Workers{N: -1, Claim: 1001, Grace: -1})
	var invalid *prepaid.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Faults, 4)
}
