package webhook

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// mortal counts the steps of a drain and ends its process at one of them: its goroutine, which then only runs deferred
// calls.
type mortal struct {
	Undelivered

	steps, last int // last 0: no step is the last
}

func (m *mortal) step() {
	if m.steps++; m.steps == m.last {
		runtime.Goexit()
	}
}

func (m *mortal) UndeliverablePage(ctx context.Context, hookID prepaid.HookID, paging prepaid.Paging) (*prepaid.Page[prepaid.Message], error) {
	m.step()
	defer m.step()
	return m.Undelivered.UndeliverablePage(ctx, hookID, paging)
}

func (m *mortal) Dismiss(ctx context.Context, hookID prepaid.HookID, ids ...prepaid.MessageID) error {
	m.step()
	defer m.step()
	return m.Undelivered.Dismiss(ctx, hookID, ids...)
}

// drainOnce runs Drain until it ends or is killed.
func (m *mortal) drainOnce(t *testing.T, handle func(context.Context, *prepaid.Message) error) bool {
	t.Helper()
	over := make(chan struct{})
	var finished bool
	var err error
	go func() {
		defer close(over)
		_, err = Drain(t.Context(), m, "h1", func(ctx context.Context, message *prepaid.Message) error {
			m.step()
			defer m.step()
			return handle(ctx, message)
		})
		finished = true
	}()
	<-over
	require.NoError(t, err)
	return finished
}

// Killed before or after any list, handling or dismissal, and run again: no message is dismissed unhandled, none is
// left, and only the current one comes twice.
func TestDrainKilledAtEachStep(t *testing.T) {
	t.Parallel()
	killed := 0
	for last := 1; ; last++ {
		var seen taker
		service := &stored{ids: numbered(7), size: 3}
		service.onDrop = func(_ *stored, id prepaid.MessageID) error {
			require.Contains(t, seen.seen, id, "dismissed but not handled, killed at %d", last)
			return nil
		}
		if (&mortal{Undelivered: service, last: last}).drainOnce(t, seen.handle) {
			break
		}
		killed++
		require.True(t, (&mortal{Undelivered: service}).drainOnce(t, seen.handle))
		require.Empty(t, service.ids)
		times := map[prepaid.MessageID]int{}
		for _, id := range seen.seen {
			times[id]++
		}
		require.Len(t, times, 7, "killed at %d", last)
		require.LessOrEqual(t, len(seen.seen), 8, "killed at %d", last)
	}
	require.GreaterOrEqual(t, killed, 2*(7+7+3), "before and after 7 messages, 7 dismissals and 3 pages at least")
}

// The same on the emulator, killed again and again until nothing is left, with a Handler that remembers: its store
// outlives the process.
func TestDrainKilledOnTheEmulator(t *testing.T) {
	t.Parallel()
	s := newSite(t, prepaidtest.Options{PageSizes: prepaidtest.PageSizes{Least: 1, Normal: 2, Most: 2}})
	s.start(keysOf("k1", keyHex))
	client := s.Client()
	id, err := Ensure(t.Context(), client.Hooks, s.want("k1", keyHex))
	require.NoError(t, err)
	s.InjectDelivery("", prepaidtest.LoseResponse().Always()) // handled, but the response is lost
	for i := range 3 {
		s.Adjust(s.account, strconv.Itoa(i+1)+".00")
	}
	require.NoError(t, s.WaitIdle(t.Context()))
	require.Equal(t, 3, s.seen.count())
	memory := s.now.Load().config.Claims
	require.NoError(t, s.now.Load().Shutdown(t.Context())) // from here on messages are missed
	for i := range 4 {
		s.Adjust(s.account, strconv.Itoa(i+11)+".00")
	}
	require.NoError(t, s.WaitIdle(t.Context()))
	require.Len(t, s.Hooks()[0].Undeliverable, 7)

	deaths := 0
	for last := 6; ; last++ { // one step more each time
		handler := newHandler(t, Config{AllowUnverified: true, OnTransaction: s.seen.take, Claims: memory})
		m := &mortal{Undelivered: hookOf{client.Hooks, id}, last: last}
		if m.drainOnce(t, handler.Handle) {
			break
		}
		deaths++
	}
	require.Greater(t, deaths, 2)
	require.Empty(t, s.Hooks()[0].Undeliverable)
	require.Equal(t, 7, s.seen.count(), "each once, the three that were handled before included")
}

// hookOf puts the emulator's hook in place of the test's.
type hookOf struct {
	Undelivered

	id prepaid.HookID
}

func (h hookOf) UndeliverablePage(ctx context.Context, _ prepaid.HookID, paging prepaid.Paging) (*prepaid.Page[prepaid.Message], error) {
	return h.Undelivered.UndeliverablePage(ctx, h.id, paging)
}

func (h hookOf) Dismiss(ctx context.Context, _ prepaid.HookID, ids ...prepaid.MessageID) error {
	return h.Undelivered.Dismiss(ctx, h.id, ids...)
}
