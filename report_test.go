package prepaid

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// reportBody is the response that carries a report.
func reportBody(t testing.TB, rows string, total int64) string {
	t.Helper()
	body, err := json.Marshal(Report{Data: rows, TotalRecords: total})
	require.NoError(t, err)
	return string(body)
}

// closeCounter is a response body that counts calls of Close.
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

// collectReportRows clones the rows of Rows.
func collectReportRows(r *ReportReader) (rows [][]string, err error) {
	for row, err := range r.Rows() {
		if err != nil {
			return rows, err
		}
		rows = append(rows, append([]string{}, row...))
	}
	return rows, nil
}

// reportUses are the ways to read a report to its end.
var reportUses = map[string]func(*ReportReader) error{
	"Rows":   func(r *ReportReader) error { _, err := collectReportRows(r); return err },
	"Read":   func(r *ReportReader) error { _, err := io.Copy(io.Discard, struct{ io.Reader }{r}); return err },
	"Copy":   func(r *ReportReader) error { _, err := io.Copy(io.Discard, r); return err },
	"Report": func(r *ReportReader) error { _, err := r.Report(); return err },
}

func TestReportReader(t *testing.T) {
	t.Parallel()
	const text = "id,name\r\n1,\"Zoë \"\"Z\"\"\nde Graaf\"\n\n2,\n"
	run := ReportRun{Template: "daily", ID: "r-1", ColumnHeaders: true}
	open := func() (*ReportReader, *closeCounter) {
		body := &closeCounter{Reader: strings.NewReader(reportBody(t, text, 2))}
		return newReportReader(run, body, nil), body
	}

	r, body := open()
	require.Equal(t, run, r.Run())
	_, known := r.TotalRecords()
	require.False(t, known)
	rows, err := collectReportRows(r)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"id", "name"}, {"1", "Zoë \"Z\"\nde Graaf"}, {"2", ""}}, rows)
	total, known := r.TotalRecords()
	require.True(t, known)
	require.Equal(t, int64(2), total)
	require.Equal(t, 1, body.closed)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.Equal(t, 1, body.closed)

	r, body = open()
	require.NoError(t, iotest.TestReader(r, []byte(text)))
	require.Equal(t, 1, body.closed)

	r, body = open()
	report, err := r.Report()
	require.NoError(t, err)
	require.Equal(t, &Report{Data: text, TotalRecords: 2}, report)
	require.Equal(t, 1, body.closed)
}

func TestReportRunExpiresAt(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC)
	require.Equal(t, began.Add(4*time.Hour), ReportRun{RequestedAt: began}.ExpiresAt())
	require.Zero(t, ReportRun{}.ExpiresAt())
}

func TestReportRowsAgree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		total   int64
		headers bool
		rows    int64
		agree   bool
	}{
		{"a\nb\n", 2, false, 2, true},
		{"a\nb\n", 1, false, 2, false},
		{"a\nb\n", 3, false, 2, false},
		{"", 0, false, 0, true},
		{"", 1, false, 0, false},
		{"h\na\nb\n", 2, true, 3, true},
		{"h\na\nb\n", 3, true, 3, true},
		{"h\na\nb\n", 1, true, 3, false},
		{"h\na\nb\n", 4, true, 3, false},
		{"h\n", 0, true, 1, true},
		{"", 0, true, 0, true},
		{"", 1, true, 0, false},
	}
	for _, test := range tests {
		for name, use := range reportUses {
			t.Run(fmt.Sprintf("%s/%q of %d, headers %t", name, test.text, test.total, test.headers), func(t *testing.T) {
				t.Parallel()
				err := use(newTestReport(reportBody(t, test.text, test.total), test.headers))
				if test.agree {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, "report incomplete")
				failure, ok := errors.AsType[*ReportError](err)
				require.True(t, ok)
				require.Equal(t, test.rows, failure.Rows)
				require.Equal(t, int64(len(test.text)), failure.Bytes)
				require.ErrorContains(t, err, fmt.Sprintf("totalrecords is %d", test.total))
			})
		}
	}
}

