package prepaid

import (
	"bytes"
	"io"
	"math"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportProgress(t *testing.T) {
	t.Parallel()
	const rows, line = 300_000, `12345,abcdef\n` // 3.7 MiB of text
	for name, use := range reportUses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []ReportProgress
			r := newReportReader(ReportRun{}, io.NopCloser(newReportGenerator(rows, line)),
				func(p ReportProgress) { seen = append(seen, p) })
			require.NoError(t, use(r))
			require.Len(t, seen, 4, "three full MiB, and the end")
			for i, p := range seen[:3] {
				require.InDelta(t, (i+1)<<20, p.Bytes, reportCopySize)
				require.InDelta(t, p.Bytes/13, p.Records, 1)
			}
			require.Equal(t, ReportProgress{Bytes: rows * 13, Records: rows}, seen[3])
		})
	}

	calls := 0
	r := newReportReader(ReportRun{}, io.NopCloser(strings.NewReader(`{"reportdata":"a`)),
		func(ReportProgress) { calls++ })
	_, err := r.Report()
	require.Error(t, err)
	require.Zero(t, calls, "a report that failed has no end to report")
}

// Memory does not depend on the size of the report. Not parallel: it measures the heap.
func TestReportMemoryIsConstant(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 640 MB")
	}
	const bound, longest = 16 << 20, 1 << 20
	tests := map[string]struct {
		line string
		size int64
		use  string
	}{
		"rows":           {`2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,Coffee shop Sydney,SUCCESS,17\r\n`, 256 << 20, "Rows"},
		"text":           {`\"2026-03-01T10:00:00Z\",\"acct-000001\",\"25.50\",\"AUD\",\"Coffee shop, Sydney\"\r\n`, 256 << 20, "Read"},
		"copy":           {`2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,\"Coffee shop, Sydney\",SUCCESS,17\r\n`, 256 << 20, "Copy"},
		"longest rows":   {strings.Repeat("x", longest) + `\n`, 64 << 20, "Rows"},
		"longest quoted": {`\"\"\"` + strings.Repeat("x", longest-4) + `\"\n`, 64 << 20, "Rows"},
	}
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // without garbage that is not collected yet
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			grown := uint64(math.MaxUint64)
			for tries := 0; grown >= bound && tries < 3; tries++ { // on a busy machine a collection includes other allocations
				source := newReportGenerator(test.size/int64(len(test.line)), test.line)
				runtime.GC()
				before, peak, calls := heap(), uint64(0), int64(0)
				r := newReportReader(ReportRun{}, io.NopCloser(source), func(ReportProgress) {
					peak = max(peak, heap())
					calls++
				})
				if test.use == "Rows" { // not collectReportRows, which keeps them
					for _, err := range r.Rows() {
						if err != nil { // require would take longer than the rows
							t.Fatal(err)
						}
					}
				} else {
					require.NoError(t, reportUses[test.use](r))
				}
				require.Greater(t, calls, test.size>>21, "measured throughout")
				grown = max(peak, before) - before
				t.Logf("%.1f MiB above %.1f MiB", float64(grown)/(1<<20), float64(before)/(1<<20))
			}
			require.Less(t, grown, uint64(bound))
		})
	}
}

// reportGenerator generates a report of any number of rows while it is read.
type reportGenerator struct {
	rows  int64
	line  int    // bytes of a line
	batch []byte // lines, escaped, with their line ends

	state int64 // rows written; -1 before the head
	left  []byte
}

func newReportGenerator(rows int64, line string) *reportGenerator {
	return &reportGenerator{rows: rows, line: len(line), batch: bytes.Repeat([]byte(line), max(1, 64<<10/len(line))), state: -1}
}

func (g *reportGenerator) Read(p []byte) (int, error) {
	for len(g.left) == 0 {
		switch {
		case g.state < 0:
			g.left = []byte(`{"reportdata":"`)
			g.state = 0
		case g.state < g.rows:
			lines := min(int64(len(g.batch)/g.line), g.rows-g.state)
			g.left = g.batch[:int(lines)*g.line]
			g.state += lines
		case g.state == g.rows:
			g.left = []byte(`","totalrecords":` + strconv.FormatInt(g.rows, 10) + `}`)
			g.state++
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, g.left)
	g.left = g.left[n:]
	return n, nil
}
