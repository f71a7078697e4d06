package prepaid

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reportBody is a finished report as the service answers it.
func reportBody(t testing.TB, csv string, total int64) string {
	t.Helper()
	body, err := json.Marshal(Report{Data: csv, TotalRecords: total})
	require.NoError(t, err)
	return string(body)
}

// chunkReader gives at most size bytes a read.
type chunkReader struct {
	src  io.Reader
	size int
}

func (c chunkReader) Read(p []byte) (int, error) { return c.src.Read(p[:min(c.size, len(p))]) }

// closeCounter is a response body that counts how often it is closed.
type closeCounter struct {
	io.Reader
	closed int
}

func (c *closeCounter) Close() error {
	c.closed++
	return nil
}

// newTestReport returns a reader over body, without progress.
func newTestReport(body string, headers bool) *ReportReader {
	return newReportReader(ReportRun{ColumnHeaders: headers}, io.NopCloser(strings.NewReader(body)), nil)
}

// collectReportRows clones what Rows yields.
func collectReportRows(r *ReportReader) (rows [][]string, err error) {
	for row, err := range r.Rows() {
		if err != nil {
			return rows, err
		}
		rows = append(rows, append([]string{}, row...))
	}
	return rows, nil
}

// reportGenerator gives a report of any number of rows as it is read, and never holds it.
type reportGenerator struct {
	rows  int64
	line  int    // bytes of a line
	batch []byte // lines, escaped, with their line ends

	state int64 // rows written; -1 before the head
	left  []byte
}

func newReportGenerator(rows int64, line string) *reportGenerator {
	return &reportGenerator{rows: rows, line: len(line), batch: bytes.Repeat([]byte(line), max(1, reportBufferSize/len(line))), state: -1}
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
