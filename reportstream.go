package prepaid

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
)

// reportProgressStep is how many bytes of CSV text lie between two calls of OnProgress.
const reportProgressStep = 1 << 20

// reportCopySize is the size of the blocks that WriteTo reads and writes.
const reportCopySize = 256 << 10

// ReportProgress is where a run stands. The zero value is the start.
type ReportProgress struct {
	// Polls is how many times the service was asked for the report so far.
	Polls int
	// Bytes is how many bytes of decoded CSV text were read so far.
	Bytes int64
	// Records is how many CSV rows were read so far, the header row included.
	Records int64
}

// Report is a whole result in memory. It prints without its data; JSON keeps all of it. The zero value is an empty one.
type Report struct {
	// Data is the CSV text, as the service wrote it.
	Data string `json:"reportdata"`
	// TotalRecords is the service's count of records.
	TotalRecords int64 `json:"totalrecords"`
}

// Format implements fmt.Formatter: the sizes, for every verb.
func (r Report) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "Report{Data: %d bytes, TotalRecords: %d}", len(r.Data), r.TotalRecords)
}

// LogValue implements slog.LogValuer: the sizes.
func (r Report) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("bytes", len(r.Data)), slog.Int64("total_records", r.TotalRecords))
}

// ReportReader streams one report in constant memory, however large it is. Use Rows, Read (or io.Copy) or Report: one of
// them, once; anything else gives ErrReportUsed. Close it.
//
// All three end well only after the whole answer was read, found good, and the CSV rows counted. They must be
// as many as the service's totalrecords; when column headers were asked for, also one more, for the service
// does not say whether it counts the header row. Until then a failure can still come, as a *ReportError: do not
// act on a part of a report as if it were the whole.
//
// A ReportReader is for one goroutine; Close alone may be called from any. The zero value gives ErrReportUsed.
type ReportReader struct {
	run        ReportRun
	onProgress func(ReportProgress)
	decoder    *reportDecoder
	closeBody  func() error
	closed     atomic.Bool

	use      reportUse
	counter  rowCounter // of Read and Report
	bytes    int64
	reported int64 // steps of progress that were reported
	err      error // final result of Read
}

// reportUse is the way in which a reader is used.
type reportUse uint8

const (
	reportUnused reportUse = iota
	reportByRows
	reportByRead
	reportByReport
)

// newReportReader reads run's report from body, the body of a 200, which it closes. onProgress may be nil; it is
// called with Polls 0 after each MiB of text and at the end, from the goroutine that reads.
func newReportReader(run ReportRun, body io.ReadCloser, onProgress func(ReportProgress)) *ReportReader {
	return &ReportReader{
		run:        run,
		onProgress: onProgress,
		decoder:    newReportDecoder(body),
		closeBody:  sync.OnceValue(body.Close),
	}
}

// Run returns the run being read.
func (r *ReportReader) Run() ReportRun { return r.run }

// TotalRecords is the service's count of records; false until it was read, which may be at the very end.
func (r *ReportReader) TotalRecords() (int64, bool) {
	if r.decoder == nil {
		return 0, false
	}
	return r.decoder.total, r.decoder.hasTotal
}

// Close ends the download. It may be called more than once, and while another goroutine reads. Closing before
// the end is not an error.
func (r *ReportReader) Close() error {
	if r == nil || r.closeBody == nil {
		return nil
	}
	r.closed.Store(true)
	return r.closeBody()
}

// Rows iterates over the CSV rows, the header row first if one was asked for. The slice is valid until the next
// row; its strings may be kept (the fields of a row share memory). Rows are read as encoding/csv does, except
// that they may differ in their number of fields and that a byte order mark at the start is dropped. A row has
// at most 1 MiB and 65,536 fields. Leaving the loop early ends the download.
//
// The last pair may hold an error instead of a row, a *CallError with a *ReportError in it: malformed CSV, a download that broke off,
// or rows that are not as many as TotalRecords.
func (r *ReportReader) Rows() iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		if err := r.begin(reportByRows); err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		rows := newCSVRows(r.decoder)
		for !r.closed.Load() {
			row, err := rows.next()
			r.bytes = rows.offset
			if err == io.EOF {
				err = r.check(rows.rows)
				if err == nil {
					return
				}
			}
			if err != nil {
				yield(nil, r.fail(rows.rows, err))
				return
			}
			r.progress(rows.rows)
			if !yield(row, nil) {
				return
			}
		}
		yield(nil, r.fail(rows.rows, ErrReportUsed))
	}
}

