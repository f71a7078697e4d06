package prepaid_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The store of the guide: what it records after each response, in each process, and that it never says "refused" of a payment
// that an earlier process may have made.
func TestGuideStore(t *testing.T) {
	t.Parallel()
	lost, moved := harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer())
	for name, tc := range map[string]struct {
		responses []harness.Step // one for each process
		states    []string
		waits     time.Duration
	}{
		"paid":                  {[]harness.Step{moved, moved}, []string{"paid", "paid"}, 0},
		"refused, then paid":    {[]harness.Step{harness.ServiceError(404, "not_found"), moved}, []string{"refused", "paid"}, 0},
		"lost, 404, paid":       {[]harness.Step{lost, harness.ServiceError(404, "not_found"), moved}, []string{"unknown", "unknown", "paid"}, 80 * time.Second},
		"lost, 401, 403, paid":  {[]harness.Step{lost, harness.ServiceError(401, "x"), harness.ServiceError(403, "y"), moved}, []string{"unknown", "unknown", "unknown", "paid"}, 120 * time.Second},
		"lost, refused by rule": {[]harness.Step{lost, harness.ServiceError(400, "invalid_request")}, []string{"unknown", "refused"}, 40 * time.Second},
		"killed, 404, paid":     {[]harness.Step{nil, harness.ServiceError(404, "not_found"), moved}, []string{"sending", "unknown", "paid"}, 80 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rows, began := database{}, time.Now()
				params := harness.ValidTransfer()
				require.NoError(t, rows.save(payment{State: "open", Source: "from", Params: params}))
				for process, response := range tc.responses {
					require.NoError(t, rows.takeOver())
					row, err := rows.load(params.RequestID)
					require.NoError(t, err)
					if response == nil { // killed when the first commit was made
						row.State = "sending"
						require.NoError(t, rows.save(row))
					} else {
						config := harness.ClockConfig(harness.NewScript(response))
						config.Retry.MaxAttempts = 1
						_ = rows.pay(t.Context(), harness.NewClient(t, config).Accounts, params.RequestID)
					}
					row, err = rows.load(params.RequestID)
					require.NoError(t, err)
					require.Equal(t, tc.states[process], row.State, "process %d", process)
					require.Equal(t, row.State == "unknown", !row.LastSent.IsZero())
				}
				require.Equal(t, tc.waits, time.Since(began))
			})
		})
	}
}

// What nobody can resolve by sending again is for a person.
func TestGuideStoreForReview(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows := database{}
		params := harness.ValidTransfer()
		require.NoError(t, rows.save(payment{State: "unknown", Source: "from", Params: params, LastSent: time.Now().AddDate(0, 0, -30)}))
		client := harness.NewClient(t, harness.ClockConfig(harness.NewScript(harness.Succeed(harness.OpTransfer()))))
		require.ErrorIs(t, rows.pay(context.Background(), client.Accounts, params.RequestID), prepaid.ErrRequestIDExpired)
		row, err := rows.load(params.RequestID)
		require.NoError(t, err)
		require.Equal(t, "review", row.State)
		require.False(t, row.LastSent.IsZero(), "where to look")
		require.NoError(t, rows.pay(context.Background(), client.Accounts, params.RequestID), "left alone")
	})
}
