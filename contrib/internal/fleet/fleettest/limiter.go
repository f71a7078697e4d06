package fleettest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// HandsOverWhatIsNotNeeded checks that slots that rest in one replica reach another.
func HandsOverWhatIsNotNeeded(t *testing.T, s Backend) {
	one, two := newLimiter(t, s.Open(t, limit), quick()), newLimiter(t, s.Open(t, limit), quick())
	for range 40 {
		use(t, one)
	}
	require.Greater(t, one.Status().Slots, 20) // on a busy machine some have rested, and are used again
	for range 40 {                             // not before those of one have rested
		use(t, two)
	}
	require.Eventually(t, func() bool { return one.Status().Slots == 0 }, 2*time.Second, 5*time.Millisecond)
	status := two.Status()
	require.True(t, status.Shared)
	require.NoError(t, status.Err)
	require.Equal(t, 2, status.Replicas)
}

// Close checks that a replica that leaves hands over all that it owns, and refuses those that wait.
func Close(t *testing.T, s Backend) {
	s.Used(t, limit)
	one, two := newLimiter(t, s.Open(t, limit), quick()), newLimiter(t, s.Open(t, limit), quick())
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

// CloseWithoutStore checks that a pool that is not there does not hold up Close.
func CloseWithoutStore(t *testing.T, away fleet.Pool) {
	l, err := fleet.New(away, fleet.Options{})
	require.NoError(t, err)
	began := time.Now()
	require.Error(t, l.Close())
	require.Less(t, time.Since(began), 2*time.Second)
}

// notes collects what a limiter reports.
type notes struct {
	mu  sync.Mutex
	all []fleet.Status
}

func (n *notes) add(s fleet.Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, s)
}

func (n *notes) get() []fleet.Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}

// StartWithoutStore checks what a replica may use that has never reached its pool.
func StartWithoutStore(t *testing.T, away fleet.Pool) {
	reported := &notes{}
	options := quick()
	options.Replicas, options.OnChange = 2, reported.add
	l, err := fleet.New(away, options)
	require.NoError(t, err)
	began := time.Now()
	use(t, l)
	use(t, l) // the floor
	require.Less(t, time.Since(began), 300*time.Millisecond)
	for range 18 { // the share, a lease and a window later
		use(t, l)
	}
	require.Greater(t, time.Since(began), goneOf(options)-time.Millisecond)
	require.Less(t, time.Since(began), goneOf(options)+2*time.Second)
	require.Len(t, reported.get(), 1)
	require.Error(t, reported.get()[0].Err)
	require.False(t, l.Status().Shared)
	require.Error(t, l.Close())
}

// StoreHangs checks that a server that does not respond delays no call that the replica has a slot for.
func StoreHangs(t *testing.T, s Backend) {
	var log bytes.Buffer
	reported := &notes{}
	options := quick()
	options.Replicas, options.OnChange = 2, reported.add
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	l := newLimiter(t, s.Open(t, limit), options)
	for range 40 {
		use(t, l)
	}
	s.Freeze(t)
	require.Eventually(t, func() bool { return len(reported.get()) == 2 }, 3*time.Second, time.Millisecond)
	time.Sleep(goneOf(options))
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
	s.Thaw(t)
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

// PausesTheOthers checks that a 429 of one replica pauses another.
func PausesTheOthers(t *testing.T, s Backend) {
	s.Used(t, limit)
	one, two := newLimiter(t, s.Open(t, limit), quick()), newLimiter(t, s.Open(t, limit), quick())
	use(t, two)
	slot, err := one.Acquire(t.Context(), prepaid.LaneMoney)
	require.NoError(t, err)
	began := time.Now()
	slot.Release(prepaid.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 600 * time.Millisecond})
	time.Sleep(100 * time.Millisecond) // far more than one exchange
	use(t, two)
	require.Greater(t, time.Since(began), 590*time.Millisecond)
}

// AsksInBlocks checks that a serial caller does not make a round trip for each slot.
func AsksInBlocks(t *testing.T, s Backend) {
	s.Used(t, limit)
	pool := &counted{Pool: s.Open(t, limit)}
	l := newLimiter(t, pool, fleet.Options{Allowance: 1000, Window: time.Second, Lease: 300 * time.Millisecond})
	for range 990 {
		use(t, l)
	}
	t.Logf("%d exchanges for 990 calls", pool.exchanges.Load())
	require.Less(t, pool.exchanges.Load(), int64(120))
}

// counted counts the exchanges with a pool.
type counted struct {
	fleet.Pool
	exchanges atomic.Int64
}

// Exchange implements fleet.Pool.
func (c *counted) Exchange(ctx context.Context, r fleet.Report) (fleet.Grant, error) {
	c.exchanges.Add(1)
	return c.Pool.Exchange(ctx, r)
}
