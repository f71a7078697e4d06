package prepaidtest

import (
	"io"

	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
)

// DailySettlement is a report template every server has: one row for each item of the ledger, as it stood when the run was
// started.
const DailySettlement = "daily_settlement"

// ReportFunc writes the CSV text of one report and returns its number of records, the header row not counted.
// An error before much is written makes the response 500, which asks for a new run; a later one cuts it short. It
// is called each time the report is read, by several readers at once if they ask so, and may write any amount:
// nothing is kept in memory.
type ReportFunc func(w io.Writer, includeColumnHeaders bool) (records int, err error)

// AddReport registers a template, or replaces it.
func (s *Server) AddReport(name string, run ReportFunc) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	s.service.Reports.Put(l, name, reports.Streamed(reports.Writer(run)))
}

// AddReportCSV registers a template with a fixed text. Its first row is the header row, left out of a report
// that is started without column headers. A text that is not CSV fails the test.
func (s *Server) AddReportCSV(name, text string) {
	run, ok := reports.Fixed(text)
	if !ok {
		s.fail("AddReportCSV: the text has no header row or is not CSV")
		return
	}
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	s.service.Reports.Put(l, name, run)
}
