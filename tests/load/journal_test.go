package load

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// payer makes payments, or leaves their outcome unknown.
type payer struct {
	journal.Sender

	fails bool
}

func (payer) NotBefore(lastSent time.Time) time.Time { return lastSent }

func (payer) AwaitRepeat(context.Context, prepaid.AccountID, time.Time) error { return nil }

func (p payer) Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error) {
	if p.fails {
		return nil, errors.New("no response")
	}
	return &prepaid.TransferResult{TransactionID: "123456789", CorrelationID: "2b4c8a4e-6c5f-4a53-9a55-8d3c61f1a1f0"}, nil
}

// A journal has only an index in memory, no entries, also after a compaction and with much to send. Not parallel: it measures the heap.
func TestMemoryPerPayment(t *testing.T) {
	const payments, bound = 3_000, 150
	seal, err := journal.NewAEAD([]byte("0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	list := func(yield func(journal.Payment) bool) {
		day := prepaid.DateOf(time.Now())
		for n := range payments {
			p := prepaid.TransferParams{
				RequestID: prepaid.DeriveRequestID(day, "memory", strconv.Itoa(n)), Amount: prepaid.Cents(100), DestinationAccountID: "2",
				SourceReference: "SALARY", DestinationReference: "SALARY",
			}
			if !yield(journal.Payment{Account: "1", Params: p}) {
				return
			}
		}
	}
	for name, runs := range map[string][]payer{"done": {{}}, "unknown": {{fails: true}}, "unknown, then done": {{fails: true}, {}}} {
		path := filepath.Join(t.TempDir(), "j")
		open := func() *journalfile.Journal {
			j, err := journalfile.Open(path, journalfile.Options{Seal: seal})
			require.NoError(t, err)
			return j
		}
		j := open()
		for _, sender := range runs {
			for _, err := range j.PayAll(t.Context(), sender, 500, list) {
				require.Equal(t, sender.fails, err != nil)
			}
		}
		require.NoError(t, j.Close())
		j = nil
		before := heapInUse()
		j = open()
		require.Less(t, (heapInUse()-before)/payments, int64(bound), "bytes for a payment, %s", name)
		require.NoError(t, j.Compact(time.Time{}))
		require.Less(t, (heapInUse()-before)/payments, int64(bound), "bytes for a payment after Compact, %s", name)
		require.NoError(t, j.Close())
		runtime.KeepAlive(j)
	}
}

// heapInUse returns the bytes of the heap that are in use.
func heapInUse() int64 {
	debug.FreeOSMemory() // collects garbage
	debug.FreeOSMemory() // and objects that a pool kept
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // fits
}
