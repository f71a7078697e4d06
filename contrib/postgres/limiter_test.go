package prepaidpg

import (
	"context"
	"encoding/json"
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
)

// limitBackend is a Postgres for the tests that every store must pass.
type limitBackend struct {
	server *pgtest.Server
	pool   *pgxpool.Pool
}

// newLimitBackend starts a server of one test, which may kill it. The tests of the limiter run one after the other: they measure
// rates in real time, which tests with processes next to them would slow down.
func newLimitBackend(t *testing.T) fleettest.Backend {
	t.Helper()
	server := pgtest.Start(t, pgtest.Options{})
	pool := server.NewPool(t)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	return limitBackend{server, pool}
}

// openLimit has connections of its own.
func openLimit(address, name string) (fleet.Pool, func(), error) {
	pool, err := pgxpool.New(context.Background(), address)
	if err != nil {
		return nil, nil, err
	}
	return newLimit(pool, defaultSchema, name), pool.Close, nil
}

func (b limitBackend) Open(t *testing.T, name string) fleet.Pool {
	l, closeLimit, err := openLimit(b.Address(), name)
	require.NoError(t, err)
	t.Cleanup(closeLimit)
	return l
}

func (b limitBackend) Address() string     { return b.pool.Config().ConnString() }
func (b limitBackend) Freeze(t *testing.T) { require.NoError(t, b.server.Freeze()) }
func (b limitBackend) Thaw(t *testing.T)   { require.NoError(t, b.server.Thaw()) }
func (b limitBackend) Kill(t *testing.T)   { require.NoError(t, b.server.Kill()) }

func (b limitBackend) Start(t *testing.T) {
	require.NoError(t, b.server.Restart(context.WithoutCancel(t.Context())))
}

// Used writes what replicas that have left leave behind.
func (b limitBackend) Used(t *testing.T, name string) {
	l := newLimit(b.pool, defaultSchema, name)
	_, err := l.Exchange(t.Context(), fleet.Report{ID: "a", Seq: 1, Leaving: time.Millisecond})
	require.NoError(t, err)
	b.change(t, name, func(s *fleet.State) { s.Open, s.Members = 0, nil })
}

func (b limitBackend) Moved(t *testing.T, name string) {
	b.change(t, name, func(s *fleet.State) { s.Server = "another" })
}

func (b limitBackend) change(t *testing.T, name string, change func(*fleet.State)) {
	var text []byte
	var state fleet.State
	require.NoError(t, b.pool.QueryRow(t.Context(), "select state from prepaid.rate_limits where name = $1", name).Scan(&text))
	require.NoError(t, json.Unmarshal(text, &state))
	change(&state)
	text, err := json.Marshal(state)
	require.NoError(t, err)
	_, err = b.pool.Exec(t.Context(), "update prepaid.rate_limits set state = $2 where name = $1", name, string(text))
	require.NoError(t, err)
}

// awayLimit is a limit whose Postgres is not there.
func awayLimit(t *testing.T) fleet.Pool {
	l, closeLimit, err := openLimit("postgres:///none?user=none&host="+t.TempDir(), "")
	require.NoError(t, err)
	t.Cleanup(closeLimit)
	return l
}

func TestLimit(t *testing.T) {
	s := newLimitBackend(t)
	for name, check := range fleettest.Cases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, s)
		})
	}
}

func TestLimiterHandsOverWhatIsNotNeeded(t *testing.T) {
	fleettest.HandsOverWhatIsNotNeeded(t, newLimitBackend(t))
}

func TestLimiterClose(t *testing.T) {
	fleettest.Close(t, newLimitBackend(t))
}

func TestLimiterCloseWithoutPostgres(t *testing.T) {
	fleettest.CloseWithoutStore(t, awayLimit(t))
}

func TestLimiterWithoutPostgresFromTheStart(t *testing.T) {
	fleettest.StartWithoutStore(t, awayLimit(t))
}

