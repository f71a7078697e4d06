package prepaid_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// A capture holds the last complete answer, whatever its status, with fields that this version does not know.
func TestCapture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := `{"account_id":"acc-1","company_id":7,"balance":1,"status":"active","loyalty_points":7}`
		service := harness.NewScript(
			harness.Respond(503, "", ""), harness.After(2*time.Second, harness.Respond(200, harness.VendorJSON, body, "X-Trace: abc")),
			harness.ServiceError(404, "not_found"), harness.Broken(harness.ErrCut),
		)
		config := harness.ClockConfig(service)
		config.Retry = prepaid.RetryPolicy{MaxAttempts: 2, MinWait: time.Second, MaxWait: time.Second}
		client := harness.NewClient(t, config)
		var seen prepaid.Capture
		require.Nil(t, seen.Last())
		ctx := prepaid.WithCapture(t.Context(), &seen)

		require.NoError(t, harness.OpGet().Call(ctx, client))
		last := seen.Last()
		require.Equal(t, "Accounts.Get", last.Operation)
		require.Equal(t, 200, last.StatusCode)
		require.Equal(t, "abc", last.Header.Get("X-Trace"))
		require.Equal(t, body, string(last.Body))
		require.Equal(t, 2, last.Attempts)
		require.InDelta(t, 2750*time.Millisecond, last.Duration, float64(251*time.Millisecond))

		require.ErrorIs(t, harness.OpGet().Call(ctx, client), prepaid.ErrNotFound)
		require.Equal(t, 404, seen.Last().StatusCode)
		require.Contains(t, string(seen.Last().Body), "words of the service")
		require.Equal(t, body, string(last.Body), "an earlier answer stays as it was")

		require.ErrorIs(t, harness.OpGet().Call(ctx, client), harness.ErrCut)
		require.Equal(t, 404, seen.Last().StatusCode, "an exchange without an answer is none")
	})
}

// An answer prints without header and body.
func TestCapturedResponseIsRedacted(t *testing.T) {
	t.Parallel()
	config := harness.Config("https://cards.example")
	config.Transport = harness.NewScript(harness.Respond(200, harness.VendorJSON, harness.AccountJSON, "X-Secret: CANARY"))
	var seen prepaid.Capture
	require.NoError(t, harness.OpGet().Call(prepaid.WithCapture(t.Context(), &seen), harness.NewClient(t, config)))
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("seen", "response", *seen.Last())
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s", *seen.Last(), *seen.Last(), *seen.Last(), seen.Last()), log.String()} {
		require.NotContains(t, text, "CANARY")
		require.NotContains(t, text, "4444")
		require.Contains(t, text, "Accounts.Get")
		require.Contains(t, text, "[REDACTED]")
	}
}

// A nil capture is no capture.
func TestNilCaptureAndTrace(t *testing.T) {
	t.Parallel()
	config := harness.Config("https://cards.example")
	config.Transport = harness.NewScript(harness.Succeed(harness.OpGet()))
	ctx := prepaid.WithTrace(prepaid.WithCapture(t.Context(), nil), nil)
	require.NoError(t, harness.OpGet().Call(ctx, harness.NewClient(t, config)))
}

// One capture may be shared by calls side by side; bodies do not mix.
func TestCaptureSideBySide(t *testing.T) {
	t.Parallel()
	config := harness.Config("https://cards.example")
	config.Transport = harness.NewScript(harness.Succeed(harness.OpGet()))
	client := harness.NewClient(t, config)
	var shared prepaid.Capture
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			for range 20 {
				if err := harness.OpGet().Call(prepaid.WithCapture(t.Context(), &shared), client); err != nil {
					t.Error(err)
				}
				if string(shared.Last().Body) != harness.AccountJSON {
					t.Error("a body of pieces")
				}
			}
		})
	}
	calls.Wait()
}
