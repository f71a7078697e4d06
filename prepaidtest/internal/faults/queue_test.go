package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAFaultIsOnlyForRequestsThatItFits(t *testing.T) {
	t.Parallel()
	q := NewQueue("*", nil, 1, func(f Fault) Schedule { return f.Schedule })
	q.Arm("x", Fault{Kind: Delay})
	require.Nil(t, q.Take("x", func(f Fault) bool { return f.Kind == SlowBody }))
	require.NotNil(t, q.Take("x", func(f Fault) bool { return f.Kind == Delay }))
}

func TestTextIsReadBack(t *testing.T) {
	t.Parallel()
	for kind, word := range kindWords() {
		f := Fault{Kind: kind, Status: 500, Wait: time.Second, Delta: -1, ContentType: "a b", Body: `"x"`}
		read, err := Parse(f.String())
		require.NoError(t, err, word)
		require.Equal(t, f.String(), read.String())
		require.NoError(t, read.Check())
		require.Contains(t, strings.Join(Forms(), "\n"), word)
	}
	for kind, word := range deliveryWords() {
		f := Delivery{Kind: kind, Copies: 2, Wait: time.Second}
		f.Repeat(3)
		read, err := ParseDelivery(f.String())
		require.NoError(t, err, word)
		require.Equal(t, f.String(), read.String())
		require.Contains(t, strings.Join(DeliveryForms(), "\n"), word)
	}
	for _, text := range []string{"", "nonsense", `respond "503`, "delay", "delay x", "respond 100", "wrong-length 0", "delay 1s x2 always", "nothing more"} {
		_, err := Parse(text)
		require.ErrorContains(t, err, "prepaidtest: fault", text)
	}
	for _, text := range []string{"", `"`, "nonsense", "duplicate-message 0", "delay-message 1s pings", "lose-response p2", "nothing pings pings"} {
		_, err := ParseDelivery(text)
		require.ErrorContains(t, err, "prepaidtest: delivery fault", text)
	}
}

func TestTheUsualCodeOfEachStatus(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{
		400: "invalid_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "duplicate_request",
		429: "rate_limit_exceeded", 500: "server_error", 503: "server_error",
	} {
		require.Equal(t, code, usualCode(status))
	}
}
