package journal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/journal"
)

// The store of the guide: what it records after each response, in each process, and that it never says "rejected" of a payment
// that an earlier process may have made.
func TestGuideStore(t *testing.T) {
	t.Parallel()
	lost, moves := harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer())
	for name, tc := range map[string]struct {
		responses []harness.Step // one for each process
		states    []journal.State
		waits     time.Duration
	}{
		"paid":                  {[]harness.Step{moves, moves}, []journal.State{done, done}, 0},
		"not connected":         {[]harness.Step{harness.Unreachable(harness.ErrCut), moves}, []journal.State{notSent, done}, 0},
		"refused":               {[]harness.Step{harness.ServiceError(404, "not_found"), moves}, []journal.State{rejected, rejected}, 0},
		"lost, 404, paid":       {[]harness.Step{lost, harness.ServiceError(404, "not_found"), moves}, []journal.State{unknown, unknown, done}, 80 * time.Second},
		"lost, 401, 403, paid":  {[]harness.Step{lost, harness.ServiceError(401, "x"), harness.ServiceError(403, "y"), moves}, []journal.State{unknown, unknown, unknown, done}, 120 * time.Second},
		"lost, refused by rule": {[]harness.Step{lost, harness.ServiceError(400, "invalid_request")}, []journal.State{unknown, rejected}, 40 * time.Second},
		"killed, 404, paid":     {[]harness.Step{nil, harness.ServiceError(404, "not_found"), moves}, []journal.State{intended, unknown, done}, 80 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rows, began := database{}, time.Now()
				params := harness.ValidTransfer()
				e, err := journal.NewEntry(digestKey, "from", params)
				require.NoError(t, err)
				require.NoError(t, rows.save(row{e, params}))
				for process, response := range tc.responses {
					r, err := rows.load(params.RequestID)
					require.NoError(t, err)
					if response == nil { // killed when the first commit was made
						r.Entry = begin(t, r.Entry, time.Now()).Entry
						require.NoError(t, rows.save(r))
					} else {
						config := harness.ClockConfig(harness.NewScript(response))
						config.Retry.MaxAttempts = 1
						_ = rows.pay(t.Context(), harness.NewClient(t, config).Accounts, params.RequestID, time.Now())
					}
					r, err = rows.load(params.RequestID)
					require.NoError(t, err)
					require.Equal(t, tc.states[process], r.Entry.State, "process %d", process)
				}
				require.Equal(t, tc.waits, time.Since(began))
			})
		})
	}
}

// What nobody can resolve by sending again is for a person, and is left alone.
func TestGuideStoreForReview(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows := database{}
		params := harness.ValidTransfer()
		params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(time.Now().AddDate(0, 0, -23)), "late")
		e, err := journal.NewEntry(digestKey, "from", params)
		require.NoError(t, err)
		require.NoError(t, rows.save(row{e, params}))
		service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
		client := harness.NewClient(t, harness.ClockConfig(service))
		require.ErrorIs(t, rows.pay(t.Context(), client.Accounts, params.RequestID, time.Now()), prepaid.ErrRequestIDExpired)
		for range 2 {
			require.ErrorIs(t, rows.pay(t.Context(), client.Accounts, params.RequestID, time.Now()), journal.ErrWindow)
		}
		r, err := rows.load(params.RequestID)
		require.NoError(t, err)
		require.Equal(t, unknown, r.Entry.State)
		require.Zero(t, r.Entry.Runs)
		require.Empty(t, service.Requests())
	})
}
