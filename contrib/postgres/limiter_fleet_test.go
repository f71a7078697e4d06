package prepaidpg

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/contrib/internal/fleet/fleettest"
)

var fleetLasts = flag.Duration("fleet", 6*time.Second, "how long ten addresses share one Postgres")

// Ten addresses with four replicas each, which always want more than the allowance, on one Postgres.
func TestFleet(t *testing.T) {
	t.Parallel()
	const addresses, replicas = 10, 4
	s := newLimitBackend(t).(limitBackend)
	var began string
	require.NoError(t, s.pool.QueryRow(t.Context(), "select pg_current_wal_insert_lsn()::text").Scan(&began))
	window := min(10*time.Second, *fleetLasts*4/5) // the run sees two
	start := time.Now()
	seen := make([]*fleettest.Traffic, addresses)
	var group sync.WaitGroup
	for address := range addresses {
		name := fmt.Sprint("10.0.0.", address)
		s.Used(t, name)
		load := fleettest.Load{
			Options: fleet.Options{Allowance: 1000, Window: window, Replicas: replicas, Timeout: time.Second},
			Callers: 40, For: *fleetLasts, Distance: 80 * time.Millisecond,
		}
		group.Go(func() {
			seen[address] = load.Run(t, func() fleet.Pool { return s.Open(t, name) })
		})
	}
	group.Wait()
	for _, traffic := range seen {
		if *fleetLasts < time.Minute { // other load decides how much a short run uses
			traffic.CheckLimit(t)
		} else {
			traffic.Check(t, 0.99, *fleetLasts)
		}
	}
	var exchanges, wal, size float64
	require.NoError(t, s.pool.QueryRow(t.Context(), `select sum(version), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::text::pg_lsn),
		pg_total_relation_size('prepaid.rate_limits') from prepaid.rate_limits`, began).Scan(&exchanges, &wal, &size))
	lasted := time.Since(start).Seconds() // callers that wait at the end of the run get a slot of the next window
	t.Logf("%.0f exchanges a second, %.0f bytes of WAL each; the table has %.0f kB", exchanges/lasted, wal/exchanges, size/1024)
	require.Less(t, exchanges, 30*replicas*addresses*lasted)
	require.Less(t, size, 20e6)
}

// The throughput of one Postgres: exchanges of eight replicas on each of ten addresses, as fast as they can.
func BenchmarkLimit(b *testing.B) {
	_, pool := ownServer(b, nil)
	var mu sync.Mutex
	replica := 0
	b.SetParallelism(8)
	b.RunParallel(func(p *testing.PB) {
		mu.Lock()
		replica++
		l := newLimit(pool, defaultSchema, fmt.Sprint("10.0.0.", replica%10))
		r := fleet.Report{ID: fmt.Sprint(replica), Need: [3]int{10, 10, 10}, Allowance: 1000, Lease: 5 * time.Second, Gone: 16 * time.Second}
		mu.Unlock()
		for p.Next() {
			r.Seq++
			if _, err := l.Exchange(b.Context(), r); err != nil {
				b.Error(err)
			}
		}
	})
}
