package prepaidredis

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/contrib/internal/fleet/fleettest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// backend is a Redis for fleettest.
type backend struct{ server *server }

func (b backend) Freeze(*testing.T) { b.server.freeze() }
func (b backend) Thaw(*testing.T)   { b.server.thaw() }
func (b backend) Kill(*testing.T)   { b.server.kill() }
func (b backend) Start(*testing.T)  { b.server.start() }

func (b backend) Open(_ *testing.T, name string) fleet.Pool { return newPool(b.server.client(), name) }

func (b backend) Used(t *testing.T, name string) {
	run := b.server.client().InfoMap(t.Context(), "server").Item("Server", "run_id")
	require.NoError(t, b.server.client().Del(t.Context(), name).Err())
	require.NoError(t, b.server.client().HSet(t.Context(), name, "run", "r"+run, "open", 0, "seen", 0).Err())
}

// Redis shares a limit, with any failure of fleettest.
func TestLimitIsShared(t *testing.T) {
	t.Parallel()
	fleettest.Run(t, backend{startServer(t)})
}

func TestLimiterRefusesOptions(t *testing.T) {
	t.Parallel()
	_, err := NewLimiter(nil, ratelimit.SharedOptions{
		Name: "a b", Replicas: -1, Allowance: -1, Window: -1, Lease: -1, Timeout: -1, MaxPause: -1,
	})
	invalid, ok := err.(*prepaid.ValidationError)
	require.True(t, ok)
	require.Len(t, invalid.Faults, 8)
	for _, client := range []redis.UniversalClient{
		redis.NewClient(&redis.Options{}), redis.NewClusterClient(&redis.ClusterOptions{}), redis.NewRing(&redis.RingOptions{}),
	} {
		_, err = NewLimiter(client, ratelimit.SharedOptions{})
		require.ErrorContains(t, err, "ContextTimeoutEnabled")
		require.NoError(t, client.Close())
	}
	_, err = grantOf([]int64{1})
	require.ErrorContains(t, err, "unexpected form")
}

// NewLimiter constructs the tested limiter, with its options.
func TestLimiter(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	backend{s}.Used(t, "limit")
	changed := make(chan ratelimit.SharedStatus, 8)
	l, err := NewLimiter(s.client(), ratelimit.SharedOptions{
		Name: "limit", Replicas: 2, Allowance: 40, Window: time.Minute, OnChange: func(s ratelimit.SharedStatus) { changed <- s },
	})
	require.NoError(t, err)
	status := <-changed
	for !status.Shared { // on a slow machine the first exchange may take too long
		status = <-changed
	}
	require.Equal(t, ratelimit.SharedStatus{Shared: true, Slots: 2, Replicas: 1}, status)
	slot, err := l.Acquire(t.Context(), ratelimit.Money)
	require.NoError(t, err)
	slot.Release(ratelimit.Feedback{NotSent: true})
	s.kill()
	status = <-changed
	require.False(t, status.Shared)
	require.Error(t, status.Err)
	require.Equal(t, status, l.Status())
	require.Error(t, l.Close())
	_, err = l.Acquire(t.Context(), ratelimit.Money)
	require.ErrorIs(t, err, prepaid.ErrClosed)
}

// Without INFO, restarts and failovers go unnoticed: the limiter gets no slots, and reports the missing permission.
func TestLimiterNeedsInfo(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	backend{s}.Used(t, "limit")
	require.NoError(t, s.client().Do(t.Context(), "ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-@dangerous").Err())
	r := fleet.Report{ID: "a", Seq: 1, Need: [fleet.LaneCount]int{10}, Allowance: 100, Lease: time.Minute, Gone: time.Hour}
	user := redis.NewClient(&redis.Options{Addr: s.address, Username: "app", Password: "secret", ContextTimeoutEnabled: true})
	defer user.Close()
	_, err := newPool(user, "limit").Exchange(t.Context(), r)
	require.ErrorContains(t, err, "+info")
	require.NoError(t, s.client().Do(t.Context(), "ACL", "SETUSER", "app", "+info").Err())
	g, err := newPool(user, "limit").Exchange(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, 10, g.Granted)
}
