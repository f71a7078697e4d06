package journalfile

import (
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A payroll loses the response to a payment. The next run, with the list or only with the file, makes no payment twice, and sends the same
// bytes, also the further members.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	for _, resumed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true, Lenient: true})
			from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
			config := srv.Config()
			config.Retry.MaxAttempts = 1
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			defer client.Close()
			srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
			list := make([]journal.Payment, 2)
			for n := range list {
				params := payment(n)
				params.DestinationAccountID, params.Extra = to, `{"purpose":"SECRETEXTRA","a":1}`
				list[n] = journal.Payment{Account: from, Params: params}
			}
			states := func(entries iter.Seq2[journal.Entry, error]) (states []journal.State) {
				for e, err := range entries {
					require.Equal(t, e.State == journal.StateDone, prepaid.OutcomeOf(err) == prepaid.OutcomeApplied)
					states = append(states, e.State)
				}
				return states
			}
			began := time.Now()
			j, m := openSealed(t, nil)
			require.Equal(t, []journal.State{journal.StateUnknown, journal.StateDone}, states(j.PayAll(t.Context(), client.Accounts, 1, slices.Values(list))))
			require.Less(t, time.Since(began), 40*time.Second)
			require.NotContains(t, string(m.data), "SECRETEXTRA")
			j, _ = openSealed(t, m.data)
			changed := list[0].Params.(prepaid.TransferParams)
			changed.Extra = `{"purpose":"SECRETEXTRA","a":2}`
			_, err = j.Transfer(t.Context(), client.Accounts, from, changed)
			require.ErrorIs(t, err, journal.ErrChanged)
			changed.Extra = `{"a": 1, "purpose": "SECRETEXTRA"}`
			list[0].Params = changed
			if resumed {
				require.Equal(t, []journal.State{journal.StateDone}, states(j.Resume(t.Context(), client.Accounts, 1)))
			} else {
				require.Equal(t, []journal.State{journal.StateDone, journal.StateDone}, states(j.PayAll(t.Context(), client.Accounts, 1, slices.Values(list))))
			}
			require.GreaterOrEqual(t, time.Since(began), 40*time.Second)
			require.Equal(t, []string{"98.00", "2.00"}, []string{srv.Balance(from), srv.Balance(to)})
			sent := map[prepaid.RequestID][]string{}
			for _, r := range srv.Requests() {
				if r.RequestID != "" {
					sent[r.RequestID] = append(sent[r.RequestID], string(r.Body))
				}
			}
			bodies := sent[payment(0).RequestID]
			require.Len(t, bodies, 2)
			require.Equal(t, bodies[0], bodies[1])
			require.Contains(t, bodies[0], `,"a":1,"purpose":"SECRETEXTRA"}`)
		})
	}
}

// With Config.NeverRepeatLoads, a load of unknown outcome is not sent again: a person must decide. The service caches no loads.
func TestLoadIsNeverRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true, UncachedLoads: true})
		from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
		config := srv.Config()
		config.NeverRepeatLoads = true
		params := payment(1)
		params.DestinationAccountID, params.Type = to, prepaid.TransferTypeLoad
		srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
		j, m := openSealed(t, nil)
		for run := range 4 {
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			if run < 3 {
				_, err = j.Transfer(t.Context(), client.Accounts, from, params)
			} else {
				for _, failed := range j.Resume(t.Context(), client.Accounts, 1) {
					err = failed
				}
			}
			require.NoError(t, client.Close())
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
			require.Equal(t, run > 0, errors.Is(err, journal.ErrWindow))
			j, m = openSealed(t, m.data)
			e, _ := j.Get(params.RequestID)
			require.Equal(t, run > 0, e.Review == journal.ReviewTooOld)
			require.Equal(t, 1, e.Attempts)
		}
		require.Equal(t, "99.00", srv.Balance(from))
		require.NoError(t, j.Resolve(params.RequestID, journal.Moved("1")))
	})
}

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
		sent, _ := errors.AsType[*prepaid.CallError](err)
		require.Zero(t, sent.FirstSent, "the time of this run would lead FindMovement astray")
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