func TestReportTruncatedAnywhere(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"reportdata":"a,b\r\n\"\u00e9\",d\n","totalrecords":2}`,
		`{"totalrecords":2,"reportdata":"a,b\r\n\"\u00e9\",d\n"}`,
	} {
		for end := range len(body) {
			for name, use := range reportUses {
				err := use(newTestReport(body[:end], false))
				require.ErrorContains(t, err, "report incomplete", "%s, cut at %d", name, end)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s, cut at %d", name, end)
				require.NotErrorIs(t, err, io.EOF)
			}
		}
		for _, use := range reportUses {
			require.NoError(t, use(newTestReport(body, false)))
		}
	}
}

func TestReportUsedOnce(t *testing.T) {
	t.Parallel()
	for first, use := range reportUses {
		for second, other := range reportUses {
			r := newTestReport(reportBody(t, "a\n", 1), false)
			require.NoError(t, use(r))
			err := other(r)
			if first != "Rows" && first != "Report" && (second == "Read" || second == "Copy") {
				require.NoError(t, err, "still at its end")
				continue
			}
			require.ErrorIs(t, err, errReportUsed, "%s, then %s", first, second)
		}
	}

	r := newTestReport(reportBody(t, "a\nb\n", 2), false)
	rows := 0
	for _, err := range r.Rows() { // mixing does not disturb the first use
		require.NoError(t, err)
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, errReportUsed)
		_, err = r.Report()
		require.ErrorIs(t, err, errReportUsed)
		rows++
	}
	require.Equal(t, 2, rows)

	seq := newTestReport(reportBody(t, "a\n", 1), false).Rows()
	for _, err := range seq {
		require.NoError(t, err)
	}
	for _, err := range seq {
		require.ErrorIs(t, err, errReportUsed)
	}
}

func TestReportClosed(t *testing.T) {
	t.Parallel()
	for name, use := range reportUses {
		r := newTestReport(reportBody(t, "a\n", 1), false)
		require.NoError(t, r.Close())
		require.ErrorIs(t, use(r), errReportUsed, name)
	}

	r := newTestReport(reportBody(t, "a\nb\n", 2), false)
	var failed error
	rows := 0
	for _, err := range r.Rows() {
		if failed = err; err == nil {
			rows++
			require.NoError(t, r.Close())
		}
	}
	require.Equal(t, 1, rows)
	require.ErrorIs(t, failed, errReportUsed)
	require.ErrorContains(t, failed, "report incomplete")

	r = newTestReport(reportBody(t, "a\nb\n", 2), false)
	_, err := r.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, errReportUsed)
	require.ErrorContains(t, err, "report incomplete")

	body := &closeCounter{Reader: strings.NewReader(reportBody(t, "a\nb\n", 2))}
	for range newReportReader(ReportRun{}, body, nil).Rows() {
		break
	}
	require.Equal(t, 1, body.closed)

	// A download that hangs ends when another goroutine closes it.
	source, sink := io.Pipe()
	r = newReportReader(ReportRun{}, source, nil)
	var closing sync.WaitGroup
	closing.Go(func() {
		_, _ = io.WriteString(sink, `{"reportdata":"a\n`)
		_ = r.Close()
	})
	_, err = collectReportRows(r)
	closing.Wait()
	require.ErrorContains(t, err, "report incomplete")
	require.True(t, errors.Is(err, io.ErrClosedPipe) || errors.Is(err, errReportUsed), "closed before or during the read")
}

func TestReportZeroReader(t *testing.T) {
	t.Parallel()
	for name, use := range reportUses {
		require.ErrorIs(t, use(new(ReportReader)), errReportUsed, name)
	}
	_, known := new(ReportReader).TotalRecords()
	require.False(t, known)
	require.NoError(t, new(ReportReader).Close())
	require.NoError(t, (*ReportReader)(nil).Close())
}

func TestReportPrintsNoData(t *testing.T) {
	t.Parallel()
	const secret = "Lovelace"
	report := Report{Data: secret, TotalRecords: 1}
	r := newReportReader(ReportRun{Template: "daily", ID: "r-1"},
		io.NopCloser(strings.NewReader(reportBody(t, secret+"\n"+secret+"\n", 2))), nil)
	for range r.Rows() {
		var log bytes.Buffer
		for _, logger := range []*slog.Logger{slog.New(slog.NewTextHandler(&log, nil)), slog.New(slog.NewJSONHandler(&log, nil))} {
			logger.Info("x", "report", report, "pointer", &report, "reader", r)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&log, verb+verb+verb, report, &report, r)
		}
		for _, form := range []string{secret, fmt.Sprintf("%x", secret), strings.Trim(fmt.Sprint([]byte(secret)), "[]")} {
			require.False(t, strings.Contains(log.String(), form), form)
		}
	}
	require.Equal(t, "ReportReader{Template: daily, ID: r-1}", fmt.Sprintf("%#v", r))
	require.Equal(t, "Report{Data: 8 bytes, TotalRecords: 1}", fmt.Sprint(report))
	kept, err := json.Marshal(report)
	require.NoError(t, err)
	require.JSONEq(t, `{"reportdata":"Lovelace","totalrecords":1}`, string(kept))
}

