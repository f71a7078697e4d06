package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// payAs makes a payment, as a process does that knows when it was last sent.
func payAs(t *testing.T, client *prepaid.Client, lastSent time.Time, directEntry bool) error {
	t.Helper()
	if directEntry {
		params := harness.ValidDirectEntry()
		params.LastSent = lastSent
		_, err := client.Accounts.DirectEntryOut(t.Context(), "acc-1", params)
		return err
	}
	params := harness.ValidTransfer()
	params.LastSent = lastSent
	_, err := client.Accounts.Transfer(t.Context(), "acc-1", params)
	return err
}

// The next call of the client, and with LastSent a new process, report a payment of unknown outcome in the same way. Only a success, or a
// refusal that proves that the first attempt moved nothing, resolves it.
func TestUnknownOutcomeOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	moved := harness.Respond(200, harness.VendorJSON, `{"transaction_id":"7","correlation_id":"c"}`)
	for name, tc := range map[string]struct {
		second harness.Step
		want   prepaid.Outcome
		// direct entries have no documented failure
		direct prepaid.Outcome
	}{
		"success":             {moved, prepaid.OutcomeApplied, prepaid.OutcomeApplied},
		"failed transfer":     {harness.Respond(200, harness.VendorJSON, `{"transaction_id":"","correlation_id":"c"}`), prepaid.OutcomeRejected, prepaid.OutcomeUnknown},
		"the service's 400":   {harness.ServiceError(400, "invalid_request"), prepaid.OutcomeRejected, prepaid.OutcomeRejected},
		"400, another code":   {harness.ServiceError(400, "duplicate_request"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"a gateway's 400":     {harness.Respond(400, "application/json", `{"error":"invalid_request"}`), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"403":                 {harness.ServiceError(403, "forbidden"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"404":                 {harness.ServiceError(404, "not_found"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"409":                 {harness.ServiceError(409, "conflict"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"401":                 {harness.ServiceError(401, "invalid_token"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"429":                 {harness.ServiceError(429, "rate_limited", "Retry-After: 99"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"no connection":       {harness.Unreachable(syscall.ECONNREFUSED), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"cut off":             {harness.Broken(harness.ErrCut), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"timed out":           {harness.After(time.Minute, moved), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"503":                 {harness.Respond(503, "", ""), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"500 of the service":  {harness.ServiceError(500, "server_error"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
		"an unusable success": {harness.Respond(200, "text/html", "<html>"), prepaid.OutcomeUnknown, prepaid.OutcomeUnknown},
	} {
		for i := range 4 {
			direct, restarts := i%2 == 1, i > 1
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					service := harness.NewScript(harness.Broken(harness.ErrCut), tc.second)
					client := onceClient(t, service)
					pay := func(lastSent time.Time) error {
						if restarts {
							client = onceClient(t, service)
						} else {
							lastSent = time.Time{} // the client knows it
						}
						return payAs(t, client, lastSent, direct)
					}
					first := harness.CallError(t, pay(time.Time{}))
					require.Equal(t, prepaid.OutcomeUnknown, first.Outcome)
					time.Sleep(13 * time.Second) // the restart

					sent := first.LastSent
					err := pay(sent)
					require.Equal(t, 40*time.Second, service.Gaps()[0], "not before the first can no longer be in progress")
					want := tc.want
					if direct {
						want = tc.direct
					}
					require.Equal(t, want, prepaid.OutcomeOf(err), "%v", err)
					require.Equal(t, want == prepaid.OutcomeRejected, prepaid.ProvesNotApplied(err, sent), "%v", err)
					if want != prepaid.OutcomeUnknown {
						require.Equal(t, want, prepaid.OutcomeOf(pay(time.Time{})), "nothing is unknown any more")
						return
					}
					again := harness.CallError(t, pay(harness.CallError(t, err).LastSent))
					require.Equal(t, prepaid.OutcomeUnknown, again.Outcome, "the outcome stays unknown")
					require.False(t, again.LastSent.Before(sent), "what a store keeps")
					require.False(t, again.NotBefore.IsZero())
					// Another process continues from there, and so on until the service reports the outcome.
					require.NoError(t, payAs(t, onceClient(t, harness.NewScript(moved)), again.LastSent, direct))
				})
			})
		}
	}
}

// A call that ends before it is sent proves nothing about the earlier attempt, and the store keeps that attempt's time.
func TestNothingSentAfterARestart(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(t *testing.T, client *prepaid.Client, params *prepaid.TransferParams){
		"a fault": func(_ *testing.T, _ *prepaid.Client, params *prepaid.TransferParams) { params.SourceReference = "" },
		"a closed client": func(t *testing.T, client *prepaid.Client, _ *prepaid.TransferParams) {
			t.Helper()
			require.NoError(t, client.Close())
		},
		"no token":                     nil,
		"a deadline before the repeat": nil,
		"the ID of another payment": func(t *testing.T, client *prepaid.Client, params *prepaid.TransferParams) {
			t.Helper()
			_, err := client.Accounts.Transfer(t.Context(), "acc-9", *params)
			require.NoError(t, err)
		},
		"an old ID": func(_ *testing.T, _ *prepaid.Client, params *prepaid.TransferParams) {
			params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(time.Now().AddDate(0, 0, -23)), "old")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
				config, params, ctx := harness.ClockConfig(service), harness.ValidTransfer(), t.Context()
				switch name {
				case "no token":
					config = withSource(service, func() (*oauth2.Token, error) { return nil, errors.New("none") })
				case "a deadline before the repeat":
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 30*time.Second)
					defer cancel()
				}
				client := harness.NewClient(t, config)
				if set != nil {
					set(t, client, &params)
				}
				before := len(service.Requests())
				sent := time.Now().Add(-time.Second)
				params.LastSent = sent
				_, err := client.Accounts.Transfer(ctx, "acc-1", params)
				failure := harness.CallError(t, err)
				require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome, "%v", failure)
				require.Len(t, service.Requests(), before)
				require.Equal(t, sent, failure.LastSent)
				require.Zero(t, failure.Attempts)
				require.Zero(t, failure.FirstSent)
				gone := errors.Is(err, prepaid.ErrRequestIDExpired) || errors.Is(err, prepaid.ErrRequestIDReused)
				require.Equal(t, gone, failure.NotBefore.IsZero(), "never again, or later")
			})
		})
	}
}

// A LastSent in the future counts as now, whatever it is; one that is too old is refused, since the service would pay again.
func TestLastSentOfAnotherClock(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		lastSent func(now time.Time) time.Time
		waits    time.Duration
		refused  bool
	}{
		"none":               {func(time.Time) time.Time { return time.Time{} }, 0, false},
		"none, in a zone":    {func(time.Time) time.Time { return time.Time{}.In(time.FixedZone("", 3600)) }, 0, false},
		"now":                {func(now time.Time) time.Time { return now }, 40 * time.Second, false},
		"13 s ago":           {func(now time.Time) time.Time { return now.Add(-13 * time.Second) }, 27 * time.Second, false},
		"40 s ago":           {func(now time.Time) time.Time { return now.Add(-40 * time.Second) }, 52500 * time.Millisecond, false},
		"an hour ago":        {func(now time.Time) time.Time { return now.Add(-time.Hour) }, 10 * time.Second, false},
		"in a second":        {func(now time.Time) time.Time { return now.Add(time.Second) }, 40 * time.Second, false},
		"in a year":          {func(now time.Time) time.Time { return now.AddDate(1, 0, 0) }, 40 * time.Second, false},
		"at the end of time": {func(time.Time) time.Time { return time.Unix(1<<61, 0) }, 40 * time.Second, false},
		"29 days ago":        {func(now time.Time) time.Time { return now.Add(-29 * day) }, 10 * time.Second, false},
		"over 29 days ago":   {func(now time.Time) time.Time { return now.Add(-29*day - 1) }, 0, true},
		"in 1970":            {func(time.Time) time.Time { return time.Unix(0, 0) }, 0, true},
		"at the beginning":   {func(time.Time) time.Time { return time.Unix(-1<<61, 0) }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.NewScript(harness.ServiceError(404, "not_found"))
				began, lastSent := time.Now(), tc.lastSent(time.Now())
				err := payAs(t, harness.NewClient(t, harness.ClockConfig(service)), lastSent, false)
				require.Equal(t, tc.waits, time.Since(began))
				failure := harness.CallError(t, err)
				require.Equal(t, tc.refused, errors.Is(err, prepaid.ErrRequestIDExpired))
				if tc.refused {
					require.Empty(t, service.Requests())
					require.Equal(t, lastSent, failure.LastSent)
				} else {
					require.Len(t, service.Requests(), 1)
					require.Equal(t, began.Add(tc.waits), failure.LastSent)
				}
				want := prepaid.OutcomeUnknown
				if lastSent.IsZero() {
					want = prepaid.OutcomeRejected
				}
				require.Equal(t, want, failure.Outcome)
			})
		})
	}
}

// payStored makes one of two payments, whose params were stored and read again.
func payStored(t *testing.T, client *prepaid.Client, directEntry bool, lastSent time.Time, extra prepaid.ExtraMembers) (err error) {
	t.Helper()
	var shown string
	if directEntry {
		params := harness.ValidDirectEntry()
		params.LastSent, params.Extra = lastSent, extra
		shown = fmt.Sprintf("%v %+v %#v %s", params, &params, params, slog.AnyValue(params).Resolve())
		_, err = client.Accounts.DirectEntryOut(t.Context(), "A1", stored(t, params))
	} else {
		params := harness.ValidTransfer()
		params.LastSent, params.Extra = lastSent, extra
		shown = fmt.Sprintf("%v %+v %#v %s", params, &params, params, slog.AnyValue(params).Resolve())
		_, err = client.Accounts.Transfer(t.Context(), "A1", stored(t, params))
	}
	require.NotContains(t, shown, "q7Z")
	return err
}

// LastSent is a time and not a part of the payment: it is stored with the params and not sent, and another one is not another payment.
func TestLastSentIsNoPartOfThePayment(t *testing.T) {
	t.Parallel()
	for _, directEntry := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
			client := harness.NewClient(t, harness.ClockConfig(service))
			for _, lastSent := range []time.Time{{}, time.Now().UTC(), time.Now().Add(-time.Hour).UTC()} {
				require.NoError(t, payStored(t, client, directEntry, lastSent, ""), "not ErrRequestIDReused")
			}
			requests := service.Requests()
			require.Len(t, requests, 3)
			for _, request := range requests {
				require.Equal(t, requests[0].Body, request.Body)
				require.NotContains(t, request.Body, "last_sent")
			}
		})
	}
}

// Further members are part of the payment: every attempt, also of another process, sends the same bytes, and another payment is refused.
func TestExtraMembersArePartOfThePayment(t *testing.T) {
	t.Parallel()
	for _, directEntry := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
			for range 2 { // processes
				client := harness.NewClient(t, harness.ClockConfig(service))
				require.NoError(t, payStored(t, client, directEntry, time.Time{}, `{"a":"q7Zx","b":2}`))
				for _, other := range []prepaid.ExtraMembers{"", `{"a":"q7Zy","b":2}`} {
					require.ErrorIs(t, payStored(t, client, directEntry, time.Time{}, other), prepaid.ErrRequestIDReused)
				}
			}
			requests := service.Requests()
			require.Len(t, requests, 3)
			require.Contains(t, requests[0].Body, `,"a":"q7Zx","b":2}`)
			for _, request := range requests {
				require.Equal(t, requests[0].Body, request.Body)
			}
		})
	}
}

