package internal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
)

func TestAFaultIsOnlyForRequestsThatItFits(t *testing.T) {
	t.Parallel()
	q := faults.NewQueue("*", nil, 1, func(f faults.Fault) faults.Schedule { return f.Schedule })
	q.Arm("x", faults.Fault{Kind: faults.Delay})
	require.Nil(t, q.Take("x", func(f faults.Fault) bool { return f.Kind == faults.SlowBody }))
	require.NotNil(t, q.Take("x", func(f faults.Fault) bool { return f.Kind == faults.Delay }))
}

func TestTextIsReadBack(t *testing.T) {
	t.Parallel()
	forms, deliveries := strings.Join(faults.Forms(), "\n"), strings.Join(faults.DeliveryForms(), "\n")
	for kind := range faults.ExpireToken + 1 {
		f := faults.Fault{Kind: kind, Status: 500, Wait: time.Second, Delta: -1, ContentType: "a b", Body: `"x"`}
		read, err := faults.Parse(f.String())
		require.NoError(t, err, f)
		require.Equal(t, f.String(), read.String())
		require.NoError(t, read.Check())
		require.Contains(t, forms, strings.Fields(f.String())[0])
	}
	for kind := range faults.Hold + 1 {
		f := faults.Delivery{Kind: kind, Copies: 2, Wait: time.Second}
		f.Repeat(3)
		read, err := faults.ParseDelivery(f.String())
		require.NoError(t, err, f)
		require.Equal(t, f.String(), read.String())
		require.Contains(t, deliveries, strings.Fields(f.String())[0])
	}
	for _, text := range []string{"", "nonsense", `respond "503`, "delay", "delay x", "respond 100", "wrong-length 0", "delay 1s x2 always", "nothing more"} {
		_, err := faults.Parse(text)
		require.ErrorContains(t, err, "prepaidtest: fault", text)
	}
	for _, text := range []string{"", `"`, "nonsense", "duplicate-message 0", "delay-message 1s pings", "lose-response p2", "nothing pings pings"} {
		_, err := faults.ParseDelivery(text)
		require.ErrorContains(t, err, "prepaidtest: delivery fault", text)
	}
}

func TestTheUsualCodeOfEachStatus(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{
		400: "invalid_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "duplicate_request",
		429: "rate_limit_exceeded", 500: "server_error", 503: "server_error",
	} {
		f := faults.Fault{Kind: faults.Respond, Status: status}
		require.Equal(t, code, f.Respond(newCall(t, "", "", "")).Problem.Code)
	}
}
