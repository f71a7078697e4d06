package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
)

// sender has a rest of 40 s and keeps the params.
type sender struct {
	journal.Sender

	sent    []prepaid.PaymentParams
	awaited []time.Time
	first   time.Time // when the request can have been sent at the earliest
}

func (s *sender) NotBefore(lastSent time.Time) time.Time { return lastSent.Add(40 * time.Second) }

func (s *sender) AwaitRepeat(ctx context.Context, _ prepaid.AccountID, lastSent time.Time) error {
	s.awaited, s.first = append(s.awaited, lastSent), liveness.First(ctx, lastSent)
	return pause.For(ctx, time.Until(s.NotBefore(lastSent)))
}

func (s *sender) Transfer(ctx context.Context, account prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	s.sent, s.first = append(s.sent, p), liveness.First(ctx, p.LastSent)
	return &prepaid.TransferResult{TransactionID: "7", CorrelationID: string(account), RequestID: p.RequestID}, nil
}

func (s *sender) DirectEntryOut(_ context.Context, account prepaid.AccountID, p prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	s.sent = append(s.sent, p)
	return &prepaid.TransferResult{TransactionID: "8", CorrelationID: string(account), RequestID: p.RequestID}, nil
}

var (
	at     = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	errCut = errors.New("cut off")
)

func begin(t *testing.T, e journal.Entry, now time.Time) journal.Run {
	t.Helper()
	run, err := e.Begin(now)
	require.NoError(t, err)
	return run
}

// end ends a run with an error.
func end(t *testing.T, e journal.Entry, now time.Time, failure error) journal.Entry {
	t.Helper()
	e, err := begin(t, e, now).End(now, nil, failure)
	require.ErrorIs(t, err, failure)
	return e
}

func failed(outcome prepaid.Outcome, cause error) error {
	return &prepaid.CallError{Outcome: outcome, Err: cause}
}

// The longer of the sender's own wait and the recorded one counts. If the attempt had more time than this sender's attempts, only a
// response to a request that was sent after that time counts.
func TestAwaitCountsFromTheEndOfALongerAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for rest, want := range map[time.Duration]time.Duration{
			time.Second: 40 * time.Second, 40 * time.Second: 40 * time.Second, 10 * time.Minute: 10 * time.Minute,
		} {
			e := end(t, entry(t, canaryTransfer()), now, &prepaid.CallError{
				Outcome: prepaid.OutcomeUnknown, Attempts: 1, FirstSent: now, LastSent: now, NotBefore: now.Add(rest), Err: errCut,
			})
			s := new(sender)
			require.NoError(t, e.Await(t.Context(), s))
			require.Equal(t, want, time.Since(now))
			require.Len(t, s.awaited, 1)
			require.WithinDuration(t, now.Add(want-40*time.Second), s.awaited[0], 0)
			now = time.Now()
		}
	})
}

// A payment of a store with a queue, from order to end.
func TestRunOfAQueuedPayment(t *testing.T) {
	t.Parallel()
	for _, params := range []prepaid.PaymentParams{canaryTransfer(), canaryDirectEntry()} {
		queued := entry(t, params)
		require.Equal(t, journal.StateQueued, queued.State)
		require.Zero(t, queued.Began)
		require.Zero(t, queued.Earliest(&sender{}, at))
		run := begin(t, queued, at)
		require.Equal(t, queued, run.Before)
		intent := queued
		intent.State, intent.Began, intent.Changed, intent.Runs = journal.StateIntended, at, at, 1
		require.Equal(t, intent, run.Entry)
		require.Zero(t, run.LastSent)
		s := &sender{}
		result, err := run.Send(t.Context(), s, params)
		require.NoError(t, err)
		require.Equal(t, []prepaid.PaymentParams{params}, s.sent)
		after, err := run.End(at.Add(time.Second), result, nil)
		require.NoError(t, err)
		want := intent
		want.State, want.Changed, want.TransactionID, want.CorrelationID = journal.StateDone, at.Add(time.Second), result.TransactionID, "payer"
		require.Equal(t, want, after)
		_, err = after.Begin(at)
		require.ErrorIs(t, err, journal.ErrState)
		require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err))
	}
}