// stored returns params that were stored as JSON and read again.
func stored[P comparable](t *testing.T, params P) P {
	t.Helper()
	body, err := json.Marshal(params)
	require.NoError(t, err)
	var again P
	require.NoError(t, json.Unmarshal(body, &again))
	require.Equal(t, params, again)
	return again
}

// The client remembers a LastSent that it was given once, also if it could not send: a later call without LastSent is no fresh one, and one
// for another payment is refused. A success ends that.
func TestLastSentIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.ServiceError(404, "not_found"), harness.Succeed(harness.OpTransfer()))
		client := harness.NewClient(t, harness.ClockConfig(service))
		params := harness.ValidTransfer()
		pay := func(ctx context.Context, p prepaid.TransferParams) error {
			_, err := client.Accounts.Transfer(ctx, "acc-1", p)
			return err
		}
		began := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		given := params
		given.LastSent = began
		require.ErrorIs(t, pay(short, given), context.DeadlineExceeded)
		require.Zero(t, time.Since(began))

		other := params
		other.Amount = prepaid.Cents(2)
		require.ErrorIs(t, pay(t.Context(), other), prepaid.ErrRequestIDReused)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(pay(t.Context(), params)), "404 after a wait")
		require.Equal(t, 40*time.Second, time.Since(began))
		require.NoError(t, pay(t.Context(), params))
		before := time.Now()
		require.NoError(t, pay(t.Context(), params))
		require.Zero(t, time.Since(before), "nothing is unknown any more")
	})
}

// The repeat within the call after a restart waits for its own first attempt, too.
func TestRepeatAfterARestartWaitsForItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Respond(http.StatusBadGateway, "", ""), harness.ServiceError(400, "invalid_request"))
		began := time.Now()
		err := payAs(t, harness.NewClient(t, harness.ClockConfig(service)), began, false)
		require.Equal(t, []time.Duration{40 * time.Second}, service.Gaps())
		require.Equal(t, 80*time.Second, time.Since(began))
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err), "sent when both could no longer be in progress")
	})
}
