package prepaid

import (
	"errors"
	"fmt"
)

// Sentinels of a report download, for errors.Is.
var (
	// ErrReportIncomplete: the report could not be read to its checked end. Every *ReportError matches it.
	ErrReportIncomplete = errors.New("prepaid: report incomplete")
	// ErrReportUsed: the ReportReader has been used in another way, a second time, or after Close.
	ErrReportUsed = errors.New("prepaid: report reader already used or closed")
)

// ReportError means that a report could not be read to its checked end: the download broke off, the answer is
// not a report, the CSV text is malformed, or its rows are not as many as the service counted. What came before
// is good as far as it goes, but it is not the report. It matches ErrReportIncomplete. The zero value broke before the
// first row, without a cause.
type ReportError struct {
	// Rows is how many whole rows came before the fault, the header row included.
	Rows int64
	// Bytes is how many bytes of decoded CSV text came before the fault: for Rows those of the whole rows,
	// for Read and Report all that were read.
	Bytes int64
	// Err is the cause: a *DecodeError, an error of encoding/csv (csv.ErrQuote, csv.ErrBareQuote), the error of
	// the connection or context, ErrReportUsed after Close, or the count that does not agree.
	Err error
}

// Error gives the rows, the bytes and the cause, never the content.
func (e *ReportError) Error() string {
	return fmt.Sprintf("%v after %d rows (%d bytes): %v", ErrReportIncomplete, e.Rows, e.Bytes, e.Err)
}

// Unwrap returns Err.
func (e *ReportError) Unwrap() error { return e.Err }

// Is matches ErrReportIncomplete.
func (e *ReportError) Is(target error) bool { return target == ErrReportIncomplete }
