package prepaidpg

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

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
