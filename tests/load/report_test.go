package load

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Memory does not depend on the size of the report. Not parallel: it measures the heap.
func TestReportMemoryIsConstant(t *testing.T) {
	const size, bound, longest = 64 << 20, 8 << 20, 1 << 20
	rows := func(r *prepaid.ReportReader) error {
		for _, err := range r.Rows() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for name, test := range map[string]struct {
		line string
		use  func(*prepaid.ReportReader) error
	}{
		"rows": {`2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,Coffee shop Sydney,SUCCESS,17\r\n`, rows},
		"text": {`\"2026-03-01T10:00:00Z\",\"acct-000001\",\"25.50\",\"AUD\",\"Coffee shop, Sydney\"\r\n`, func(r *prepaid.ReportReader) error {
			_, err := io.Copy(io.Discard, struct{ io.Reader }{r})
			return err
		}},
		"copy": {`2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,\"Coffee shop, Sydney\",SUCCESS,17\r\n`, func(r *prepaid.ReportReader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		}},
		"longest rows":   {strings.Repeat("x", longest) + `\n`, rows},
		"longest quoted": {`\"\"\"` + strings.Repeat("x", longest-4) + `\"\n`, rows},
	} {
		t.Run(name, func(t *testing.T) {
			config := harness.Config("https://cards.example")
			config.Transport = download{size / int64(len(test.line)), test.line}
			client := harness.NewClient(t, config)
			var before, peak uint64
			calls := 0
			r, err := client.Reporting.Open(t.Context(), prepaid.ReportRun{Template: "daily", ID: "r-1"}, prepaid.RunReportParams{
				OnProgress: func(prepaid.ReportProgress) {
					if calls++; calls%4 == 1 {
						peak = max(peak, heap())
					}
				},
			})
			require.NoError(t, err)
			before = heap()
			require.NoError(t, test.use(r))
			require.Greater(t, calls, size>>21, "measured throughout")
			t.Logf("%.1f MiB above %.1f MiB", float64(max(peak, before)-before)/(1<<20), float64(before)/(1<<20))
			require.Less(t, max(peak, before)-before, uint64(bound))
		})
	}
}

// heap returns the size of everything that is in use.
func heap() uint64 {
	runtime.GC() //nolint:revive // the heap after a collection
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// download responds with a report of many equal lines.
type download struct {
	rows int64
	line string
}

func (d download) RoundTrip(r *http.Request) (*http.Response, error) {
	body := &lines{rows: d.rows, line: len(d.line), batch: bytes.Repeat([]byte(d.line), max(1, 64<<10/len(d.line))), state: -1}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(body), ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/octet-stream"}},
	}, nil
}

// lines generates a report while it is read.
type lines struct {
	rows  int64
	line  int    // bytes of a line
	batch []byte // lines, escaped, with their line ends

	state int64 // rows written; -1 before the head
	left  []byte
}

func (g *lines) Read(p []byte) (int, error) {
	for len(g.left) == 0 {
		switch {
		case g.state < 0:
			g.left = []byte(`{"reportdata":"`)
			g.state = 0
		case g.state < g.rows:
			n := min(int64(len(g.batch)/g.line), g.rows-g.state)
			g.left = g.batch[:int(n)*g.line]
			g.state += n
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