// The holder of a lease died: its last request counts as sent at the end of the lease.
func TestRunAfterTheHolderDied(t *testing.T) {
	t.Parallel()
	heldUntil := at.Add(time.Minute)
	now := at.Add(time.Hour)
	intent := begin(t, entry(t, canaryTransfer()), at).Entry
	require.Equal(t, at.Add(40*time.Second), intent.Earliest(&sender{}, now), "if it could send only until then")
	died := intent.Died(heldUntil, time.Minute)
	require.Equal(t, heldUntil.Add(time.Minute), died.Earliest(&sender{}, now), "its own rest was longer")
	require.Equal(t, heldUntil.Add(40*time.Second), intent.Died(heldUntil, time.Second).Earliest(&sender{}, now))
	for _, tc := range []struct {
		died     journal.Entry
		lastSent time.Time
	}{{died, heldUntil}, {intent, at}, {intent.Died(now.Add(time.Hour), 0), now}} { // the last by a clock ahead
		run, err := tc.died.Begin(now)
		require.NoError(t, err)
		require.Equal(t, journal.StateUnknown, run.Entry.State)
		require.Equal(t, 2, run.Entry.Runs)
		require.Equal(t, at, run.Entry.Began)
		require.Equal(t, tc.lastSent, run.LastSent)
		s := &sender{}
		params := canaryTransfer()
		_, err = run.Send(t.Context(), s, params)
		require.NoError(t, err)
		params.LastSent = tc.lastSent
		require.Equal(t, []prepaid.PaymentParams{params}, s.sent)
		require.Equal(t, at, s.first, "the request can be as old as the intent")
	}
	s := &sender{}
	require.NoError(t, died.Await(t.Context(), s))
	require.Equal(t, []time.Time{heldUntil.Add(20 * time.Second)}, s.awaited)
	require.Equal(t, at, s.first)
	// A run that ended reports its times: those of the earlier run no longer count.
	run, err := died.Begin(now)
	require.NoError(t, err)
	ended, err := run.End(now, nil, &prepaid.CallError{LastSent: now, NotBefore: now.Add(time.Minute), Attempts: 1, Err: errCut})
	require.ErrorIs(t, err, errCut)
	require.Equal(t, now.Add(time.Minute), ended.Earliest(&sender{}, now))
	again, err := ended.Begin(now.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, now, again.LastSent)
	// The caller's own LastSent counts if it is later.
	params := canaryDirectEntry()
	params.LastSent = now.Add(time.Second)
	s = &sender{}
	_, err = again.Send(t.Context(), s, params)
	require.NoError(t, err)
	require.Equal(t, []prepaid.PaymentParams{params}, s.sent)
}

func TestGiveBack(t *testing.T) {
	t.Parallel()
	queued := entry(t, canaryTransfer())
	want := queued
	want.State = journal.StateNotSent
	require.Equal(t, want, begin(t, queued, at).GiveBack())
	unknown := end(t, queued, at, &prepaid.CallError{LastSent: at, NotBefore: at.Add(time.Minute), Attempts: 1, Err: errCut})
	require.Equal(t, unknown, begin(t, unknown, at.Add(time.Hour)).GiveBack(), "with its times")
	died := begin(t, queued, at).Entry
	want = died
	want.State = journal.StateUnknown
	require.Equal(t, want, begin(t, died, at.Add(time.Hour)).GiveBack(), "and it counts from the run of the dead")
	rejected := end(t, queued, at, failed(prepaid.OutcomeRejected, errCut))
	want = rejected
	want.State = journal.StateNotSent
	require.Equal(t, want, begin(t, rejected, at).GiveBack())
}

