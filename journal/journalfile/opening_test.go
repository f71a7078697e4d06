package journalfile

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// However many payments a dead process left, Open adds one record, with one write and one sync.
func TestOpenAddsOneRecord(t *testing.T) {
	t.Parallel()
	for _, payments := range []int{1, 2500} {
		list := make([]int, payments)
		for n := range list {
			list[n] = n
		}
		data := left(t, Options{}, list...)
		before := time.Now()
		j, m := openMemory(t, data)
		require.Equal(t, 1, bytes.Count(m.data[len(data):], []byte("\n")))
		require.Equal(t, 1, m.writes)
		require.EqualValues(t, 1, m.syncs.Load())
		count := 0
		for e := range j.All() {
			count++
			require.False(t, e.LastSent.Before(before))
		}
		require.Equal(t, payments, count)
		_, again := openMemory(t, m.data)
		require.Equal(t, m.data, again.data)
	}
}

// The process dies while Open writes, with any part of the record written: the wait counts from this opening or the next, and
// never begins earlier. A compaction keeps it.
func TestOpenDiesAtEveryByte(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := sealing(t, 1)
		data := left(t, options, 1, 2)
		time.Sleep(10 * time.Second)
		opened := time.Now()
		_, m := openMemoryWith(t, data, options)
		whole := m.data
		time.Sleep(5 * time.Second)
		for cut := len(data); cut <= len(whole); cut++ {
			want := time.Now()
			if cut == len(whole) {
				want = opened
			}
			j, m := openMemoryWith(t, whole[:cut], options)
			list := slices.Collect(j.All())
			require.Len(t, list, 2)
			for _, e := range list {
				require.True(t, e.LastSent.Equal(want), "at byte %d", cut)
			}
			compacted := new(memory)
			j.disk = replacing{nameless{memory: m}, compacted}
			require.NoError(t, j.Compact(time.Time{}))
			require.NotContains(t, string(compacted.data), operationOpen)
			require.Equal(t, list, slices.Collect(j.All()))
			j, _ = openMemoryWith(t, compacted.data, options)
			require.Equal(t, list, slices.Collect(j.All()))
		}
	})
}

// replacing is the directory of a compaction in memory.
type replacing struct {
	nameless

	fresh *memory
}

func (d replacing) create(string, fs.FileMode) (file, error) { return d.fresh, nil }

func (d replacing) replace(_, fresh file, _, _ string) (file, bool, error) { return fresh, true, nil }

func (replacing) sync(string) error { return nil }

// Openings bound an entry as if each had recorded it again, whichever way the clock was set.
func TestOpeningsBoundAnEntry(t *testing.T) {
	t.Parallel()
	epoch := time.Now().UTC().Round(0)
	random := func() time.Time { return epoch.Add(time.Duration(rand.IntN(100)) * time.Second) }
	for range 10_000 {
		e := journal.Entry{State: journal.States()[rand.IntN(len(journal.States()))], Changed: random(), Resolved: rand.IntN(2) == 0}
		if rand.IntN(2) == 0 {
			e.LastSent, e.NotBefore = random(), random()
		} else {
			e.Rest = 40 * time.Second
		}
		var opened openings
		opened = opened.add(1, random())
		want := e
		for at := range int64(rand.IntN(4)) {
			now := random()
			opened = opened.add(3+at, now)
			want, _ = bounded(want, now)
		}
		got, _ := opened.bound(e, 2)
		require.Equal(t, want, got, "%v", opened)
	}
}

// An earlier version takes the record of an opening for a withdrawn payment, so that it does not refuse the file.
func TestOpeningIsAnEntryForEarlierVersions(t *testing.T) {
	t.Parallel()
	line, err := encode(openingRecord(time.Date(2026, 11, 20, 1, 2, 3, 4, time.UTC)))
	require.NoError(t, err)
	require.Equal(t, `{"request_id":"journalfile.Open","operation":"journalfile.Open","account_id":"","amount":0.00,"destination":"","params":"",`+
		`"state":"withdrawn","began":"0001-01-01T00:00:00Z","changed":"2026-11-20T01:02:03.000000004Z","runs":0}`+"\n", string(line[prefix:]))
	j, _ := openMemory(t, append([]byte(header), line...))
	_, known := j.Get(operationOpen)
	require.False(t, known)
	_, err = j.Transfer(t.Context(), newBank(), "from", prepaid.TransferParams{
		RequestID: operationOpen, Amount: prepaid.Cents(1), SourceReference: "PAY", DestinationReference: "PAY", DestinationAccountID: "2",
	})
	require.NoError(t, err, "a payment may have the same ID")
}
