package faults

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// virtualStage is an emulator in a synctest bubble, the default settings of a client of it, and two accounts.
func virtualStage(t *testing.T) (srv *prepaidtest.Server, config prepaid.Config, from, to prepaid.AccountID) {
	t.Helper()
	srv = prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
	config = srv.Config()
	seed := func(balance string) prepaid.AccountID {
		return srv.AddAccount(prepaidtest.SeedAccount{Balance: balance})
	}
	return srv, config, seed("100.00"), seed("0.00")
}

// A RoundTripper that ignores the context may send long after AttemptTimeout, and so may a process that was frozen.
// The repeat allows for the time of the last request, too.
func TestAnAttemptThatOutlastsItsTimeout(t *testing.T) {
	t.Parallel()
	for _, attempts := range []int{1, 4} { // the repeat of the next call, and the client's own
		synctest.Test(t, func(t *testing.T) {
			service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
			var sent []time.Time
			config := harness.ClockConfig(service)
			config.AttemptTimeout, config.Retry = 0, prepaid.RetryPolicy{MaxAttempts: attempts}
			config.Transport = harness.RoundTripFunc(func(req *http.Request) (*http.Response, error) {
				if harness.IsPathRead(req) {
					return service.RoundTrip(req)
				}
				if len(sent) == 0 {
					time.Sleep(time.Minute)
				}
				if sent = append(sent, time.Now()); len(sent) == 1 {
					return nil, harness.ErrCut
				}
				return service.RoundTrip(req)
			})
			client := harness.NewClient(t, config)
			began := time.Now()
			err := harness.OpTransfer().Call(t.Context(), client)
			if attempts == 1 {
				failure := harness.CallError(t, err)
				require.Equal(t, 70*time.Second, failure.NotBefore.Sub(began))
				require.Equal(t, failure.NotBefore, client.Accounts.NotBefore(failure.LastSent), "also in a store of the caller's own")
				require.Equal(t, began, failure.FirstSent)
				err = harness.OpTransfer().Call(t.Context(), client)
			}
			require.NoError(t, err)
			require.Len(t, sent, 2)
			// The response to the first read shows that the network works when the request is up to a minute old: 62.5 s more, and InFlightWait.
			require.Equal(t, 72500*time.Millisecond, sent[1].Sub(sent[0]))
		})
	}
}

// A payment that this client has made stays applied, whatever another call with its params returns.
func TestFailureOfAPaymentThatWasMade(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]harness.Step{
		"refused": harness.ServiceError(400, "invalid_request"), "a lapsed token": harness.ServiceError(401, "x"), "cut off": harness.Broken(harness.ErrCut),
		"failed": harness.Respond(200, harness.VendorJSON, `{"transaction_id":"","correlation_id":"c"}`),
	} {
		for _, ended := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				client := onceClient(t, harness.NewScript(harness.Succeed(harness.OpTransfer()), then))
				require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if ended {
					cancel()
				}
				failure := harness.CallError(t, harness.OpTransfer().Call(ctx, client))
				require.Equal(t, prepaid.OutcomeApplied, failure.Outcome, "%s, ended %t: %v", name, ended, failure)
				require.Zero(t, failure.NotBefore)
			})
		}
	}
}

// A refusal of a repeat proves nothing if the first request could still be running when the repeat was sent; later it does.
// The repeat is sent by another process, as after a restart: it knows only when the first was sent.
func TestARefusalOfAnOverlappingRepeatSettlesNothing(t *testing.T) {
	t.Parallel()
	for _, pause := range []time.Duration{0, 11 * time.Second, 40 * time.Second, time.Hour} { // 0: AwaitRepeat
		for _, refusal := range []prepaidtest.Fault{
			prepaidtest.Respond(400, "invalid_request"),
			prepaidtest.RespondBody(200, harness.VendorJSON, `{"transaction_id":"","correlation_id":"c"}`),
		} {
			t.Run(fmt.Sprint(pause, " ", refusal), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					srv, config, from, to := virtualStage(t)
					config.Retry.MaxAttempts = 1
					params := harness.TransferTo(to, "25.50")
					srv.Inject(harness.TransferOperation, prepaidtest.DropBeforeCommit().CommitAfter(20*time.Second))
					_, err := harness.NewClient(t, config).Accounts.Transfer(t.Context(), from, params)
					first := harness.CallError(t, err)
					require.Equal(t, prepaid.OutcomeUnknown, first.Outcome)
					again := harness.NewClient(t, config)
					if pause == 0 {
						require.NoError(t, again.Accounts.AwaitRepeat(t.Context(), from, first.LastSent))
					}
					time.Sleep(pause)
					srv.Inject(harness.TransferOperation, refusal)
					_, err = again.Accounts.Transfer(t.Context(), from, params)
					require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err), "it knows of nothing before it")
					require.Equal(t, pause == 0, prepaid.ProvesNotApplied(err, first.LastSent))
					require.False(t, prepaid.ProvesNotApplied(err, time.Time{}), "not known when")
				})
			})
		}
	}
}

