package webhook

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// mortal counts the steps of a drain and ends its process at one of them: from then on, each step ends its goroutine, which then only runs
// deferred calls.
type mortal struct {
	Undelivered

	steps, last int // last 0: no step is the last
}

func (m *mortal) step() {
	if m.steps++; m.killed() {
		runtime.Goexit()
	}
}

func (m *mortal) killed() bool { return m.last > 0 && m.steps >= m.last }

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
	var err error
	go func() {
		defer close(over)
		_, err = Drain(t.Context(), m, "h1", func(ctx context.Context, message *prepaid.Message) error {
			m.step()
			defer m.step()
			return handle(ctx, message)
		})
	}()
	<-over
	if m.killed() {
		return false
	}
	require.NoError(t, err)
	return true
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
