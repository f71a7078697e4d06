package idlock

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/liveness"
)

const wait = 40 * time.Second

// sentAt returns a request to a service that needs some time to finish it.
func sentAt(t time.Time) liveness.Request {
	return liveness.Request{First: t, Last: t, NotBefore: t.Add(wait)}
}

func sentNow() liveness.Request { return sentAt(time.Now()) }

// clocked runs test on fake time.
func clocked(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// Calls with one id run one after the other, calls with different ids at the same time.
func TestOneAtATime(t *testing.T) {
	clocked(t, func(t *testing.T) {
		g := New(sentNow)
		began := time.Now()
		var (
			calls sync.WaitGroup
			mu    sync.Mutex
			most  int
			under = map[string]int{}
		)
		for n := range 12 {
			calls.Go(func() {
				p := Payment{ID: strconv.Itoa(n % 3)}
				lock, err := g.Enter(t.Context(), p)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				under[p.ID]++
				most = max(most, under[p.ID])
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				under[p.ID]--
				mu.Unlock()
				lock.Leave(false)
			})
		}
		calls.Wait()
		require.Equal(t, 1, most)
		require.Equal(t, 4*time.Second, time.Since(began))
		require.Empty(t, g.ids)
		require.Len(t, g.spare, 3)
	})
}

func TestARepeatKnowsItsTime(t *testing.T) {
	clocked(t, func(t *testing.T) {
		g, p := New(sentNow), Payment{ID: "1", Body: []byte("p")}
		first, err := g.Enter(t.Context(), p)
		require.NoError(t, err)
		require.True(t, first.Unknown.IsZero())
		began := time.Now()
		first.LeaveUnknown(sentAt(began))

		repeat, err := g.Enter(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, sentAt(began), repeat.Unknown)
		require.False(t, repeat.Applied)
		repeat.LeaveUnknown(sentAt(began.Add(wait)))

		_, err = g.Enter(t.Context(), Payment{ID: "1", Body: []byte("q")})
		require.ErrorIs(t, err, ErrOtherPayment)

		again, err := g.Enter(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, sentAt(began.Add(wait)), again.Unknown)
		again.Leave(false)
		free, err := g.Enter(t.Context(), Payment{ID: "1", Body: []byte("q")})
		require.NoError(t, err, "the first was not made")
		require.True(t, free.Unknown.IsZero())
		free.Leave(true)

		made, err := g.Enter(t.Context(), Payment{ID: "1", Body: []byte("q")})
		require.NoError(t, err)
		require.True(t, made.Applied)
		made.Leave(true)
		_, err = g.Enter(t.Context(), p)
		require.ErrorIs(t, err, ErrOtherPayment)
		require.Empty(t, g.ids)
	})
}

// A waiting call returns when its context ends; the call in progress continues.
func TestAWaitEndsWithItsContext(t *testing.T) {
	clocked(t, func(t *testing.T) {
		g, p := New(sentNow), Payment{ID: "1"}
		first, err := g.Enter(t.Context(), p)
		require.NoError(t, err)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		refused, err := g.Enter(short, p)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, sentNow(), refused.Unknown, "the first may be sent only now")
		first.Leave(false)

		lock, err := g.Enter(short, p)
		require.NoError(t, err, "nothing is under way")
		lock.Leave(false)
		require.Empty(t, g.ids)
	})
}

// Without a time, as after a panic, the request may have been sent just now.
func TestUnknownWithoutATime(t *testing.T) {
	clocked(t, func(t *testing.T) {
		g, p := New(sentNow), Payment{ID: "1"}
		first, err := g.Enter(t.Context(), p)
		require.NoError(t, err)
		time.Sleep(time.Second)
		first.LeaveUnknown(liveness.Request{})
		left := time.Now()
		repeat, err := g.Enter(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, sentAt(left), repeat.Unknown)
		repeat.Leave(true)
	})
}

// A burst of ids leaves a bounded number of states.
func TestSpareStatesAreBounded(t *testing.T) {
	t.Parallel()
	g := New(sentNow)
	entered := make([]Lock, 2*maxSpare)
	for n := range entered {
		var err error
		entered[n], err = g.Enter(t.Context(), Payment{ID: strconv.Itoa(n)})
		require.NoError(t, err)
	}
	for n := range entered {
		entered[n].Leave(false)
	}
	require.Empty(t, g.ids)
	require.Len(t, g.spare, maxSpare)
}
