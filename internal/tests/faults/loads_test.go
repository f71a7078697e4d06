package faults

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// payLoad sends a load four times: through one client, or, as after restarts, through a client for each call and with the LastSent of
// an earlier call of unknown outcome. The fault is that of the first request.
func payLoad(t *testing.T, fault prepaidtest.Fault, never, uncached, restarts bool) (errs []error, movements int) {
	t.Helper()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true, UncachedLoads: uncached})
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	params := harness.ValidTransfer()
	params.DestinationAccountID, params.Type = to, prepaid.TransferTypeLoad
	config := srv.Config()
	config.NeverRepeatLoads = never
	client := harness.NewClient(t, config)
	srv.Inject("POST /accounts/{id}/transfer", fault)
	for range 4 {
		_, err := client.Accounts.Transfer(t.Context(), from, params)
		errs = append(errs, err)
		switch outcome := prepaid.OutcomeOf(err); {
		case outcome == prepaid.OutcomeUnknown && restarts:
			params.LastSent = harness.CallError(t, err).LastSent
		case outcome == prepaid.OutcomeApplied && restarts:
			return errs, srv.Movements(params.RequestID) // the new client knows nothing of the load
		}
		if restarts {
			client = harness.NewClient(t, config)
		}
	}
	time.Sleep(time.Minute) // a delayed request ends
	return errs, srv.Movements(params.RequestID)
}

// With NeverRepeatLoads, no load is made twice by a service that caches none, and an unknown outcome stays unknown. Without it, loads
// are like other transfers: a service that caches them makes each once.
func TestLoadsAreMadeOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault prepaidtest.Fault
		first prepaid.Outcome // with NeverRepeatLoads
		made  int
	}{
		"no fault":            {prepaidtest.Fault{}, prepaid.OutcomeApplied, 1},
		"request lost":        {prepaidtest.DropBeforeCommit(), prepaid.OutcomeUnknown, 0},
		"response lost":       {prepaidtest.CommitThenDrop(), prepaid.OutcomeUnknown, 1},
		"response cut off":    {prepaidtest.Truncate(), prepaid.OutcomeUnknown, 1},
		"another media type":  {prepaidtest.SubstituteContentType("text/html"), prepaid.OutcomeUnknown, 1},
		"time-out, then paid": {prepaidtest.Delay(35 * time.Second), prepaid.OutcomeUnknown, 1},
		"502, not paid":       {prepaidtest.ProxyPage(502), prepaid.OutcomeUnknown, 0},
		"502, paid later":     {prepaidtest.ProxyPage(502).CommitAfter(5 * time.Second), prepaid.OutcomeUnknown, 1},
		"403 of a gateway":    {prepaidtest.ProxyPage(403).CommitAfter(time.Second), prepaid.OutcomeUnknown, 1},
		"500, paid":           {prepaidtest.Respond(500, "server_error").CommitAfter(time.Second), prepaid.OutcomeUnknown, 1},
		"refused":             {prepaidtest.Respond(400, "invalid_request"), prepaid.OutcomeRejected, 1},
		"429":                 {prepaidtest.TooManyRequests(0), prepaid.OutcomeApplied, 1},
		"401":                 {prepaidtest.ExpireToken(), prepaid.OutcomeApplied, 1},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					errs, movements := payLoad(t, tc.fault, true, true, restarts)
					require.Equal(t, tc.made, movements)
					require.Equal(t, tc.first, prepaid.OutcomeOf(errs[0]), "%v", errs[0])
					sent := 1
					if tc.first == prepaid.OutcomeRejected {
						require.NoError(t, errs[1])
						sent = 2
					}
					for _, err := range errs[sent:] {
						failure := harness.CallError(t, err)
						require.Equal(t, prepaid.OutcomeOf(errs[sent-1]), failure.Outcome)
						require.ErrorIs(t, err, prepaid.ErrRequestIDExpired)
						require.Zero(t, failure.Attempts)
						require.Zero(t, failure.NotBefore)
						require.Equal(t, failure.Outcome == prepaid.OutcomeUnknown, !failure.LastSent.IsZero(), "for the next process")
					}
				})
				synctest.Test(t, func(t *testing.T) {
					errs, movements := payLoad(t, tc.fault, false, false, restarts)
					require.Equal(t, 1, movements)
					require.NoError(t, errs[len(errs)-1])
				})
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		_, movements := payLoad(t, prepaidtest.CommitThenDrop(), false, true, true)
		require.Greater(t, movements, 1, "this emulator shows a repeat")
	})
}
