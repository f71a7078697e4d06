package prepaid

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/internal/report"
)

const (
	reportProgressStep = 1 << 20  // bytes of CSV text between two calls of OnProgress
	reportCopySize     = 64 << 10 // size of the blocks that WriteTo writes
)

// ReportProgress is the progress of a run.
type ReportProgress struct {
	Polls   int   // how often the report has been requested
	Bytes   int64 // how many bytes of decoded CSV text have been read
	Records int64 // how many CSV rows have been read, including the header row
}

// Report is a complete report in memory. It prints its sizes; its JSON contains everything.
type Report struct {
	Data         string `json:"reportdata"`   // the CSV text, as the service wrote it
	TotalRecords int64  `json:"totalrecords"` // the service's count of records
}

func (r Report) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "Report{Data: %d bytes, TotalRecords: %d}", len(r.Data), r.TotalRecords)
}

func (r Report) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("bytes", len(r.Data)), slog.Int64("total_records", r.TotalRecords))
}

// ReportRun is a started run. Store it to open its report before ExpiresAt.
type ReportRun struct {
	Template      string    `json:"template"`       // the name of the report's template
	ID            string    `json:"id"`             // the report ID that the start returned
	RequestedAt   time.Time `json:"requested_at"`   // the local time just before the run was requested
	ColumnHeaders bool      `json:"column_headers"` // whether a header row was requested
}

// reportRetention is how long the service keeps a report, from the request (reference section 8).
const reportRetention = 4 * time.Hour

// ExpiresAt is when the service may delete the report: RequestedAt + 4 hours.
func (r ReportRun) ExpiresAt() time.Time {
	if r.RequestedAt.IsZero() {
		return time.Time{}
	}
	return r.RequestedAt.Add(reportRetention)
}

// ReportReader streams one report in constant memory. Choose one of Rows, RowsTo, Read (or io.Copy) and Report, and use it once: a second use is an
// error. Use the reader from one goroutine (Close from any), and close it. All succeed only if the response is well-formed and the
// number of CSV rows is the service's totalrecords; with column headers there may be one more row, because the reference does not say
// whether the header row counts. Until the end, they can fail with a *[ReportError]: do not treat a part as complete.
type ReportReader struct {
	run        ReportRun
	mediaType  string // of the response, for errors
	onProgress func(ReportProgress)
	decoder    *report.Decoder
	closeBody  func() error
	closed     atomic.Bool

	use      reportUse
	bytes    int64
	reported int64 // steps of progress that were reported
	err      error // final result of Read
}

// reportUse is how a reader is used.
type reportUse uint8

const (
	reportUnused reportUse = iota
	reportByRows
	reportByRead
	reportByReport
)

// Reader returns a reader of r as run's report, for fakes and tests, with all checks and errors of [ReportingService.Open]. If TotalRecords
// does not match the rows, the reader returns the *[ReportError] of a truncated report.
func (r Report) Reader(run ReportRun) *ReportReader {
	body, _ := json.Marshal(r) // the JSON is the service's response; empty if Data is not UTF-8, which the reader refuses
	return newReportReader(run, io.NopCloser(bytes.NewReader(body)), nil)
}

// newReportReader returns a reader of run's report from body, the body of a 200. The reader closes body. If onProgress is not nil, the
// reading goroutine calls it after each MiB of text and at the end, with Polls 0.
func newReportReader(run ReportRun, body io.ReadCloser, onProgress func(ReportProgress)) *ReportReader {
	return &ReportReader{
		run:        run,
		onProgress: onProgress,
		decoder:    report.NewDecoder(body),
		closeBody:  sync.OnceValue(body.Close),
	}
}

// Run returns the run being read.
func (r *ReportReader) Run() ReportRun { return r.run }

// TotalRecords returns the service's count, or false until it has been read.
func (r *ReportReader) TotalRecords() (int64, bool) {
	if r.decoder == nil {
		return 0, false
	}
	return r.decoder.Total()
}

// Close ends the download. You can call it early, twice, or during a read.
func (r *ReportReader) Close() error {
	if r == nil || r.closeBody == nil {
		return nil
	}
	r.closed.Store(true)
	return r.closeBody()
}

// Rows iterates over the CSV rows, first the header row if requested. The slice is valid until the next row; its strings may be kept (the
// fields of a row share memory). Rows are parsed as by encoding/csv, but may differ in their number of fields, and a byte order mark at the
// start is dropped. A row has at most 1 MiB and 65,536 fields. Leaving the loop early ends the download. The last pair may be an error, a
// *[CallError] with a *[ReportError].
func (r *ReportReader) Rows() iter.Seq2[[]string, error] { return r.RowsTo(nil) }

// RowsTo is Rows, and also writes the text that Read returns to w, in the same download. What w got is complete only if the loop ended
// without an error and was not left early. A failed write ends the download. Without w it is Rows.
func (r *ReportReader) RowsTo(w io.Writer) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		if err := r.begin(reportByRows); err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		rows := report.NewRows(r.decoder, w)
		for !r.closed.Load() {
			row, err := rows.Next()
			r.bytes = rows.Offset()
			if err == io.EOF {
				err = r.check(rows.Count())
				if err == nil {
					return
				}
			}
			if err != nil {
				yield(nil, r.fail(rows.Count(), err))
				return
			}
			r.progress(rows.Count())
			if !yield(row, nil) {
				return
			}
		}
		yield(nil, r.fail(rows.Count(), errReportUsed))
	}
}

