package prepaid

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

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
				require.ErrorIs(t, err, ErrReportIncomplete)
				fault, ok := errors.AsType[*ReportError](err)
				require.True(t, ok)
				require.Equal(t, test.rows, fault.Rows)
				require.Equal(t, int64(len(test.text)), fault.Bytes)
				require.ErrorContains(t, err, fmt.Sprintf("totalrecords %d", test.total))
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
				require.ErrorIs(t, err, ErrReportIncomplete, "%s, cut at %d", name, end)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s, cut at %d", name, end)
				require.NotErrorIs(t, err, io.EOF)
			}
		}
		for _, use := range reportUses {
			require.NoError(t, use(newTestReport(body, false)))
		}
	}
}

func TestReportGoodRowsBeforeFault(t *testing.T) {
	t.Parallel()
	r := newTestReport(`{"reportdata":"a\nb\nccc`, false)
	rows, err := collectReportRows(r)
	require.Equal(t, [][]string{{"a"}, {"b"}}, rows)
	fault, ok := errors.AsType[*ReportError](err)
	require.True(t, ok)
	require.Equal(t, int64(2), fault.Rows)
	require.Equal(t, int64(4), fault.Bytes)
	decode, ok := errors.AsType[*DecodeError](err)
	require.True(t, ok)
	require.Equal(t, int64(24), decode.Offset)
	require.Equal(t, "prepaid: report incomplete after 2 rows (4 bytes): "+decode.Error(), fault.Error())

	r = newTestReport(`{"reportdata":"a\nb\nccc`, false)
	var text bytes.Buffer
	_, err = io.Copy(&text, r)
	require.Equal(t, "a\nb\nccc", text.String())
	fault, ok = errors.AsType[*ReportError](err)
	require.True(t, ok)
	require.Equal(t, int64(2), fault.Rows)
	require.Equal(t, int64(7), fault.Bytes)
	_, again := r.Read(make([]byte, 1))
	require.Equal(t, err, again, "the error stays")
}

func TestReportMalformedCSV(t *testing.T) {
	t.Parallel()
	const secret = `5"pipe`
	body := reportBody(t, "a\n"+secret+"\n", 2)
	_, err := collectReportRows(newTestReport(body, false))
	require.ErrorIs(t, err, ErrReportIncomplete)
	require.ErrorIs(t, err, csv.ErrBareQuote)
	require.ErrorContains(t, err, "row 2")
	require.NotContains(t, err.Error(), "pipe")

	text, err := io.ReadAll(newTestReport(body, false))
	require.NoError(t, err, "an odd report can be had as text")
	require.Equal(t, "a\n"+secret+"\n", string(text))

	for name, use := range reportUses {
		err := use(newTestReport(reportBody(t, "a\n\"b\n", 2), false))
		require.ErrorIs(t, err, csv.ErrQuote, name)
		require.ErrorContains(t, err, "row 2")
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
			require.ErrorIs(t, err, ErrReportUsed, "%s, then %s", first, second)
		}
	}

	r := newTestReport(reportBody(t, "a\nb\n", 2), false)
	rows := 0
	for _, err := range r.Rows() { // mixing does not disturb the first use
		require.NoError(t, err)
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, ErrReportUsed)
		_, err = r.Report()
		require.ErrorIs(t, err, ErrReportUsed)
		rows++
	}
	require.Equal(t, 2, rows)

	seq := newTestReport(reportBody(t, "a\n", 1), false).Rows()
	for _, err := range seq {
		require.NoError(t, err)
	}
	for _, err := range seq {
		require.ErrorIs(t, err, ErrReportUsed)
	}
}

func TestReportRowsLeftEarly(t *testing.T) {
	t.Parallel()
	body := &closeCounter{Reader: strings.NewReader(reportBody(t, "a\nb\n", 2))}
	r := newReportReader(ReportRun{}, body, nil)
	for row, err := range r.Rows() {
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, row)
		break
	}
	require.Equal(t, 1, body.closed)

	body = &closeCounter{Reader: strings.NewReader(reportBody(t, "a\nb\n", 2))}
	r = newReportReader(ReportRun{}, body, nil)
	require.Panics(t, func() {
		for range r.Rows() {
			panic("the caller's own")
		}
	})
	require.Equal(t, 1, body.closed)
}

func TestReportClosed(t *testing.T) {
	t.Parallel()
	for name, use := range reportUses {
		r := newTestReport(reportBody(t, "a\n", 1), false)
		require.NoError(t, r.Close())
		require.ErrorIs(t, use(r), ErrReportUsed, name)
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
	require.ErrorIs(t, failed, ErrReportUsed)
	require.ErrorIs(t, failed, ErrReportIncomplete)

	r = newTestReport(reportBody(t, "a\nb\n", 2), false)
	_, err := r.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, ErrReportUsed)
	require.ErrorIs(t, err, ErrReportIncomplete)

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
	require.ErrorIs(t, err, ErrReportIncomplete)
	require.True(t, errors.Is(err, io.ErrClosedPipe) || errors.Is(err, ErrReportUsed), "closed before or during the read")
}

func TestReportConnectionFails(t *testing.T) {
	t.Parallel()
	for name, use := range reportUses {
		body := &closeCounter{Reader: io.MultiReader(
			strings.NewReader(`{"reportdata":"a\n`), iotest.ErrReader(context.Canceled))}
		err := use(newReportReader(ReportRun{}, body, nil))
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, err, ErrReportIncomplete)
		fault, ok := errors.AsType[*ReportError](err)
		require.True(t, ok)
		require.Equal(t, int64(1), fault.Rows)
		require.Equal(t, 1, body.closed)
	}
}

func TestReportZeroReader(t *testing.T) {
	t.Parallel()
	for name, use := range reportUses {
		require.ErrorIs(t, use(new(ReportReader)), ErrReportUsed, name)
	}
	_, known := new(ReportReader).TotalRecords()
	require.False(t, known)
	require.NoError(t, new(ReportReader).Close())
	require.NoError(t, (*ReportReader)(nil).Close())
}

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
	require.Zero(t, calls, "a report that failed has no end to tell of")
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

// Memory must not depend on the report. Not parallel: it looks at the heap.
func TestReportMemoryIsConstant(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 640 MB")
	}
	const bound = 16 << 20
	tests := map[string]struct {
		line string
		size int64
		use  string
	}{
		"rows":           {reportShapes["plain"], 256 << 20, "Rows"},
		"text":           {reportShapes["quoted"], 256 << 20, "Read"},
		"copy":           {reportShapes["mixed"], 256 << 20, "Copy"},
		"longest rows":   {strings.Repeat("x", maxReportRow) + `\n`, 64 << 20, "Rows"},
		"longest quoted": {`\"\"\"` + strings.Repeat("x", maxReportRow-4) + `\"\n`, 64 << 20, "Rows"},
	}
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // garbage that waits for its turn is not ours to count
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			grown := uint64(math.MaxUint64)
			for tries := 0; grown >= bound && tries < 3; tries++ { // on a busy machine a collection counts what is made meanwhile
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
				require.Greater(t, calls, test.size>>21, "looked at all along")
				grown = max(peak, before) - before
				t.Logf("%.1f MiB above %.1f MiB", float64(grown)/(1<<20), float64(before)/(1<<20))
			}
			require.Less(t, grown, uint64(bound))
		})
	}
}