// Errors for a person, as a store keeps them, and the person's options.
func TestNeedsPerson(t *testing.T) {
	t.Parallel()
	now := at.Add(time.Hour)
	queued := entry(t, canaryTransfer())
	died := begin(t, queued, at).Entry
	for name, tc := range map[string]struct {
		before journal.Entry
		err    error
		state  journal.State
		want   error
	}{
		"cut off":              {queued, failed(prepaid.OutcomeUnknown, errCut), unknown, nil},
		"refused":              {queued, failed(prepaid.OutcomeRejected, errCut), rejected, nil},
		"too old":              {queued, failed(prepaid.OutcomeUnknown, prepaid.ErrRequestIDExpired), unknown, journal.ErrWindow},
		"too old, sent before": {died, failed(prepaid.OutcomeUnknown, prepaid.ErrRequestIDExpired), unknown, journal.ErrWindow},
		"reused":               {queued, failed(prepaid.OutcomeRejected, prepaid.ErrRequestIDReused), rejected, prepaid.ErrRequestIDReused},
		"reused, sent before":  {died, failed(prepaid.OutcomeUnknown, prepaid.ErrRequestIDReused), unknown, prepaid.ErrRequestIDReused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := end(t, tc.before, now, tc.err)
			data, err := json.Marshal(e)
			require.NoError(t, err)
			var stored journal.Entry
			require.NoError(t, json.Unmarshal(data, &stored))
			require.Equal(t, e, stored)
			require.Equal(t, tc.state, stored.State)
			require.Equal(t, tc.want, stored.NeedsPerson(now))
			decided, err := stored.Resolve(now, journal.NotMoved())
			if tc.state == rejected {
				require.ErrorIs(t, err, journal.ErrNotUnknown)
				decided, err = stored.Retry(now)
			}
			require.NoError(t, err)
			require.NoError(t, decided.NeedsPerson(now))
			if tc.want != nil {
				require.NoError(t, begin(t, stored, now).Entry.NeedsPerson(now), "a person's call counts")
			}
		})
	}
	require.NoError(t, died.NeedsPerson(at.Add(journal.Window)))
	late := at.Add(journal.Window + 1)
	require.Equal(t, journal.ErrWindow, died.NeedsPerson(late))
	_, err := died.Begin(late)
	require.ErrorIs(t, err, journal.ErrWindow)
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
	notSent := end(t, queued, at, failed(prepaid.OutcomeNotProcessed, errCut))
	require.NoError(t, notSent.NeedsPerson(late), "nothing is unknown")
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(notSent.NotSent(&sender{}, errCut)))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(died.NotSent(&sender{}, errCut)))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(notSent.NotSent(&sender{}, journal.ErrWindow)))
	begin(t, notSent, late)
}

