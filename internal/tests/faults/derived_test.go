package faults

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// derive makes a client from another.
func derive(t *testing.T, client *prepaid.Client, o prepaid.Overrides) *prepaid.Client {
	t.Helper()
	derived, err := client.With(o)
	require.NoError(t, err)
	return derived
}

// All clients of one family share the memory of request IDs: calls with one ID take turns, and a request ID identifies one
// payment.
func TestDerivedClientsShareRequestIDs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.After(3*time.Second, harness.Succeed(harness.OpTransfer())))
		first := harness.NewClient(t, harness.ClockConfig(service))
		second := derive(t, first, prepaid.Overrides{AttemptTimeout: 5 * time.Second})
		third := derive(t, second, prepaid.Overrides{Lane: ratelimit.Bulk})
		var calls sync.WaitGroup
		for _, client := range []*prepaid.Client{first, second, third, second} {
			calls.Go(func() { require.NoError(t, harness.OpTransfer().Call(t.Context(), client)) })
		}
		calls.Wait()
		require.Equal(t, 1, service.Most)
		require.Equal(t, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}, service.Gaps())

		other := harness.ValidTransfer()
		other.RequestID = "pay-1"
		for _, client := range []*prepaid.Client{first, second, third} {
			_, err := client.Accounts.Transfer(t.Context(), "acc-1", other)
			require.ErrorIs(t, err, prepaid.ErrRequestIDReused)
		}
		require.Len(t, service.Requests(), 4)
	})
}

// The pause before a repeat is that of the client which sent the payment, whichever client repeats it and however short that
// client's attempts are: the service's time for a payment does not depend on them.
func TestDerivedClientsWaitForEachOther(t *testing.T) {
	t.Parallel()
	short, long := prepaid.Overrides{AttemptTimeout: 10 * time.Second}, prepaid.Overrides{AttemptTimeout: 2 * time.Minute}
	for name, c := range map[string]struct {
		first, second *prepaid.Overrides // nil: the client itself
		wait          time.Duration
	}{
		"client, short": {nil, &short, 40 * time.Second},
		"client, long":  {nil, &long, 40 * time.Second},
		"short, client": {&short, nil, 40 * time.Second},
		"long, client":  {&long, nil, 130 * time.Second},
		"long, short":   {&long, &short, 130 * time.Second},
		"short, short":  {&short, &short, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
				client := onceClient(t, service)
				of := func(o *prepaid.Overrides) *prepaid.Client {
					if o == nil {
						return client
					}
					return derive(t, client, *o)
				}
				unknown := harness.CallError(t, harness.OpTransfer().Call(t.Context(), of(c.first)))
				require.Equal(t, prepaid.OutcomeUnknown, unknown.Outcome)
				require.Equal(t, c.wait, unknown.NotBefore.Sub(unknown.LastSent))
				require.NoError(t, harness.OpTransfer().Call(t.Context(), of(c.second)))
				require.Equal(t, []time.Duration{c.wait}, service.Gaps())
			})
		})
	}
}

// A client repeats its own payment by its own rule, also next to a client with longer attempts.
func TestDerivedClientRepeatsByItsOwnRule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
		client := harness.NewClient(t, harness.ClockConfig(service))
		derive(t, client, prepaid.Overrides{AttemptTimeout: time.Hour})
		require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
		require.Equal(t, []time.Duration{40 * time.Second}, service.Gaps())
	})
}

