package faults

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Only the service's own responses end the wait for a repeat, and the reads that ask for one reach the service, not a cache. It is the same
// for a client of docs/safety.json.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	file := readSafety(t)
	require.Equal(t, map[string]string{"Cache-Control": "no-cache"}, file.Ask.Header)
	for name, c := range map[string]struct {
		response harness.Step
		alive    bool
	}{
		"success":                   {harness.Respond(200, harness.VendorJSON, harness.SummaryJSON), true},
		"success, in capitals":      {harness.Respond(200, "Application/Vnd.Vendor+JSON; charset=utf-8", harness.SummaryJSON), true},
		"no such account":           {harness.ServiceError(404, "not_found"), true},
		"a proxy's type":            {harness.Respond(404, "application/json", `{"error":"not_found"}`), false},
		"a gateway's problem":       {harness.Respond(404, "application/vnd.error+json", `{"error":"not_found"}`), false},
		"another interface":         {harness.Respond(200, "application/vnd.api+json", harness.SummaryJSON), false},
		"from a cache":              {harness.Respond(200, harness.VendorJSON, harness.SummaryJSON, "Age: 0"), false},
		"switching protocols":       {harness.Respond(101, harness.VendorJSON, ""), false},
		"too many requests":         {harness.ServiceError(429, "rate_limited", "Retry-After: 99"), false},
		"an error of the service":   {harness.ServiceError(500, "server_error"), false},
		"an unfinished response":    {harness.Broken(harness.ErrCut), false},
		"a redirect of the service": {harness.Respond(302, harness.VendorJSON, ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := harness.NewScript(c.response)
				script.CountReads = true
				client := harness.NewClient(t, harness.ClockConfig(script))
				began := time.Now()
				err := client.Accounts.AwaitRepeat(t.Context(), "acc-1", began)
				if c.alive {
					require.NoError(t, err)
					require.Equal(t, 40*time.Second, time.Since(began))
				} else {
					require.ErrorContains(t, err, "the service has not responded")
				}
				for _, r := range script.Requests() {
					for name, value := range file.Ask.Header {
						require.Equal(t, value, r.Header.Get(name))
					}
				}
				var asked result
				asked.read(c.response(new(http.Request)))
				require.Equal(t, c.alive, file.holds(&file.Ask.Counts, file.operation(file.Ask.Operation), &asked))
			})
		})
	}
}

// While a payment has no response, the client asks for a sign of life once, when a third of AttemptTimeout has passed: not before,
// not for other calls, and not if other calls get responses. So the repeat is as early as without the question.
func TestWatchedAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op    harness.Op
		takes time.Duration
		busy  bool
		reads []time.Duration // of the account's status
	}{
		"soon enough":         {op: harness.OpTransfer(), takes: 9 * time.Second},
		"late":                {op: harness.OpTransfer(), takes: 11 * time.Second, reads: []time.Duration{10 * time.Second}},
		"lost":                {op: harness.OpTransfer(), takes: time.Hour, reads: []time.Duration{10 * time.Second, 30 * time.Second}},
		"lost, next to reads": {op: harness.OpTransfer(), takes: time.Hour, busy: true},
		"a read":              {op: harness.OpGet(), takes: 20 * time.Second},
		"a creation":          {op: harness.OpCreate(), takes: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var reads []time.Duration
				script := harness.NewScript(harness.After(c.takes, harness.Succeed(c.op)), harness.Succeed(c.op))
				config := harness.ClockConfig(harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
					if harness.IsPathRead(r) {
						if !strings.Contains(r.URL.Path, "busy") {
							reads = append(reads, time.Since(began))
						}
						return harness.After(100*time.Millisecond, harness.Respond(200, harness.VendorJSON, harness.SummaryJSON))(r)
					}
					return script.RoundTrip(r)
				}))
				client := harness.NewClient(t, config)
				over := make(chan error, 1)
				go func() { over <- c.op.Call(t.Context(), client) }()
				for {
					select {
					case err := <-over:
						require.NoError(t, err)
						require.Equal(t, c.reads, reads)
						want := min(c.takes, 40*time.Second)
						require.WithinRange(t, time.Now(), began.Add(want), began.Add(want+1250*time.Millisecond))
						return
					case <-time.After(500 * time.Millisecond):
						if c.busy {
							_, err := client.Accounts.Summary(t.Context(), "busy")
							require.NoError(t, err)
						}
					}
				}
			})
		})
	}
}

