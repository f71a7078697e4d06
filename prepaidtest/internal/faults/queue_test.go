package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func queue() *Queue[Fault] {
	return NewQueue("*", new(uint64(7)), 1, func(f Fault) Schedule { return f.Schedule })
}

func anyFault(Fault) bool { return true }

func TestThoseForTheNameComeFirst(t *testing.T) {
	t.Parallel()
	q := queue()
	twice := Fault{Kind: Delay}
	twice.Repeat(2)
	q.Arm("*", twice)
	q.Arm("x", Fault{Kind: Truncate}, Fault{Kind: ExpireToken})
	require.Equal(t, 4, q.Count())
	require.Nil(t, q.Take("x", func(f Fault) bool { return f.Kind == SlowBody }))
	require.Equal(t, Truncate, q.Take("x", anyFault).Kind)
	require.Equal(t, Delay, q.Take("x", func(f Fault) bool { return !f.NeedsToken() }).Kind)
	require.Equal(t, 1, q.All()[0].Used)
	require.Equal(t, ExpireToken, q.Take("x", anyFault).Kind)
	require.Equal(t, Delay, q.Take("y", anyFault).Kind)
	require.Nil(t, q.Take("y", anyFault), "used up")
	always := Fault{Kind: Truncate}
	always.Forever()
	q.Arm("x", always)
	q.Arm("y", always)
	for range 9 {
		require.NotNil(t, q.Take("x", anyFault))
	}
	q.Remove("x")
	require.Len(t, q.All(), 1)
	q.Clear()
	require.Empty(t, q.All())
}

func TestDrawsAreSeeded(t *testing.T) {
	t.Parallel()
	draw := func() (taken []bool) {
		q := queue()
		f := Fault{Kind: Delay}
		f.Sometimes(0.5)
		q.Arm("x", f)
		for range 64 {
			taken = append(taken, q.Take("x", anyFault) != nil)
		}
		return taken
	}
	first := draw()
	require.Contains(t, first, true)
	require.Contains(t, first, false)
	require.Equal(t, first, draw())
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