// Read returns the decoded CSV text, as the service wrote it. io.EOF comes only after the whole answer was
// checked; every other error is a *CallError with a *ReportError in it. Malformed quoting is not a fault here, unless the text ends
// inside quotes.
func (r *ReportReader) Read(p []byte) (int, error) {
	if r.use != reportByRead {
		if err := r.begin(reportByRead); err != nil {
			return 0, err
		}
	}
	return r.read(p)
}

// WriteTo implements io.WriterTo, so that io.Copy moves the decoded CSV text in large blocks. It ends well only
// where Read would have given io.EOF; its errors are those of Read, or w's own. A failed write ends the download.
func (r *ReportReader) WriteTo(w io.Writer) (written int64, err error) {
	if r.use != reportByRead {
		if err := r.begin(reportByRead); err != nil {
			return 0, err
		}
	}
	defer r.Close()
	r.decoder.enlarge(reportCopySize)
	block := make([]byte, reportCopySize)
	for {
		n, readErr := r.read(block)
		if n > 0 {
			took, err := w.Write(block[:n])
			written += int64(took)
			if err != nil {
				return written, err
			}
			if took < n {
				return written, io.ErrShortWrite
			}
		}
		if readErr == io.EOF {
			return written, nil
		}
		if readErr != nil {
			return written, readErr
		}
	}
}

// Report reads all of it into memory. See Read for its errors.
func (r *ReportReader) Report() (*Report, error) {
	if err := r.begin(reportByReport); err != nil {
		return nil, err
	}
	defer r.Close()
	var data strings.Builder
	chunk := make([]byte, reportBufferSize)
	for {
		n, err := r.read(chunk)
		data.Write(chunk[:n])
		if err == io.EOF {
			return &Report{Data: data.String(), TotalRecords: r.decoder.total}, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Format implements fmt.Formatter: the run's template and id, for every verb. The buffers inside hold data.
func (r *ReportReader) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "ReportReader{Template: %s, ID: %s}", r.run.Template, r.run.ID)
}

// begin takes the reader for one way of use.
func (r *ReportReader) begin(use reportUse) error {
	if r.decoder == nil || r.use != reportUnused || r.closed.Load() {
		return readerError(ErrReportUsed)
	}
	r.use = use
	if use != reportByRows {
		r.decoder.rows = &r.counter
	}
	return nil
}

// read is Read without the question of use.
func (r *ReportReader) read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.closed.Load() {
		r.err = r.fail(r.counter.rows, ErrReportUsed)
		return 0, r.err
	}
	n, err := r.decoder.Read(p)
	r.bytes += int64(n)
	if err == io.EOF {
		err = r.checkText()
	}
	if err != nil {
		if err != io.EOF {
			err = r.fail(r.counter.rows, err)
		}
		r.err = err
		r.Close()
		return n, err
	}
	r.progress(r.counter.rows)
	return n, nil
}

// checkText is check for Read, with io.EOF for good.
func (r *ReportReader) checkText() error {
	if !r.counter.finish() {
		return fmt.Errorf("row %d: %w", r.counter.rows+1, csv.ErrQuote)
	}
	if err := r.check(r.counter.rows); err != nil {
		return err
	}
	return io.EOF
}

// check compares the rows with the service's count, once all else was found good.
func (r *ReportReader) check(rows int64) error {
	if total := r.decoder.total; !reportRowsAgree(rows, total, r.run.ColumnHeaders) {
		return fmt.Errorf("%d rows do not agree with %s %d", rows, memberTotalRecords, total)
	}
	r.tell(rows)
	return nil
}

// reportRowsAgree is the one rule that compares CSV rows with totalrecords. Whether a header row is counted in
// totalrecords is not specified: with one, both readings are taken.
func reportRowsAgree(rows, total int64, columnHeaders bool) bool {
	return rows == total || columnHeaders && rows == total+1
}

// progress tells about each full step.
func (r *ReportReader) progress(rows int64) {
	if steps := r.bytes / reportProgressStep; steps > r.reported {
		r.reported = steps
		r.tell(rows)
	}
}

func (r *ReportReader) tell(rows int64) {
	if r.onProgress != nil {
		r.onProgress(ReportProgress{Bytes: r.bytes, Records: rows})
	}
}

// fail makes the error of a download. Reading changes nothing: the report can be opened again.
func (r *ReportReader) fail(rows int64, err error) error {
	return readerError(&ReportError{Rows: rows, Bytes: r.bytes, Err: err})
}

func readerError(err error) error {
	return &CallError{Operation: "Reporting.Open", Outcome: OutcomeNotProcessed, Err: err}
}

var (
	_ io.ReadCloser = (*ReportReader)(nil)
	_ io.WriterTo   = (*ReportReader)(nil)
)