// A panic in the caller's code during a read for a sign of life ends neither the process nor the payment.
func TestPanicDuringASignOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op := harness.OpTransfer()
		config := harness.ClockConfig(harness.NewScript(harness.After(20*time.Second, harness.Succeed(op))))
		var calls atomic.Int32
		config.Limiter = harness.LimiterFunc(func(context.Context) error {
			if calls.Add(1) > 1 {
				panic("CANARY")
			}
			return nil
		})
		require.NoError(t, op.Call(t.Context(), harness.NewClient(t, config)))
	})
}

// After a call that ended soon, with unknown outcome, the client asks for a sign of life all the same, so that a call a minute later
// need not wait for a retransmission; not if it was closed.
func TestSignOfLifeAfterTheCall(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			op, reads := harness.OpTransfer(), new(atomic.Int32)
			script := harness.NewScript(harness.ServiceError(500, "server_error"), harness.Succeed(op))
			client := harness.NewClient(t, harness.ClockConfig(harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
				if harness.IsPathRead(r) {
					reads.Add(1)
				}
				return script.RoundTrip(r)
			})))
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(op.Call(t.Context(), client)))
			began := time.Now()
			if closed {
				require.NoError(t, client.Close())
				time.Sleep(time.Minute)
				require.Zero(t, reads.Load())
				return
			}
			time.Sleep(time.Minute)
			require.EqualValues(t, 1, reads.Load())
			require.NoError(t, op.Call(t.Context(), client))
			require.Equal(t, 70*time.Second, time.Since(began))
		})
	}
}

// The caller's httptrace hooks see one request at a time: not the read during an attempt.
func TestReadDuringAnAttemptIsNotTraced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op := harness.OpTransfer()
		var reads, seen atomic.Int32
		client := harness.NewClient(t, harness.ClockConfig(harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
			if hook := httptrace.ContextClientTrace(r.Context()).GetConn; hook != nil {
				hook("")
			}
			if harness.IsPathRead(r) {
				reads.Add(1)
				return harness.Respond(200, harness.VendorJSON, harness.SummaryJSON)(r)
			}
			return harness.After(20*time.Second, harness.Succeed(op))(r)
		})))
		trace := &httptrace.ClientTrace{GetConn: func(string) { seen.Add(1) }}
		require.NoError(t, op.Call(httptrace.WithClientTrace(t.Context(), trace), client))
		require.EqualValues(t, 1, reads.Load())
		require.EqualValues(t, 1, seen.Load())
	})
}

// A request of a process that died can be older than LastSent says: package journal reports the time of its intent, and the wait counts
// from there, in AwaitRepeat and in the call itself.
func TestUnknownAgeOfAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, awaits := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			script := harness.NewScript(harness.Succeed(harness.OpTransfer()))
			client, lastSent := harness.NewClient(t, harness.ClockConfig(script)), time.Now()
			params := harness.ValidTransfer()
			params.LastSent = lastSent
			ctx := liveness.WithFirst(t.Context(), lastSent.Add(-time.Minute))
			if awaits {
				require.NoError(t, client.Accounts.AwaitRepeat(ctx, "acc-1", lastSent))
			} else {
				_, err := client.Accounts.Transfer(ctx, "acc-1", params)
				require.NoError(t, err)
			}
			require.Equal(t, 2*70*time.Second+2500*time.Millisecond+10*time.Second-time.Minute, time.Since(lastSent))
		})
	}
}