// If it is unspecified which client sent a payment, the longest wait of the family counts: for NotBefore, for ProvesNotApplied, and
// for a call that ends while another has its request ID.
func TestLongestWaitOfTheFamily(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused := harness.ServiceError(400, "invalid_request")
		service := harness.NewScript(refused, refused, harness.After(5*time.Second, harness.Succeed(harness.OpTransfer())))
		client := harness.NewClient(t, harness.ClockConfig(service))
		before := time.Now()
		require.Equal(t, before.Add(40*time.Second), client.Accounts.NotBefore(before))
		short := derive(t, client, prepaid.Overrides{AttemptTimeout: time.Second})
		require.Equal(t, before.Add(40*time.Second), short.Accounts.NotBefore(before), "another may have sent it")
		refusedOnce := func(client *prepaid.Client, wait time.Duration) error { // after a request of another process, sent now
			params := harness.ValidTransfer()
			params.LastSent = time.Now()
			_, err := client.Accounts.Transfer(t.Context(), "acc-1", params)
			require.Equal(t, wait, time.Since(params.LastSent), "any client of a family may have sent it")
			return err
		}
		early := refusedOnce(short, 40*time.Second)
		require.False(t, prepaid.ProvesNotApplied(early, harness.CallError(t, early).LastSent.Add(-11*time.Second)))
		require.True(t, prepaid.ProvesNotApplied(early, harness.CallError(t, early).LastSent.Add(-40*time.Second)))

		long := derive(t, short, prepaid.Overrides{AttemptTimeout: 2 * time.Minute})
		for _, one := range []*prepaid.Client{client, short, long} {
			require.Equal(t, before.Add(130*time.Second), one.Accounts.NotBefore(before))
			require.True(t, one.Accounts.NotBefore(time.Time{}).IsZero())
		}
		refusal := refusedOnce(client, 130*time.Second)
		require.False(t, prepaid.ProvesNotApplied(refusal, harness.CallError(t, refusal).LastSent.Add(-130*time.Second+1)))
		require.True(t, prepaid.ProvesNotApplied(refusal, harness.CallError(t, refusal).LastSent.Add(-130*time.Second)))

		var running sync.WaitGroup
		running.Go(func() { require.NoError(t, harness.OpTransfer().Call(t.Context(), long)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waiting := harness.CallError(t, harness.OpTransfer().Call(ctx, short))
		require.Equal(t, prepaid.OutcomeUnknown, waiting.Outcome)
		require.Equal(t, time.Now().Add(130*time.Second), waiting.NotBefore)
		running.Wait()
	})
}

// Fields that are set replace those of the client, also within Retry; the others are inherited, over several steps.
func TestDerivedClientInheritsTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.After(time.Minute, harness.Succeed(harness.OpGet())))
		config := harness.ClockConfig(service)
		config.AttemptTimeout = 10 * time.Second
		config.Retry = prepaid.RetryPolicy{MaxAttempts: 3, MinWait: time.Second, MaxWait: time.Second}
		var own, others bytes.Buffer
		var ownCalls, otherCalls int
		count := func(n *int) *prepaid.Trace {
			return &prepaid.Trace{CallDone: func(context.Context, prepaid.Operation, prepaid.CallSummary) { *n++ }}
		}
		config.Logger, config.Trace = slog.New(slog.NewTextHandler(&own, nil)), count(&ownCalls)
		client := harness.NewClient(t, config)
		check := func(client *prepaid.Client, attempts int, timeout time.Duration) {
			t.Helper()
			failure := harness.CallError(t, harness.OpGet().Call(t.Context(), client))
			require.Equal(t, attempts, failure.Attempts)
			least := time.Duration(attempts) * timeout
			require.WithinRange(t, time.Now(), failure.FirstSent.Add(least), failure.FirstSent.Add(least+2*time.Second))
		}
		check(client, 3, 10*time.Second)
		check(derive(t, client, prepaid.Overrides{}), 3, 10*time.Second)
		once := derive(t, client, prepaid.Overrides{Retry: prepaid.RetryPolicy{MaxAttempts: 1}})
		check(once, 1, 10*time.Second)
		check(derive(t, once, prepaid.Overrides{AttemptTimeout: 5 * time.Second}), 1, 5*time.Second)
		require.Equal(t, 4, ownCalls)
		require.NotEmpty(t, own.Bytes())

		own.Reset()
		quiet := derive(t, once, prepaid.Overrides{Logger: slog.New(slog.DiscardHandler), Trace: &prepaid.Trace{}})
		check(derive(t, quiet, prepaid.Overrides{}), 1, 10*time.Second)
		loud := derive(t, quiet, prepaid.Overrides{Logger: slog.New(slog.NewTextHandler(&others, nil)), Trace: count(&otherCalls)})
		check(loud, 1, 10*time.Second)
		require.Empty(t, own.Bytes())
		require.Equal(t, 4, ownCalls)
		require.Equal(t, 1, otherCalls)
		require.Contains(t, others.String(), "Accounts.Get")
		check(client, 3, 10*time.Second)
	})
}

// Lane applies to all calls of the derived client, except report polls. It does not change the first client's lanes.
func TestDerivedClientsLane(t *testing.T) {
	t.Parallel()
	limiter := new(feedbackLimiter)
	config := harness.CredentialsConfig(harness.Split{Tokens: issuing(), Calls: harness.NewScript(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/3.0/reporting/") {
			return harness.Respond(204, "", "")(r)
		}
		return harness.Succeed(harness.OpTransfer())(r)
	})})
	config.Limiter = limiter
	client := harness.NewClient(t, config)
	use := func(client *prepaid.Client) []ratelimit.Lane {
		t.Helper()
		require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
		require.NoError(t, client.Do(t.Context(), prepaid.RawRequest{Method: "GET", Path: "/limits"}, nil))
		_, err := client.Reporting.Result(t.Context(), prepaid.ReportRun{Template: "t", ID: "1"})
		require.ErrorIs(t, err, prepaid.ErrReportNotReady)
		defer func() { limiter.lanes = nil }()
		return limiter.lanes
	}
	money, call, bulk := ratelimit.Money, ratelimit.Call, ratelimit.Bulk
	require.Equal(t, []ratelimit.Lane{money, money, call, bulk}, use(client), "the first is the token's")
	nightly := derive(t, client, prepaid.Overrides{Lane: bulk})
	require.Equal(t, []ratelimit.Lane{bulk, bulk, bulk}, use(nightly))
	require.Equal(t, []ratelimit.Lane{bulk, bulk, bulk}, use(derive(t, nightly, prepaid.Overrides{AttemptTimeout: time.Hour})), "inherited")
	require.Equal(t, []ratelimit.Lane{money, money, bulk}, use(derive(t, nightly, prepaid.Overrides{Lane: ratelimit.Money})))
	require.Equal(t, []ratelimit.Lane{money, call, bulk}, use(client))
}