// failingWriter accepts left bytes and then fails.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	n := min(w.left, len(p))
	w.left -= n
	if n < len(p) {
		return n, w.err
	}
	return n, nil
}

func TestReportWriteToFails(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	text := strings.Repeat("a\n", 500_000)
	for _, room := range []int{0, 1, 300_000} {
		for want, writer := range map[error]io.Writer{
			full:             &failingWriter{left: room, err: full},
			io.ErrShortWrite: &failingWriter{left: room},
		} {
			body := &closeCounter{Reader: strings.NewReader(reportBody(t, text, 500_000))}
			r := newReportReader(ReportRun{}, body, nil)
			n, err := r.WriteTo(writer)
			require.Equal(t, want, err)
			require.Equal(t, int64(room), n)
			require.Equal(t, 1, body.closed)
			_, err = r.Read(make([]byte, 1))
			require.ErrorIs(t, err, errReportUsed)
		}
	}
}

// Rows and file come from one download: the file has what Read returns, and its errors end the loop.
func TestReportRowsTo(t *testing.T) {
	t.Parallel()
	text := "\ufeffa,\"b\r\nc\"\r\n\r\n" + strings.Repeat("d,e\n", 100_000)
	var file strings.Builder
	rows := 0
	for row, err := range newTestReport(reportBody(t, text, 100_001), false).RowsTo(&file) {
		require.NoError(t, err)
		require.Len(t, row, 2)
		rows++
	}
	require.Equal(t, 100_001, rows)
	require.True(t, file.String() == text)
	full := errors.New("disk full")
	for _, small := range []string{"a,b\n", "a,b\n1,2\n", text} {
		for want, writer := range map[error]*failingWriter{full: {err: full}, io.ErrShortWrite: {left: 1}, io.EOF: {err: io.EOF}} {
			body := &closeCounter{Reader: strings.NewReader(reportBody(t, small, 0))}
			var err error
			for _, err = range newReportReader(ReportRun{ColumnHeaders: true}, body, nil).RowsTo(writer) {
				if err == nil {
					require.Greater(t, len(small), 100, "no row of a text that was not stored")
				}
			}
			require.ErrorIs(t, err, want)
			require.Equal(t, 1, body.closed)
		}
	}
}

// An error of a copy that goes on after a Read has the right offset in the body.
func TestReportWriteToOffset(t *testing.T) {
	t.Parallel()
	body := `{"reportdata":"` + strings.Repeat(`a\n`, 200_000) + "\x01"
	r := newTestReport(body, false)
	first, err := r.Read(make([]byte, 7))
	require.NoError(t, err)
	n, err := r.WriteTo(io.Discard)
	require.Equal(t, int64(400_000), int64(first)+n)
	failure, ok := errors.AsType[*ReportError](err)
	require.True(t, ok)
	require.Equal(t, int64(200_000), failure.Rows)
	decode, ok := errors.AsType[*DecodeError](err)
	require.True(t, ok)
	require.Equal(t, int64(len(body)-1), decode.Offset)
}

func TestReportProgress(t *testing.T) {
	t.Parallel()
	const rows = 300_000
	body := reportBody(t, strings.Repeat("12345,abcdef\n", rows), rows) // 3.7 MiB of text
	for name, use := range reportUses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []ReportProgress
			r := newReportReader(ReportRun{}, io.NopCloser(strings.NewReader(body)), func(p ReportProgress) { seen = append(seen, p) })
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

func TestReportMalformedCSV(t *testing.T) {
	t.Parallel()
	const secret = `5"pipe`
	body := reportBody(t, "a\n"+secret+"\n", 2)
	_, err := collectReportRows(newTestReport(body, false))
	require.ErrorContains(t, err, "report incomplete")
	require.ErrorIs(t, err, csv.ErrBareQuote)
	require.ErrorContains(t, err, "row 2")
	require.NotContains(t, err.Error(), "pipe")

	text, err := io.ReadAll(newTestReport(body, false))
	require.NoError(t, err, "such a report can be read as text")
	require.Equal(t, "a\n"+secret+"\n", string(text))

	for name, use := range reportUses {
		err := use(newTestReport(reportBody(t, "a\n\"b\n", 2), false))
		require.ErrorIs(t, err, csv.ErrQuote, name)
		require.ErrorContains(t, err, "row 2")
	}
}
