package prepaidredis

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// quick are options whose windows are short, for Redis that has just been started.
func quick() LimiterOptions {
	return LimiterOptions{Allowance: 40, Window: 400 * time.Millisecond, Lease: 200 * time.Millisecond}
}

func newTestLimiter(t *testing.T, s *server, options LimiterOptions) *Limiter {
	t.Helper()
	l, err := NewLimiter(s.client(), options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// use takes a slot and gives it back.
func use(t *testing.T, l *Limiter) {
	t.Helper()
	s, err := l.Acquire(t.Context(), prepaid.LaneCall)
	require.NoError(t, err)
	s.Release(sent)
}

func TestLimiterRefusesOptions(t *testing.T) {
	t.Parallel()
	_, err := NewLimiter(nil, LimiterOptions{
		Key: "a b", Replicas: -1, Allowance: -1, Window: -1, Lease: -1, Timeout: -1, MaxPause: -1,
	})
	invalid, ok := err.(*prepaid.ValidationError)
	require.True(t, ok)
	require.Len(t, invalid.Faults, 8)
	for _, client := range []redis.UniversalClient{
		redis.NewClient(&redis.Options{}), redis.NewClusterClient(&redis.ClusterOptions{}), redis.NewRing(&redis.RingOptions{}),
	} {
		_, err = NewLimiter(client, LimiterOptions{})
		require.ErrorContains(t, err, "ContextTimeoutEnabled")
		require.NoError(t, client.Close())
	}
}

func TestLimiterHandsOverWhatIsNotNeeded(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	one, two := newTestLimiter(t, s, quick()), newTestLimiter(t, s, quick())
	for range 40 {
		use(t, one)
	}
	require.Equal(t, 40, one.Status().Slots)
	for range 40 { // not before those of one have rested
		use(t, two)
	}
	require.Eventually(t, func() bool { return one.Status().Slots == 0 }, 2*time.Second, 5*time.Millisecond)
	status := two.Status()
	require.True(t, status.Shared)
	require.NoError(t, status.Err)
	require.Equal(t, 2, status.Replicas)
}

func TestLimiterClose(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.used("prepaid:limit")
	one, two := newTestLimiter(t, s, quick()), newTestLimiter(t, s, quick())
	for range 30 {
		use(t, one)
	}
	busy, err := one.Acquire(t.Context(), prepaid.LaneCall)
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			for {
				if _, err := one.Acquire(context.Background(), prepaid.LaneBulk); err != nil {
					require.ErrorIs(t, err, prepaid.ErrClosed)
					return
				}
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, one.Close())
	require.NoError(t, one.Close())
	group.Wait()
	_, err = one.Acquire(t.Context(), prepaid.LaneCall)
	require.ErrorIs(t, err, prepaid.ErrClosed)
	busy.Release(sent)
	for range 40 {
		use(t, two)
	}
}

func TestLimiterCloseWithoutRedis(t *testing.T) {
	t.Parallel()
	client := newClient("127.0.0.1:1")
	defer client.Close()
	l, err := NewLimiter(client, LimiterOptions{})
	require.NoError(t, err)
	began := time.Now()
	require.Error(t, l.Close())
	require.Less(t, time.Since(began), 2*time.Second)
}

// notes collects what a limiter reports.
type notes struct {
	mu  sync.Mutex
	all []Status
}

func (n *notes) add(s Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, s)
}

func (n *notes) get() []Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}

func TestLimiterWithoutRedisFromTheStart(t *testing.T) {
	t.Parallel()
	client := newClient("127.0.0.1:1")
	defer client.Close()
	reported := &notes{}
	options := quick()
	options.Replicas, options.OnChange = 2, reported.add
	l, err := NewLimiter(client, options)
	require.NoError(t, err)
	began := time.Now()
	use(t, l)
	use(t, l) // the floor
	require.Less(t, time.Since(began), 300*time.Millisecond)
	for range 18 { // the share, a lease and a window later
		use(t, l)
	}
	require.Greater(t, time.Since(began), l.slots.gone-time.Millisecond)
	require.Less(t, time.Since(began), l.slots.gone+2*time.Second)
	require.Len(t, reported.get(), 1)
	require.Error(t, reported.get()[0].Err)
	require.False(t, l.Status().Shared)
	require.Error(t, l.Close())
}

// A Redis that does not respond delays no call that this replica has a slot for.
func TestLimiterRedisHangs(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	var log bytes.Buffer
	reported := &notes{}
	options := quick()
	options.Replicas, options.OnChange = 2, reported.add
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	l := newTestLimiter(t, s, options)
	for range 40 {
		use(t, l)
	}
	s.freeze()
	require.Eventually(t, func() bool { return len(reported.get()) == 2 }, 3*time.Second, time.Millisecond)
	time.Sleep(l.slots.gone)
	require.Equal(t, 20, l.Status().Slots)
	began := time.Now()
	for range 20 {
		use(t, l)
	}
	require.Less(t, time.Since(began), 200*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began = time.Now()
	_, err := l.Acquire(ctx, prepaid.LaneCall)
	require.ErrorIs(t, err, prepaid.ErrRateLimited)
	require.Less(t, time.Since(began), 50*time.Millisecond)
	s.thaw()
	require.Eventually(t, func() bool { return len(reported.get()) == 3 }, 3*time.Second, time.Millisecond)
	for range 60 {
		use(t, l)
	}
	require.NoError(t, l.Close())
	for i, shared := range []bool{true, false, true} {
		require.Equal(t, shared, reported.get()[i].Shared)
		require.Equal(t, shared, reported.get()[i].Err == nil)
	}
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"))
	require.Equal(t, 2, strings.Count(log.String(), "level=INFO"))
}

func TestLimiterPausesTheOthers(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.used("prepaid:limit")
	one, two := newTestLimiter(t, s, quick()), newTestLimiter(t, s, quick())
	use(t, two)
	slot, err := one.Acquire(t.Context(), prepaid.LaneMoney)
	require.NoError(t, err)
	began := time.Now()
	slot.Release(prepaid.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 600 * time.Millisecond})
	require.Eventually(t, func() bool {
		two.slots.mu.Lock()
		defer two.slots.mu.Unlock()
		return two.slots.pausedUntil > 0
	}, 300*time.Millisecond, time.Millisecond)
	use(t, two)
	require.Greater(t, time.Since(began), 590*time.Millisecond)
}

// A serial caller does not make a round trip for each slot.
func TestLimiterAsksInBlocks(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	options := LimiterOptions{Allowance: 1000, Window: time.Second, Lease: 300 * time.Millisecond}
	s.old(2 * time.Second)
	l := newTestLimiter(t, s, options)
	for range 990 {
		use(t, l)
	}
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	t.Logf("%d exchanges for 990 calls", l.slots.asked)
	require.Less(t, l.slots.asked, uint64(120))
}
