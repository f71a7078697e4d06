package prepaidpg

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/contrib/internal/fleet/fleettest"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// limitBackend is a Postgres for fleettest.
type limitBackend struct {
	server *pgtest.Server
	pool   *pgxpool.Pool
}

// newLimitBackend starts a server of one test, which may kill it.
func newLimitBackend(t *testing.T) fleettest.Backend {
	t.Helper()
	server, pool := ownServer(t, nil)
	return limitBackend{server, pool}
}

func (b limitBackend) Open(t *testing.T, name string) fleet.Pool {
	pool, err := pgxpool.NewWithConfig(t.Context(), b.pool.Config())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return newLimit(pool, defaultSchema, name)
}

func (b limitBackend) Freeze(t *testing.T) { require.NoError(t, b.server.Freeze()) }
func (b limitBackend) Thaw(t *testing.T)   { require.NoError(t, b.server.Thaw()) }
func (b limitBackend) Kill(t *testing.T)   { require.NoError(t, b.server.Kill()) }

func (b limitBackend) Start(t *testing.T) {
	require.NoError(t, b.server.Restart(context.WithoutCancel(t.Context())))
}

// Used writes the state that departed replicas leave behind.
func (b limitBackend) Used(t *testing.T, name string) {
	l := newLimit(b.pool, defaultSchema, name)
	_, err := l.Exchange(t.Context(), fleet.Report{ID: "a", Seq: 1 << 40, Leaving: time.Millisecond})
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), `update prepaid.rate_limits
		set state = (state::jsonb || '{"open": 0, "members": {}}')::json where name = $1`, name)
	require.NoError(t, err)
}

// Postgres shares a limit, through all failures of fleettest.
func TestLimitIsShared(t *testing.T) {
	t.Parallel()
	fleettest.Run(t, newLimitBackend(t))
}

func TestLimiterRefusesOptions(t *testing.T) {
	t.Parallel()
	_, err := NewLimiter(nil, "A", ratelimit.SharedOptions{
		Name: "a b", Replicas: -1, Allowance: -1, Window: -1, Lease: -1, Timeout: -1, MaxPause: -1,
	})
	invalid, ok := err.(*prepaid.ValidationError)
	require.True(t, ok)
	require.Len(t, invalid.Faults, 9)
}

// NewLimiter constructs the tested limiter, with its options.
func TestLimiter(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	limitBackend{shared, pool}.Used(t, "limit")
	changed := make(chan ratelimit.SharedStatus, 8)
	l, err := NewLimiter(pool, "", ratelimit.SharedOptions{
		Name: "limit", Replicas: 2, Allowance: 40, Window: time.Minute, Timeout: 2 * time.Second, OnChange: func(s ratelimit.SharedStatus) { changed <- s },
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
	_, err = pool.Exec(t.Context(), "drop table prepaid.rate_limits")
	require.NoError(t, err)
	status = <-changed
	require.False(t, status.Shared)
	require.ErrorContains(t, status.Err, "rate_limits")
	require.Equal(t, status.Slots, l.Status().Slots)
	require.Error(t, l.Close())
	_, err = l.Acquire(t.Context(), ratelimit.Money)
	require.ErrorIs(t, err, prepaid.ErrClosed)
}

// Exchanges at the same moment never grant a slot twice, under any isolation of the pool's transactions, and none is lost.
func TestLimitExchangesAtOnce(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"read committed", "serializable"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			pool := newPool(t)
			_, err := pool.Exec(t.Context(), "alter database "+pool.Config().ConnConfig.Database+" set default_transaction_isolation to '"+isolation+"'")
			require.NoError(t, err)
			pool.Reset()
			limitBackend{shared, pool}.Used(t, "limit")
			l := newLimit(pool, defaultSchema, "limit")
			const replicas, exchanges, allowance = 8, 50, 100
			var mu sync.Mutex
			held := 0
			var group sync.WaitGroup
			for i := range replicas {
				group.Go(func() {
					r := fleet.Report{ID: strconv.Itoa(i), Allowance: allowance, Lease: time.Minute, Gone: time.Hour}
					for range exchanges {
						r.Seq++
						if r.Need[1] = 30; r.Seq%3 == 0 {
							mu.Lock()
							held -= r.Held
							mu.Unlock()
							r.Held, r.Need[1] = 0, 0
						}
						g, err := l.Exchange(t.Context(), r)
						if err != nil {
							t.Error(err)
							return
						}
						r.Held += g.Granted
						mu.Lock()
						if held += g.Granted; held > allowance {
							t.Errorf("%d slots are owned", held)
						}
						mu.Unlock()
					}
				})
			}
			group.Wait()
			var version int
			require.NoError(t, pool.QueryRow(t.Context(), "select version from prepaid.rate_limits").Scan(&version))
			require.Equal(t, 1+replicas*exchanges, version)
		})
	}
}

// After a proper restart a server recovers nothing; after a backend was killed it recovers without a restart. It may lose the last
// exchanges, and grants nothing until all replicas have reported.
func TestLimitAfterARecovery(t *testing.T) {
	t.Parallel()
	s := newLimitBackend(t).(limitBackend)
	l := s.Open(t, "limit")
	r := fleet.Report{ID: "a", Need: [3]int{0, 5, 0}, Allowance: 100, Lease: time.Minute, Gone: time.Hour}
	grants := func(want int) fleet.Grant {
		t.Helper()
		var g fleet.Grant
		require.Eventually(t, func() (done bool) { // the first finds its connection closed
			var err error
			r.Seq++
			g, err = l.Exchange(t.Context(), r)
			return err == nil
		}, time.Minute, 10*time.Millisecond)
		require.Equal(t, want, g.Granted)
		return g
	}
	s.Used(t, "limit")
	grants(5)
	require.NoError(t, s.server.Restart(t.Context()))
	s.pool.Reset() // of the connections that were closed
	grants(0)
	s.Used(t, "limit")
	grants(5)
	connection, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	process, err := os.FindProcess(int(connection.Conn().PgConn().PID()))
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	connection.Release()
	require.Eventually(t, func() bool {
		var recovered bool
		err := s.pool.QueryRow(t.Context(), "select pg_last_wal_replay_lsn() is not null").Scan(&recovered)
		return err == nil && recovered
	}, time.Minute, 20*time.Millisecond)
	r.ID = "b"
	require.InDelta(t, time.Hour.Seconds(), grants(0).Opens.Seconds(), 30)
}
