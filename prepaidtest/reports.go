package prepaidtest

import (
	"io"

	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
)

// DailySettlement is a report template of each server: one row for each item of the ledger at the start of the run. Its
// columns are id, parent_id, account_id, type, amount, currency, fee_amount, running_balance_amount, occurred_at,
// card_acceptor_id, terminal_id and merchant_category_code. The columns are the emulator's choice: the reference shows
// none for any report.
const DailySettlement = "daily_settlement"

// ReportFunc writes the CSV text of one report and returns its number of records without the header row. After an error in
// about the first 32 KiB the response is 500, and the caller needs a new run; a later error cuts the response short. Each
// download calls the function, also concurrently. The whole text of a download is in memory.
type ReportFunc func(w io.Writer, includeColumnHeaders bool) (records int, err error)

// AddReport registers or replaces a template.
func (s *Server) AddReport(name string, run ReportFunc) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	s.service.Reports.Put(l, name, reports.Streamed(reports.Writer(run)))
}

// AddReportCSV registers a template with a fixed text. The first row of the text is the header row; a report started
// without column headers omits this row. Invalid CSV fails the test.
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
