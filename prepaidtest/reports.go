package prepaidtest

import (
	"errors"
	"io"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
)

// DailySettlement is a report template of each server: one row for each item of the ledger at the start of the run. Its
// columns are id, parent_id, account_id, type, amount, currency, fee_amount, running_balance_amount, occurred_at,
// card_acceptor_id, terminal_id and merchant_category_code. The columns are the emulator's choice: the reference shows
// none for any report.
const DailySettlement = "daily_settlement"

// ReportFunc writes the CSV text of one report and returns its number of records without the header row. After an error in
// about the first 32 KiB the response is 500, and the caller needs a new run; a later error cuts the response short. Each
// download calls the function, also concurrently. The text may have any length: it is not kept in memory.
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

// The states of a ReportRun (3.2).
const (
	// ReportProcessing is a run whose result is not ready.
	ReportProcessing = "processing"
	// ReportReady is a run whose result can be fetched.
	ReportReady = "ready"
	// ReportExpired is a run whose result is no longer available, 4 hours after its request.
	ReportExpired = "expired"
)

// ReportRun is a run of a report template (3.2).
type ReportRun struct {
	// ID is the report id.
	ID string
	// Template is the name of the template.
	Template string
	// State is ReportProcessing, ReportReady or ReportExpired.
	State string
	// ColumnHeaders reports whether the run was started with column headers.
	ColumnHeaders bool
	// RequestedAt is when the run was started, on the server's clock.
	RequestedAt time.Time
	// ReadyAt is when the result is ready.
	ReadyAt time.Time
	// ExpiresAt is when the result is no longer available.
	ExpiresAt time.Time
	// Records is totalrecords. It is -1 for a template of AddReport: the number is unknown until the report is written.
	Records int
}

// ReportTemplates returns the names of the report templates, sorted.
func (s *Server) ReportTemplates() []string {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	return s.service.Reports.Templates(l)
}

// ReportRuns returns the runs of all templates, oldest first. Expired runs are listed until the next run starts.
func (s *Server) ReportRuns() []ReportRun {
	now := s.service.Clock.Now()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	runs := s.service.Reports.Runs(l)
	list := make([]ReportRun, len(runs))
	for i, r := range runs {
		state := ReportReady
		switch {
		case !now.Before(r.Expires):
			state = ReportExpired
		case now.Before(r.Ready):
			state = ReportProcessing
		}
		list[i] = ReportRun{r.ID, r.Template, state, r.ColumnHeaders, r.Requested, r.Ready, r.Expires, r.Records}
	}
	return list
}

// ErrNoReport is the error of WriteReport for a run that does not exist or is not in the state ReportReady.
var ErrNoReport = errors.New("prepaidtest: there is no such report that is ready")

// WriteReport writes the CSV text of a run's result, and returns its number of records. If the run is not in the
// state ReportReady, the error is ErrNoReport; other errors are from the template's function or w.
func (s *Server) WriteReport(w io.Writer, reportID string) (records int, err error) {
	records, ok, err := s.service.Reports.Write(w, reportID)
	if !ok {
		return 0, ErrNoReport
	}
	return records, err
}