// The refusals that resolve an outcome, by code and by judge.
func TestRefusalCodes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refusal harness.Step
		listed  []prepaid.ErrorCode
		want    bool
	}{
		"invalid_request":           {harness.ServiceError(400, "invalid_request"), nil, true},
		"duplicate_request":         {harness.ServiceError(400, "duplicate_request"), nil, false},
		"another code":              {harness.ServiceError(400, "insufficient_funds"), nil, false},
		"a code that is listed":     {harness.ServiceError(400, "insufficient_funds"), []prepaid.ErrorCode{"insufficient_funds", "account_closed"}, true},
		"another status":            {harness.ServiceError(404, "insufficient_funds"), []prepaid.ErrorCode{"insufficient_funds"}, false},
		"not in the service's form": {harness.Respond(400, "text/html", "invalid_request"), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for _, attempts := range []int{1, 2} { // a call after the first, and within it
					config := harness.ClockConfig(harness.NewScript(harness.Broken(harness.ErrCut), tc.refusal))
					config.Retry.MaxAttempts, config.RefusalCodes = attempts, slices.Clone(tc.listed)
					client := harness.NewClient(t, config)
					config.RefusalCodes = append(config.RefusalCodes[:0], "gone")
					client = derive(t, client, prepaid.Overrides{}) // which also has those that NewClient was given
					began := time.Now()
					err := harness.OpTransfer().Call(t.Context(), client)
					if attempts == 1 {
						require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
						err = harness.OpTransfer().Call(t.Context(), client)
					}
					want := prepaid.OutcomeUnknown
					if tc.want {
						want = prepaid.OutcomeRejected
					}
					require.Equal(t, want, prepaid.OutcomeOf(err), "%v", err)
					require.Equal(t, tc.want, prepaid.ProvesNotApplied(err, began))
				}
			})
		})
	}
}

// For an error that no client made, the defaults decide.
func TestRefusalOfABuiltError(t *testing.T) {
	t.Parallel()
	sent := time.Date(2026, time.November, 20, 3, 0, 0, 0, time.UTC)
	refused := &prepaid.CallError{Outcome: prepaid.OutcomeRejected, LastSent: sent.Add(40 * time.Second), Err: prepaid.ErrTransferFailed}
	require.True(t, prepaid.ProvesNotApplied(refused, sent))
	require.False(t, prepaid.ProvesNotApplied(refused, sent.Add(1)))
	require.True(t, prepaid.ProvesNotApplied(fmt.Errorf("row 7: %w", refused), sent))
	require.False(t, prepaid.ProvesNotApplied(prepaid.ErrTransferFailed, sent), "no time of its own")
	require.False(t, prepaid.ProvesNotApplied((*prepaid.CallError)(nil), sent))
	require.False(t, prepaid.ProvesNotApplied(nil, sent))
}

// In no configuration is the wait shorter than its parts.
func TestNotBeforeHoldsForEveryConfig(t *testing.T) {
	t.Parallel()
	const longest = time.Duration(1<<63 - 1)
	sent := time.Now()
	for _, c := range []struct{ attempt, inFlight, want time.Duration }{
		{0, 0, 40 * time.Second},
		{time.Second, 0, 11 * time.Second},
		{0, time.Millisecond, 30*time.Second + time.Millisecond},
		{2 * time.Minute, time.Hour, 62 * time.Minute},
		{longest, longest, longest},
		{longest, 1, longest},
	} {
		config := harness.Config("https://cards.example")
		config.AttemptTimeout, config.Retry.InFlightWait = c.attempt, c.inFlight
		client := harness.NewClient(t, config)
		require.Equal(t, c.want, client.Accounts.NotBefore(sent).Sub(sent))
		require.Zero(t, client.Accounts.NotBefore(time.Time{}))
	}
}
