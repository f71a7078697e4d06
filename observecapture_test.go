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
)

// A capture holds the last complete answer, whatever its status, with fields that this version does not know.
func TestCapture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := `{"account_id":"acc-1","company_id":7,"balance":1,"status":"active","loyalty_points":7}`
		service := scripted(
			answered(503, "", ""), after(2*time.Second, answered(200, vendorJSON, body, "X-Trace: abc")),
			serviceError(404, "not_found"), broken(errCut),
		)
		config := clockConfig(service)
		config.Retry = prepaid.RetryPolicy{MaxAttempts: 2, MinWait: time.Second, MaxWait: time.Second}
		client := newCoreClient(t, config)
		var seen prepaid.Capture
		require.Nil(t, seen.Last())
		ctx := prepaid.WithCapture(t.Context(), &seen)

		require.NoError(t, opGet().call(ctx, client))
		last := seen.Last()
		require.Equal(t, "Accounts.Get", last.Operation)
		require.Equal(t, 200, last.StatusCode)
		require.Equal(t, "abc", last.Header.Get("X-Trace"))
		require.Equal(t, body, string(last.Body))
		require.Equal(t, 2, last.Attempts)
		require.InDelta(t, 2750*time.Millisecond, last.Duration, float64(251*time.Millisecond))

		require.ErrorIs(t, opGet().call(ctx, client), prepaid.ErrNotFound)
		require.Equal(t, 404, seen.Last().StatusCode)
		require.Contains(t, string(seen.Last().Body), "words of the service")
		require.Equal(t, body, string(last.Body), "an earlier answer stays as it was")

		require.ErrorIs(t, opGet().call(ctx, client), errCut)
		require.Equal(t, 404, seen.Last().StatusCode, "an exchange without an answer is none")
	})
}

// An answer prints without header and body.
func TestCapturedResponseIsRedacted(t *testing.T) {
	t.Parallel()
	config := coreConfig("https://cards.example")
	config.Transport = scripted(answered(200, vendorJSON, accountJSON, "X-Secret: CANARY"))
	var seen prepaid.Capture
	require.NoError(t, opGet().call(prepaid.WithCapture(t.Context(), &seen), newCoreClient(t, config)))
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
	config := coreConfig("https://cards.example")
	config.Transport = scripted(wellAnswered(opGet()))
	ctx := prepaid.WithTrace(prepaid.WithCapture(t.Context(), nil), nil)
	require.NoError(t, opGet().call(ctx, newCoreClient(t, config)))
}

// One capture may be shared by calls side by side; bodies do not mix.
func TestCaptureSideBySide(t *testing.T) {
	t.Parallel()
	config := coreConfig("https://cards.example")
	config.Transport = scripted(wellAnswered(opGet()))
	client := newCoreClient(t, config)
	var shared prepaid.Capture
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			for range 20 {
				if err := opGet().call(prepaid.WithCapture(t.Context(), &shared), client); err != nil {
					t.Error(err)
				}
				if string(shared.Last().Body) != accountJSON {
					t.Error("a body of pieces")
				}
			}
		})
	}
	calls.Wait()
}
