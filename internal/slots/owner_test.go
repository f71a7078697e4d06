package slots

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

// asker is an owner without slots: it asks for each slot a call must wait for, and expects it in expects.
type asker struct {
	limiter *Limiter
	limit   int
	expects time.Duration // from now
	asked   int
	paused  int
}

func newAsker() *asker {
	a := &asker{limit: 100, expects: noDeadline}
	a.limiter = New(Options{Owner: a, Window: 10 * time.Second, MaxPause: 15 * time.Second, MaxRandomPause: 15 * time.Second})
	return a
}

func (a *asker) Advance(_ time.Duration, s *Stock) { s.Limit = a.limit }

func (a *asker) Expect(now time.Duration, _ *Stock, _ int) time.Duration {
	if a.expects == noDeadline {
		return noDeadline
	}
	return now + a.expects
}

func (a *asker) Arrive(_ ratelimit.Lane, waits bool) bool {
	if waits {
		a.asked++
	}
	return waits
}

func (a *asker) Paused() { a.paused++ }

// update adds slots, and refuses calls that would wait too long if they arrived before the exchange ended.
func (a *asker) update(n int, exchanged uint64) {
	a.limiter.Update(func(_ time.Duration, s *Stock) uint64 {
		s.Add(n)
		s.Exchange++
		return exchanged
	})
	synctest.Wait()
}

// wait starts a call that must wait, for at most 5 s.
func (a *asker) wait(t *testing.T, lane ratelimit.Lane) <-chan error {
	t.Helper()
	result := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := a.limiter.Acquire(ctx, lane)
		result <- err
	}()
	synctest.Wait()
	require.Empty(t, result)
	return result
}

func TestOwnerAddsSlots(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		a := newAsker()
		first, second := a.wait(t, ratelimit.Call), a.wait(t, ratelimit.Money)
		require.Equal(t, 2, a.asked)
		require.Equal(t, [LaneCount]int{ratelimit.Money: 1, ratelimit.Call: 1}, a.limiter.stock.Need)
		a.update(1, 0)
		require.NoError(t, <-second)
		require.Empty(t, first, "money goes first")
		a.update(1, 0)
		require.NoError(t, <-first)
		require.Equal(t, [LaneCount]int{ratelimit.Money: 1, ratelimit.Call: 1}, a.limiter.stock.Need, "they are used")
	})
}

func TestOwnerRefuses(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		a := newAsker()
		elder := a.wait(t, ratelimit.Call)
		a.update(0, 0) // begins an exchange
		younger := a.wait(t, ratelimit.Call)
		a.expects = time.Second
		a.update(0, 1)
		require.Empty(t, elder, "a slot is expected in time")
		a.expects = 5 * time.Second
		a.update(0, 1)
		require.Equal(t, &ratelimit.RefusedError{Wait: 5 * time.Second}, <-elder)
		require.Empty(t, younger, "its slot has not been asked for")
		a.update(0, 3)
		require.Error(t, <-younger)
		require.Equal(t, LaneCount, a.limiter.waiting(Token))
	})
}

func TestOwnerTakesSlotsAway(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		a := newAsker()
		a.update(3, 0)
		slots := acquireSlots(t, a.limiter, ratelimit.Call, 2)
		a.limit = 1
		a.update(0, 0)
		require.Equal(t, 2, a.limiter.stock.Held, "the free one leaves, those in use do not")
		releaseSlots(slots, responded)
		time.Sleep(10*time.Second - 1)
		a.update(0, 0)
		require.Equal(t, 2, a.limiter.stock.Held)
		time.Sleep(1)
		a.update(0, 0)
		require.Equal(t, 1, a.limiter.stock.Held)
		requireIdle(t, a.limiter)
	})
}

// Calls and bulk are spaced once slots are scarce, and not before.
func TestOwnerSpacesWhatIsScarce(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		a := newAsker()
		a.update(50, 0)
		releaseSlots(acquireSlots(t, a.limiter, ratelimit.Call, 50), responded)
		time.Sleep(10 * time.Second)
		acquireSlots(t, a.limiter, ratelimit.Call, 25)
		a.limiter.Update(func(_ time.Duration, s *Stock) uint64 {
			s.Scarce = true
			require.False(t, s.Backlogged(), "none waits")
			return 0
		})
		acquireSlots(t, a.limiter, ratelimit.Call, 1)
		require.Equal(t, a.limiter.stock.interval, slotWait(t, a.limiter, ratelimit.Bulk))
		require.Zero(t, slotWait(t, a.limiter, ratelimit.Money))
	})
}

func TestOwnerHearsOfPauses(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		a := newAsker()
		a.update(2, 0)
		slots := acquireSlots(t, a.limiter, ratelimit.Money, 2)
		slots[0].Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 12 * time.Second})
		require.Equal(t, 1, a.paused)
		slots[1].Release(throttled)
		require.Equal(t, 1, a.paused, "an echo begins none")
		require.Equal(t, 12*time.Second, slotWait(t, a.limiter, ratelimit.Money))
	})
}

func TestClose(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		closed := errors.New("closed")
		l := newLimiter(1, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Call, 1)
		var r laneRecorder
		r.park(t, l, ratelimit.Bulk, "bulk")
		r.park(t, l, ratelimit.Money, "money")
		l.Close(closed)
		r.wg.Wait()
		require.ElementsMatch(t, []string{"bulk: closed", "money: closed"}, r.order())
		_, err := l.Acquire(t.Context(), ratelimit.Call)
		require.Equal(t, closed, err)
		releaseSlots(slots, responded)
		requireIdle(t, l)
	})
}