// All faults of the settings are found at once, and none makes a client.
func TestOverridesAreValidated(t *testing.T) {
	t.Parallel()
	client := harness.NewClient(t, harness.ClockConfig(harness.NewScript(harness.Succeed(harness.OpGet()))))
	derived, err := client.With(prepaid.Overrides{
		AttemptTimeout: -1, Lane: 7,
		Retry: prepaid.RetryPolicy{
			MaxAttempts: -1, MinWait: -1, MaxWait: -1, MaxRetryAfter: -1, MaxThrottleWait: -1, InFlightWait: time.Second, TokenHold: 2 * time.Second,
		},
	})
	require.Nil(t, derived)
	harness.RequireFaults(t, err, "", []harness.Fault{
		{Field: "attempt_timeout", Rule: "must not be negative"}, {Field: "retry.max_attempts"}, {Field: "retry.min_wait"}, {Field: "retry.max_wait"},
		{Field: "retry.max_retry_after"}, {Field: "retry.max_throttle_wait"}, {Field: "retry.in_flight_wait", Rule: "that of the client"},
		{Field: "retry.token_hold", Rule: "that of the client"}, {Field: "lane", Rule: "must be ratelimit.Money"},
	}...)
	lastSent := time.Now()
	require.Equal(t, lastSent.Add(40*time.Second), client.Accounts.NotBefore(lastSent), "nothing has changed")
	same := prepaid.RetryPolicy{InFlightWait: 10 * time.Second, TokenHold: time.Second}
	require.NoError(t, harness.OpGet().Call(t.Context(), derive(t, client, prepaid.Overrides{Retry: same})))
}

// Close of a derived client ends its own calls and closes nothing. Close of the first one ends those of all.
func TestCloseOfDerivedClients(t *testing.T) {
	t.Parallel()
	server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Succeed(harness.OpGet()) })
	client, err := prepaid.NewClient(harness.Config(server.Address))
	require.NoError(t, err)
	derived := derive(t, client, prepaid.Overrides{})
	grandchild := derive(t, derived, prepaid.Overrides{})
	for _, one := range []*prepaid.Client{client, derived, grandchild} {
		require.NoError(t, harness.OpGet().Call(t.Context(), one))
	}
	for range 2 {
		require.NoError(t, derived.Close())
	}
	closed := harness.CallError(t, harness.OpGet().Call(t.Context(), derived))
	require.ErrorIs(t, closed, prepaid.ErrClosed)
	require.Equal(t, prepaid.OutcomeNotProcessed, closed.Outcome)
	_, err = derived.Token(t.Context())
	require.ErrorIs(t, err, prepaid.ErrClosed)
	for _, one := range []*prepaid.Client{client, grandchild, derive(t, derived, prepaid.Overrides{})} {
		require.NoError(t, harness.OpGet().Call(t.Context(), one))
	}
	require.Equal(t, 1, server.Connections(), "none was closed")

	require.NoError(t, client.Close())
	for _, one := range []*prepaid.Client{client, derived, grandchild, derive(t, client, prepaid.Overrides{})} {
		require.ErrorIs(t, harness.OpGet().Call(t.Context(), one), prepaid.ErrClosed)
	}
	server.AwaitNoneLeft()
}

// Clients are derived while others are in use.
func TestDerivingIsConcurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
		client := harness.NewClient(t, harness.ClockConfig(service))
		var calls sync.WaitGroup
		for n := range 20 {
			calls.Go(func() {
				derived, err := client.With(prepaid.Overrides{AttemptTimeout: time.Duration(n+1) * time.Second})
				if err != nil {
					t.Error(err)
					return
				}
				params := harness.ValidTransfer()
				params.RequestID = prepaid.RequestID(strconv.Itoa(n % 4))
				if _, err := derived.Accounts.Transfer(t.Context(), "acc-1", params); err != nil {
					t.Error(err)
				}
				_ = client.Accounts.NotBefore(time.Now())
			})
		}
		calls.Wait()
		require.Equal(t, 40*time.Second, time.Until(client.Accounts.NotBefore(time.Now())))
	})
}
