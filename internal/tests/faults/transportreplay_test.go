package faults

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/transport"
)

// eachTransport runs a test over the default transport and over one of the caller's.
func eachTransport(t *testing.T, test func(t *testing.T, config func(address string) prepaid.Config)) {
	t.Helper()
	t.Run("default", func(t *testing.T) {
		t.Parallel()
		test(t, harness.Config)
	})
	for name, of := range map[string]func(*http.Transport) http.RoundTripper{
		"caller's": func(t *http.Transport) http.RoundTripper { return t },
		"under Wrappable": func(t *http.Transport) http.RoundTripper {
			return harness.RoundTripFunc(transport.Wrappable(t).RoundTrip)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := &http.Transport{MaxIdleConnsPerHost: 4}
			t.Cleanup(own.CloseIdleConnections)
			base := of(own)
			test(t, func(address string) prepaid.Config {
				config := harness.Config(address)
				config.Transport = base
				return config
			})
		})
	}
}

// The 204 of a report that is not ready comes with a body, which net/http would read as the next response on the same
// connection.
func TestNotReadyWithBodyDoesNotPoisonTheNextCall(t *testing.T) {
	t.Parallel()
	run := prepaid.ReportRun{Template: "daily", ID: "run-1"}
	polls := map[string]func(ctx context.Context, c *prepaid.Client) error{
		"Result": harness.Calling("Reporting.Result", run),
		"Open": func(ctx context.Context, c *prepaid.Client) error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := c.Reporting.Open(ctx, run, prepaid.RunReportParams{Interval: time.Hour})
			return err
		},
	}
	for name, poll := range polls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTransport(t, func(t *testing.T, config func(string) prepaid.Config) {
				t.Helper()
				server := harness.NewServer(t, func(_ int, p *harness.Peer) {
					if strings.Contains(p.Request.Target, "/reports/") {
						p.Send("HTTP/1.1 204 No Content\r\nContent-Type: " + harness.VendorJSON + "\r\n\r\n" +
							`{"error":"wait","error_description":"still processing"}`)
						return
					}
					p.Succeed(harness.OpGet())
				})
				client := harness.NewClient(t, config(server.Address))
				require.NoError(t, harness.OpGet().Call(t.Context(), client)) // a connection to be reused
				for range 5 {
					err := poll(t.Context(), client)
					require.ErrorIs(t, err, prepaid.ErrReportNotReady)
					require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
					var wire harness.Capture
					require.NoError(t, harness.OpGet().Call(wire.In(t.Context()), client))
					require.Equal(t, 1, wire.Attempts(), "not by way of a repeated read")
				}
				require.Len(t, server.Seen(), 11)
			})
		})
	}
}