// A payment that a person has resolved rests before it is sent again, even if it was withdrawn and retried in between.
func TestDecisions(t *testing.T) {
	t.Parallel()
	e := entry(t, canaryTransfer())
	e.Sealed = []byte("sealed")
	unknown := end(t, e, at, &prepaid.CallError{LastSent: at, NotBefore: at.Add(time.Minute), Attempts: 1, Err: errCut})
	for _, event := range []func(time.Time) (journal.Entry, error){unknown.Withdraw, unknown.Retry} {
		same, err := event(at)
		require.ErrorIs(t, err, journal.ErrState)
		require.NotErrorIs(t, err, journal.ErrWithdrawn)
		require.Equal(t, unknown, same)
	}
	rejected, err := unknown.Resolve(at.Add(time.Second), journal.NotMoved())
	require.NoError(t, err)
	require.True(t, rejected.Resolved)
	withdrawn, err := rejected.Withdraw(at.Add(2 * time.Second))
	require.NoError(t, err)
	require.Equal(t, journal.StateWithdrawn, withdrawn.State)
	require.Nil(t, withdrawn.Sealed)
	_, err = withdrawn.Begin(at)
	require.ErrorIs(t, err, journal.ErrWithdrawn)
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	_, err = withdrawn.Withdraw(at)
	require.EqualError(t, err, "journal: withdraw: not possible, the payment is withdrawn")
	for _, e := range []journal.Entry{rejected, withdrawn} {
		due, err := e.Retry(at.Add(3 * time.Second))
		require.NoError(t, err)
		require.Equal(t, journal.StateNotSent, due.State)
		require.Equal(t, at.Add(3*time.Second), due.Changed)
		require.Equal(t, at.Add(time.Minute), due.Earliest(&sender{}, at.Add(3*time.Second)))
		run := begin(t, due, at.Add(time.Minute))
		require.Zero(t, run.LastSent, "a person's word is proof")
		require.False(t, run.Entry.Resolved)
		require.Zero(t, run.Entry.NotBefore)
		again, err := run.End(at.Add(time.Minute), nil, failed(prepaid.OutcomeUnknown, prepaid.ErrRequestIDExpired))
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err), "this run sent nothing")
		require.Equal(t, journal.StateRejected, again.State)
		require.True(t, again.Resolved)
		require.Equal(t, 1, again.Runs)
	}
	done, err := unknown.Resolve(at, journal.Moved("7"))
	require.NoError(t, err)
	require.Nil(t, done.Sealed)
	require.Zero(t, done.NotBefore)
	require.Zero(t, done.Earliest(&sender{}, at))
	for field, resolution := range map[string]journal.Resolution{"resolution": {}, "transaction_id": journal.Moved("")} {
		_, err := unknown.Resolve(at, resolution)
		invalid, ok := errors.AsType[*prepaid.ValidationError](err)
		require.True(t, ok)
		require.Equal(t, field, invalid.Faults[0].Field)
	}
}

// The outcome of a request ID that is too old is unknown, even if this store never sent it, since only a new ID could follow. The error
// has the times of the runs that may have sent the payment, for FindMovement.
func TestExpired(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := at.Add(20 * day)
	named := func(ago time.Duration) journal.Entry {
		params := canaryTransfer()
		params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(now.Add(-ago)), "expired")
		return entry(t, params)
	}
	old := named(23 * day)
	for name, tc := range map[string]struct {
		before   journal.Entry
		attempts int // of the run that is refused
		runs     int
		want     error
		sent     time.Time // for FindMovement
	}{
		"never sent":           {old, 0, 0, journal.ErrWindow, time.Time{}},
		"sent by this run":     {old, 1, 1, journal.ErrWindow, now},
		"died":                 {begin(t, old, at).Entry, 0, 1, journal.ErrWindow, at},
		"unknown":              {end(t, old, at, errCut), 0, 1, journal.ErrWindow, at},
		"not sent":             {end(t, old, at, failed(prepaid.OutcomeNotProcessed, errCut)), 0, 1, journal.ErrWindow, time.Time{}},
		"an ID too far ahead ": {named(-9 * day), 0, 0, nil, time.Time{}},
		"a load of tomorrow":   {named(-day), 0, 0, journal.ErrWindow, time.Time{}}, // with Config.NeverRepeatLoads
	} {
		failure := &prepaid.CallError{Attempts: tc.attempts, Err: prepaid.ErrRequestIDExpired}
		if tc.attempts > 0 {
			failure.FirstSent, failure.LastSent = now, now
		}
		e, err := begin(t, tc.before, now).End(now, nil, failure)
		require.ErrorIs(t, err, prepaid.ErrRequestIDExpired, name)
		require.Equal(t, tc.want != nil, errors.Is(err, journal.ErrWindow), name)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), name)
		sent, _ := errors.AsType[*prepaid.CallError](err)
		query := prepaid.FindMovementParams{}.Between(sent.FirstSent, sent.LastSent)
		require.Equal(t, tc.sent.IsZero(), query.From.IsZero(), name)
		if !tc.sent.IsZero() {
			require.WithinRange(t, tc.sent, query.From, query.To, name)
			require.True(t, query.To.Before(tc.sent.Add(day)), name)
		}
		require.Equal(t, unknown, e.State, name)
		require.Equal(t, tc.runs, e.Runs, name)
		require.Equal(t, tc.attempts > 0, !e.FirstSent.IsZero(), "%s: a guess is not recorded", name)
		require.Equal(t, tc.want, e.NeedsPerson(now), name)
	}
}

