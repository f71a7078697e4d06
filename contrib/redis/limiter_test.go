package prepaidredis

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/contrib/internal/fleet/fleettest"
)

// backend is a Redis for the tests that every store must pass.
type backend struct{ server *server }

func newBackend(t *testing.T) fleettest.Backend { return backend{startServer(t)} }

func (b backend) Open(_ *testing.T, name string) fleet.Pool { return newPool(b.server.client(), name) }
func (b backend) Address() string                           { return b.server.address }
func (b backend) Freeze(*testing.T)                         { b.server.freeze() }
func (b backend) Thaw(*testing.T)                           { b.server.thaw() }
func (b backend) Kill(*testing.T)                           { b.server.kill() }
func (b backend) Start(*testing.T)                          { b.server.start() }

func (b backend) Used(t *testing.T, name string) {
	run := b.server.client().InfoMap(t.Context(), "server").Item("Server", "run_id")
	require.NoError(t, b.server.client().HSet(t.Context(), name, "run", "r"+run, "open", 0, "seen", 0).Err())
}

func (b backend) Moved(t *testing.T, name string) {
	require.NoError(t, b.server.client().HSet(t.Context(), name, "run", "rother").Err())
}

// away is a pool whose Redis is not there.
func away(t *testing.T) fleet.Pool {
	client := newClient("127.0.0.1:1")
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return newPool(client, "prepaid:limit")
}

func TestScript(t *testing.T) {
	t.Parallel()
	s := newBackend(t)
	for name, check := range fleettest.Cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, s)
		})
	}
}

func TestLimiterHandsOverWhatIsNotNeeded(t *testing.T) {
	t.Parallel()
	fleettest.HandsOverWhatIsNotNeeded(t, newBackend(t))
}

func TestLimiterClose(t *testing.T) {
	t.Parallel()
	fleettest.Close(t, newBackend(t))
}

func TestLimiterCloseWithoutRedis(t *testing.T) {
	t.Parallel()
	fleettest.CloseWithoutStore(t, away(t))
}

func TestLimiterWithoutRedisFromTheStart(t *testing.T) {
	t.Parallel()
	fleettest.StartWithoutStore(t, away(t))
}

func TestLimiterRedisHangs(t *testing.T) {
	t.Parallel()
	fleettest.StoreHangs(t, newBackend(t))
}

func TestLimiterPausesTheOthers(t *testing.T) {
	t.Parallel()
	fleettest.PausesTheOthers(t, newBackend(t))
}

func TestLimiterAsksInBlocks(t *testing.T) {
	t.Parallel()
	fleettest.AsksInBlocks(t, newBackend(t))
}

func TestLimitHoldsWhateverHappens(t *testing.T) {
	t.Parallel()
	fleettest.LimitHolds(t, newBackend(t))
}

func TestReplicasShareTheLimit(t *testing.T) {
	t.Parallel()
	fleettest.ReplicasShareTheLimit(t, newBackend(t))
}

func TestRedisKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	fleettest.StoreKilledInTheMiddle(t, newBackend(t))
}

func TestReplicaKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	fleettest.ReplicaKilledInTheMiddle(t, newBackend(t))
}

func TestMoneyNextToReads(t *testing.T) { fleettest.MoneyNextToReads(t, newBackend(t)) }

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

// What partners construct is the limiter that the other tests are about, with their options.
func TestLimiter(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	backend{s}.Used(t, "limit")
	changed := make(chan Status, 8)
	l, err := NewLimiter(s.client(), LimiterOptions{
		Key: "limit", Replicas: 2, Allowance: 40, Window: time.Minute, OnChange: func(s Status) { changed <- s },
	})
	require.NoError(t, err)
	require.Equal(t, Status{Shared: true, Slots: 2, Replicas: 1}, <-changed)
	slot, err := l.Acquire(t.Context(), prepaid.LaneMoney)
	require.NoError(t, err)
	slot.Release(prepaid.Feedback{NotSent: true})
	s.kill()
	status := <-changed
	require.False(t, status.Shared)
	require.Error(t, status.Err)
	require.Equal(t, status, l.Status())
	require.Error(t, l.Close())
	_, err = l.Acquire(t.Context(), prepaid.LaneMoney)
	require.ErrorIs(t, err, prepaid.ErrClosed)
}