// Read returns the decoded CSV text, and io.EOF only after the complete response was checked. Any other error is a *[CallError] with a
// *[ReportError]. Malformed quoting is no error here, unless the text ends inside quotes.
func (r *ReportReader) Read(p []byte) (int, error) {
	if r.use != reportByRead {
		if err := r.begin(reportByRead); err != nil {
			return 0, err
		}
	}
	return r.read(p)
}

// WriteTo copies the decoded CSV text, for io.Copy, until Read returns io.EOF. Its errors are those of Read and of w. A failed write ends
// the download.
func (r *ReportReader) WriteTo(w io.Writer) (written int64, err error) {
	if r.use != reportByRead {
		if err := r.begin(reportByRead); err != nil {
			return 0, err
		}
	}
	defer r.Close()
	return r.copyTo(w)
}

// copyTo is WriteTo without the check of use.
func (r *ReportReader) copyTo(w io.Writer) (written int64, err error) {
	return io.CopyBuffer(struct{ io.Writer }{w}, reportText{r}, make([]byte, reportCopySize))
}

// reportText is a reader without WriteTo and the check of use.
type reportText struct{ of *ReportReader }

func (t reportText) Read(p []byte) (int, error) { return t.of.read(p) }

// Report reads the complete report into memory. Its errors are those of Read.
func (r *ReportReader) Report() (*Report, error) {
	if err := r.begin(reportByReport); err != nil {
		return nil, err
	}
	defer r.Close()
	var data strings.Builder
	if _, err := r.copyTo(&data); err != nil {
		return nil, err
	}
	total, _ := r.decoder.Total()
	return &Report{Data: data.String(), TotalRecords: total}, nil
}

func (r *ReportReader) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "ReportReader{Template: %s, ID: %s}", r.run.Template, r.run.ID)
}

// begin reserves the reader for one use.
func (r *ReportReader) begin(use reportUse) error {
	if r.decoder == nil || r.use != reportUnused || r.closed.Load() {
		return readerError(errReportUsed)
	}
	r.use = use
	return nil
}

// read is Read without the check of use.
func (r *ReportReader) read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.closed.Load() {
		r.err = r.fail(r.decoder.CountedRows(), errReportUsed)
		return 0, r.err
	}
	n, err := r.decoder.Read(p)
	r.bytes += int64(n)
	if err == nil {
		r.progress(r.decoder.CountedRows())
		return n, nil
	}
	if err == io.EOF {
		err = r.checkText()
	}
	if err != io.EOF {
		err = r.fail(r.decoder.CountedRows(), err)
	}
	r.err = err
	r.Close()
	return n, err
}

// checkText is check for Read, and returns io.EOF on success.
func (r *ReportReader) checkText() error {
	if err := r.decoder.FinishRows(); err != nil {
		return err
	}
	if err := r.check(r.decoder.CountedRows()); err != nil {
		return err
	}
	return io.EOF
}

// check compares the rows with the service's count, after all other checks. The reference does not specify whether totalrecords counts the
// header row: with a header row, both counts are accepted.
func (r *ReportReader) check(rows int64) error {
	total, _ := r.decoder.Total()
	if rows != total && !(r.run.ColumnHeaders && rows == total+1) {
		return fmt.Errorf("%d rows, but totalrecords is %d", rows, total)
	}
	r.notify(rows)
	return nil
}

// progress reports each complete step.
func (r *ReportReader) progress(rows int64) {
	if steps := r.bytes / reportProgressStep; steps > r.reported {
		r.reported = steps
		r.notify(rows)
	}
}

func (r *ReportReader) notify(rows int64) {
	if r.onProgress != nil {
		r.onProgress(ReportProgress{Bytes: r.bytes, Records: rows})
	}
}

// fail returns the error of a download. Reading changes nothing: the report can be opened again.
func (r *ReportReader) fail(rows int64, err error) error {
	if body, ok := errors.AsType[*report.Malformed](err); ok {
		err = &DecodeError{StatusCode: http.StatusOK, MediaType: r.mediaType, Offset: body.Offset, Err: body.Err}
	}
	return readerError(&ReportError{Run: r.run, Rows: rows, Bytes: r.bytes, Err: err})
}

var errReportUsed = errors.New("prepaid: report reader already used or closed")

func readerError(err error) error {
	return &CallError{Operation: "Reporting.Result", Outcome: OutcomeNotProcessed, Err: err}
}

// ReportError means that a started run did not give a complete, checked report: it was not returned, or its download was interrupted, is
// malformed or no report, or has a wrong number of rows. The rows so far are correct; others may be missing. Open the run again.
type ReportError struct {
	Run   ReportRun // the run
	Rows  int64     // how many complete rows were read before the failure, including the header row
	Bytes int64     // how many bytes of decoded CSV text were read before the failure; with ReportReader.Rows, those of complete rows
	// Err is the cause: that of the failed request, or a *DecodeError, csv.ErrQuote, csv.ErrBareQuote, an error of connection or context, a
	// closed reader, a wrong row count.
	Err error
}

func (e *ReportError) Error() string {
	cause := strings.TrimPrefix(fmt.Sprint(e.Err), "prepaid: ")
	return fmt.Sprintf("prepaid: report incomplete after %d rows (%d bytes): %s", e.Rows, e.Bytes, cause)
}

func (e ReportError) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(e.Error())) }

func (e ReportError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

func (e *ReportError) Unwrap() error { return e.Err }

var (
	_ io.ReadCloser = (*ReportReader)(nil)
	_ io.WriterTo   = (*ReportReader)(nil)
)
