package journalfile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/journal"
)

// writeLarge writes a file of about the given number of lines: each payment has a line for each of states, with sealed params
// unless it is done.
func writeLarge(t testing.TB, lines int, states ...journal.State) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j")
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	_, _ = w.WriteString(header)
	for n := range lines / len(states) {
		e := benchmarkEntry(n)
		e.Destination = fmt.Sprintf("%064x", n)
		e.Params = e.Destination
		for _, e.State = range states {
			e.Sealed, e.TransactionID, e.CorrelationID = bytes.Repeat([]byte{byte(n)}, 300), "", ""
			if e.State == journal.StateDone {
				e.Sealed, e.TransactionID, e.CorrelationID = nil, "123456789", "2b4c8a4e-6c5f-4a53-9a55-8d3c61f1a1f0"
			}
			line, err := encode(e)
			require.NoError(t, err)
			_, err = w.Write(line)
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	return path
}

// The test opens, reads and compacts a large file. The baseline reads its lines, computes their CRC, and decodes their JSON with
// encoding/json. Set JOURNAL_TEST_LINES=1000000 in the environment for the figures of a million lines.
func BenchmarkLarge(b *testing.B) {
	lines, err := strconv.Atoi(cmp.Or(os.Getenv("JOURNAL_TEST_LINES"), "10000"))
	require.NoError(b, err)
	for _, states := range [][]journal.State{{journal.StateDone}, {journal.StateIntended}, {journal.StateIntended, journal.StateUnknown, journal.StateDone}} {
		path, name := writeLarge(b, lines, states...), fmt.Sprint(states)
		b.Run(name+"/baseline", func(b *testing.B) {
			for b.Loop() {
				f, err := os.Open(path)
				require.NoError(b, err)
				r := bufio.NewReaderSize(f, 64<<10)
				for {
					line, err := r.ReadSlice('\n')
					if err == io.EOF {
						break
					}
					_ = crc32.Checksum(line, crc32.MakeTable(crc32.Castagnoli))
					if len(line) > len(header) {
						require.NoError(b, json.Unmarshal(line[prefix:], new(journal.Entry)))
					}
				}
				require.NoError(b, f.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
		})
		b.Run(name+"/journal", func(b *testing.B) {
			var opening, summing, compacting time.Duration
			for b.Loop() {
				copied := path + strconv.FormatInt(int64(opening), 10) // Compact replaces it
				require.NoError(b, os.Link(path, copied))
				debug.FreeOSMemory()
				began := time.Now()
				j, err := Open(copied, Options{})
				require.NoError(b, err)
				opening += time.Since(began)
				b.ReportMetric(resident(), "open-MB")
				began = time.Now()
				_, err = j.Stats()
				require.NoError(b, err)
				summing += time.Since(began)
				b.ReportMetric(resident(), "stats-MB")
				began = time.Now()
				require.NoError(b, j.Compact(time.Time{}))
				compacting += time.Since(began)
				b.ReportMetric(resident(), "compact-MB")
				require.NoError(b, j.Close())
			}
			b.ReportMetric(opening.Seconds()/float64(b.N), "open-s")
			b.ReportMetric(float64(opening.Nanoseconds())/float64(b.N*lines), "ns/line")
			b.ReportMetric(summing.Seconds()/float64(b.N), "stats-s")
			b.ReportMetric(compacting.Seconds()/float64(b.N), "compact-s")
		})
	}
}

// resident returns the resident memory in MB, if the system reports it.
func resident() float64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(string(bytes.Fields(data)[1]))
	return float64(pages) * float64(os.Getpagesize()) / 1e6
}
