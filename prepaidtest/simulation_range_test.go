package prepaidtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If the balance has no room for an amount, nothing is booked, and the response has an error.
func TestSimulation_BeyondTheRangeOfMoney(t *testing.T) {
	t.Parallel()
	const huge = "9000000000000000000"
	s := simulate(t, Options{})
	ok, _, first := s.run("advice", map[string]any{"amount": huge})
	require.True(t, ok)
	ok, message, _ := s.run("advice", map[string]any{"amount": huge})
	require.False(t, ok)
	require.Equal(t, "The balance would be out of range", message)
	ok, _, _ = s.run("reverse", map[string]any{"amount": huge, "authorization_id": first})
	require.True(t, ok)
	require.Equal(t, "100.00", s.Balance(s.id))

	_, _, authorisation := s.run("transact", nil)
	s.run("clear", map[string]any{"amount": huge})
	s.run("clear", map[string]any{"amount": huge, "authorization_id": authorisation})
	s.Advance(2 * time.Minute)
	require.Equal(t, "-8999999999999999910", s.Balance(s.id), "the first cleared, the second not")
	ok, _, _ = s.run("reverse", map[string]any{"authorization_id": authorisation})
	require.True(t, ok, "the authorisation is still open")

	ok, _, credit := s.run("transact", map[string]any{"transaction_type": "PosCredit", "amount": huge})
	require.True(t, ok)
	ok, _, _ = s.run("transact", map[string]any{"transaction_type": "PosCredit", "amount": huge})
	require.True(t, ok)
	ok, _, _ = s.run("transact", map[string]any{"transaction_type": "PosCredit", "amount": huge})
	require.False(t, ok)
	require.NotEmpty(t, credit)
}

func TestSpec_4_6_ReverseClearWithoutAClearing(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]Options{"110.00": {}, "100.00": {MatchedReversalsOnly: true}} {
		s := simulate(t, options)
		s.run("reverse_clear", map[string]any{"authorization_id": "zzz"})
		s.Advance(2 * time.Minute)
		require.Equal(t, want, s.Balance(s.id))
	}
}

// The merchant has been paid: an accepted clearing is booked in any later state of the account.
func TestSpec_4_6_AnAcceptedClearingIsBookedOnAClosedAccount(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	s.run("clear", nil)
	s.SetStatus(s.id, "closed")
	s.Advance(2 * time.Minute)
	require.Equal(t, "90.00", s.Balance(s.id))
	ok, _, _ := s.run("clear", nil)
	require.False(t, ok)
}

func TestClock_EndsAndNeverMovesBack(t *testing.T) {
	t.Parallel()
	recorder := &failures{TB: t}
	s := NewServer(recorder, Options{FrozenClock: true, StartAt: time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)})
	s.Advance(366 * 24 * time.Hour)
	at := s.Now()
	require.Equal(t, 2200, at.Year())
	s.Advance(3660 * 24 * time.Hour)
	s.Advance(-time.Hour)
	require.Len(t, recorder.messages, 2)
	require.Equal(t, at, s.Now())
	_, err := Start(Options{StartAt: time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.ErrorContains(t, err, "StartAt")
}

func TestKitRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	recorder := &failures{TB: t}
	s := NewServer(recorder, Options{})
	lost := s.AddAccount(SeedAccount{Status: "lost_or_stolen", Balance: "8000000000000000000"})
	s.ActivateThroughPortal(lost)
	require.Equal(t, "lost_or_stolen", s.Status(lost))
	s.Adjust(lost, "8000000000000000000")
	require.Equal(t, "8000000000000000000", s.Balance(lost))
	require.Len(t, recorder.messages, 2)
}