func TestLimiterPostgresHangs(t *testing.T) {
	fleettest.StoreHangs(t, newLimitBackend(t))
}

func TestLimiterPausesTheOthers(t *testing.T) {
	fleettest.PausesTheOthers(t, newLimitBackend(t))
}

func TestLimiterAsksInBlocks(t *testing.T) {
	fleettest.AsksInBlocks(t, newLimitBackend(t))
}

func TestLimitHoldsWhateverHappensToPostgres(t *testing.T) {
	fleettest.LimitHolds(t, newLimitBackend(t))
}

func TestReplicasShareTheLimitInPostgres(t *testing.T) {
	fleettest.ReplicasShareTheLimit(t, newLimitBackend(t))
}

func TestPostgresKilledUnderReplicas(t *testing.T) {
	fleettest.StoreKilledInTheMiddle(t, newLimitBackend(t))
}

func TestReplicaKilledInTheMiddle(t *testing.T) {
	fleettest.ReplicaKilledInTheMiddle(t, newLimitBackend(t))
}

func TestMoneyNextToReads(t *testing.T) { fleettest.MoneyNextToReads(t, newLimitBackend(t)) }

func TestLimiterRefusesOptions(t *testing.T) {
	_, err := NewLimiter(nil, LimiterOptions{
		Schema: "A", Name: "a b", Replicas: -1, Allowance: -1, Window: -1, Lease: -1, Timeout: -1, MaxPause: -1,
	})
	invalid, ok := err.(*prepaid.ValidationError)
	require.True(t, ok)
	require.Len(t, invalid.Faults, 9)
}

// What partners construct is the limiter that the other tests are about, with their options.
func TestLimiter(t *testing.T) {
	pool := newPool(t)
	limitBackend{shared, pool}.Used(t, "limit")
	changed := make(chan LimiterStatus, 8)
	l, err := NewLimiter(pool, LimiterOptions{
		Name: "limit", Replicas: 2, Allowance: 40, Window: time.Minute, OnChange: func(s LimiterStatus) { changed <- s },
	})
	require.NoError(t, err)
	require.Equal(t, LimiterStatus{Shared: true, Slots: 2, Replicas: 1}, <-changed)
	slot, err := l.Acquire(t.Context(), prepaid.LaneMoney)
	require.NoError(t, err)
	slot.Release(prepaid.Feedback{NotSent: true})
	_, err = pool.Exec(t.Context(), "drop table prepaid.rate_limits")
	require.NoError(t, err)
	status := <-changed
	require.False(t, status.Shared)
	require.ErrorContains(t, status.Err, "rate_limits")
	require.Equal(t, status.Slots, l.Status().Slots)
	require.Error(t, l.Close())
	_, err = l.Acquire(t.Context(), prepaid.LaneMoney)
	require.ErrorIs(t, err, prepaid.ErrClosed)
}

// Exchanges at the same moment never grant a slot twice, under any isolation of the pool's transactions, and none is lost.
func TestLimitExchangesAtOnce(t *testing.T) {
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

// A backend that is killed has Postgres recover without a restart. It may forget the last exchanges, and grants nothing until
// it has heard from all replicas.
func TestLimitAfterARecovery(t *testing.T) {
	s := newLimitBackend(t).(limitBackend)
	s.Used(t, "limit")
	l := s.Open(t, "limit")
	r := fleet.Report{ID: "a", Seq: 1, Need: [3]int{0, 5, 0}, Allowance: 100, Lease: time.Minute, Gone: time.Hour}
	g, err := l.Exchange(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, 5, g.Granted)
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
	}, 20*time.Second, 50*time.Millisecond)
	r.ID = "b"
	require.Eventually(t, func() bool { // the first finds its connection closed
		g, err = l.Exchange(t.Context(), r)
		return err == nil
	}, time.Second, 10*time.Millisecond)
	require.Zero(t, g.Granted)
	require.InDelta(t, time.Hour.Seconds(), g.Opens.Seconds(), 30)
}