// A run without reported attempts (in a wrapper, after a panic) may have sent until its end: the next run rests from then on, not from
// the time of an earlier run.
func TestRestAfterAnErrorWithoutTimes(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"an error of its own": errors.New("gateway: no reply"), "nothing": nil} {
		e, _ := begin(t, entry(t, canaryTransfer()), at).End(at.Add(time.Second), nil, &prepaid.CallError{
			Outcome: prepaid.OutcomeUnknown, Attempts: 1, FirstSent: at, LastSent: at, NotBefore: at.Add(40 * time.Second),
		})
		require.Equal(t, unknown, e.State, name)
		second := at.Add(time.Hour)
		ended := second.Add(30 * time.Second)
		e, _ = begin(t, e, second).End(ended, nil, err)
		require.Equal(t, unknown, e.State, name)
		require.False(t, e.Earliest(&sender{}, ended).Before(ended.Add(40*time.Second)), name)
		require.False(t, begin(t, e, ended.Add(time.Minute)).LastSent.Before(ended), "%s: LastSent for the client", name)
	}
}

func TestMovement(t *testing.T) {
	t.Parallel()
	params := canaryTransfer()
	params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(at), "movement")
	own, elsewhere := params, params
	own.RequestID, elsewhere.LastSent = "own-7", at.Add(time.Hour)
	queued, later := entry(t, params), at.Add(time.Hour)
	died := begin(t, queued, at).Entry
	result := &prepaid.TransferResult{TransactionID: "7"}
	done, err := begin(t, queued, at).End(later, result, nil)
	require.NoError(t, err)
	lost, err := begin(t, queued, at).End(later, nil, &prepaid.CallError{
		Outcome: prepaid.OutcomeUnknown, Attempts: 2, FirstSent: at.Add(time.Second), LastSent: later, NotBefore: later.Add(time.Minute), Err: errCut,
	})
	require.ErrorIs(t, err, errCut)
	midnight := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		e           journal.Entry
		first, last time.Time
	}{
		"never sent":           {queued, midnight.AddDate(0, 0, -7), midnight.AddDate(0, 0, 22)},
		"never sent, other ID": {entry(t, own), time.Time{}, time.Time{}},
		"running":              {died, at, later.Add(time.Minute)},
		"died":                 {died.Died(later, 40*time.Second), at, later},
		"unknown":              {lost, at, later},
		"done":                 {done, at, later},
		"sent elsewhere":       {entry(t, elsewhere), midnight.AddDate(0, 0, -7), later},
	} {
		want := prepaid.FindMovementParams{AccountID: tc.e.AccountID, Amount: params.Amount}.Between(tc.first, tc.last)
		got := tc.e.Movement(later.Add(time.Minute))
		require.WithinDuration(t, want.From, got.From, 0, name)
		require.WithinDuration(t, want.To, got.To, 0, name)
		want.From, want.To = got.From, got.To
		require.Equal(t, want, got, name)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	recorded := entry(t, canaryTransfer())
	recorded.State = journal.StateDone
	require.NoError(t, recorded.Match(entry(t, canaryTransfer())))
	params := canaryTransfer()
	params.Amount, params.DestinationAccountID = prepaid.Cents(1), "mine"
	require.Equal(t, &journal.ChangedError{Fields: []string{"amount", "destination"}, State: journal.StateDone}, recorded.Match(entry(t, params)))
}
