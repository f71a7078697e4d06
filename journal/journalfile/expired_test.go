package journalfile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const day = 24 * time.Hour

// aged is a payment whose request id has a day this long ago.
func aged(age time.Duration) prepaid.TransferParams {
	params := payment(1)
	params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(time.Now().Add(-age)), "aged")
	params.DestinationAccountID = "2"
	return params
}

func refusing(t *testing.T) (*prepaidtest.Server, journal.Sender) {
	t.Helper()
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	return srv, srv.Client().Accounts
}

// An id that was too old from the start has an unknown outcome, since only a new id could follow. The entry always shows that this
// journal never sent it.
func TestExpiredAndNeverSent(t *testing.T) {
	t.Parallel()
	srv, client := refusing(t)
	j, m := openMemory(t, nil)
	params := aged(23 * day)
	for range 2 { // the list is run again
		_, err := j.Transfer(t.Context(), client, "1", params)
		require.ErrorIs(t, err, prepaid.ErrRequestIDExpired)
		require.ErrorIs(t, err, journal.ErrWindow)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.Zero(t, prepaid.FindMovementParams{}.Around(err).From, "the time of this run would lead FindMovement astray")
		j, m = openMemory(t, m.data)
		e, _ := j.Get(params.RequestID)
		require.Equal(t, journal.StateUnknown, e.State)
		require.Zero(t, e.Runs)
		require.Zero(t, e.Attempts)
	}
	require.Empty(t, srv.Requests())

	// A person's decision is kept in all later runs of the list.
	require.NoError(t, j.Resolve(params.RequestID, journal.NotMoved()))
	_, err := j.Transfer(t.Context(), client, "1", params)
	require.ErrorIs(t, err, prepaid.ErrRequestIDExpired)
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	j, _ = openMemory(t, m.data)
	e, _ := j.Get(params.RequestID)
	require.Equal(t, journal.StateRejected, e.State)
	require.True(t, e.Resolved)
	require.Zero(t, e.Runs)
}
