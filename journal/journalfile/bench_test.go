package journalfile

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

func benchmarkEntry(n int) journal.Entry {
	at := time.Now().UTC()
	return journal.Entry{
		RequestID: prepaid.DeriveRequestID(prepaid.DateOf(at), "bench", strconv.Itoa(n)), Operation: "Accounts.Transfer", AccountID: "1234567890",
		Amount: prepaid.Cents(int64(n)), State: journal.StateIntended, Began: at, Changed: at, Runs: 1,
	}
}

// Durable records a second, by callers.
func BenchmarkRecord(b *testing.B) {
	for _, callers := range []int{1, 10, 100} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			j, err := Open(filepath.Join(b.TempDir(), "j"), Options{})
			require.NoError(b, err)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						if err := j.record(benchmarkEntry(int(n))); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			b.StopTimer()
			require.NoError(b, j.Close())
		})
	}
}

// The baseline: the same bytes, written and synced one by one without a journal.
func BenchmarkWriteAndSync(b *testing.B) {
	line, err := encode(benchmarkEntry(1))
	require.NoError(b, err)
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	require.NoError(b, err)
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
	require.NoError(b, f.Close())
}
