package prepaidtest

import (
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const (
	// DailySettlement is a report template every server has: one row for each item of the ledger, as it stood
	// when the run was started.
	DailySettlement = "daily_settlement"
	// reportRetention is counted from the request (section 8).
	reportRetention = 4 * time.Hour
)

// ReportFunc writes the CSV text of one report and returns its number of records, the header row not counted.
// An error before much is written makes the answer 500, which asks for a new run; a later one cuts it short. It
// is called each time the report is read, by several readers at once if they ask so, and may write any amount:
// nothing is kept in memory.
type ReportFunc func(w io.Writer, includeColumnHeaders bool) (records int, err error)

// reportRun is one run of a template.
type reportRun struct {
	id, template string
	headers      bool
	requested    time.Time
	ready        time.Time
	write        ReportFunc // nil after a restart, until the template is there again

	text   string // of a fixed report
	counts []int  // of the built-in one: items of each account, oldest account first
}

// template is a report that can be run. Without anything it is the built-in one.
type template struct {
	write ReportFunc
	text  string // of a fixed one
}

// beginRun fixes what a run shows. It needs s.mu.
func (s *Server) beginRun(from template, run *reportRun) {
	if from.write == nil {
		run.counts = s.itemCounts()
		run.write = s.settlement(run.counts)
		return
	}
	run.write, run.text = from.write, from.text
}

// AddReport registers a template, or replaces it.
func (s *Server) AddReport(name string, run ReportFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.templates[name] = template{write: run}
}

// AddReportCSV registers a template with a fixed text. Its first row is the header row, left out of a report
// that is started without column headers. A text that is not CSV fails the test.
func (s *Server) AddReportCSV(name, text string) {
	run := csvReport(text)
	if run == nil {
		s.fail("AddReportCSV: the text has no header row or is not CSV")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.templates[name] = template{run, text}
}

// csvReport gives nil for a text that has no header row or is not CSV.
func csvReport(text string) ReportFunc {
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil
	}
	return func(w io.Writer, headers bool) (int, error) {
		shown := rows
		if !headers {
			shown = rows[1:]
		}
		return len(rows) - 1, csv.NewWriter(w).WriteAll(shown)
	}
}

// startReport answers GET /reporting/templates/{templatename}.
func (s *Server) startReport(c *exchange.Call) exchange.Response {
	var headers bool
	if refusal := c.BindQuery(func(q *wire.Query) { q.RequiredBoolean("include_column_headers", &headers) }); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from, known := s.templates[c.Params[0]]
	if !known {
		return c.Unusable("invalid fields: templatename is no template")
	}
	now := s.clock.Now()
	if last := s.lastRun[c.Params[0]]; last != nil && now.Before(last.ready) {
		return c.Refuse(http.StatusConflict, "duplicate_request", "a run of the template has not finished")
	}
	for id, old := range s.runs {
		if old.gone(now) {
			delete(s.runs, id)
		}
	}
	run := &reportRun{
		id: s.ids.UUID(), template: c.Params[0], headers: headers, requested: now, ready: now.Add(s.settings.reportDelay),
	}
	s.beginRun(from, run)
	s.runs[run.id], s.lastRun[run.template] = run, run
	return c.Octets(run.id)
}

func (r *reportRun) gone(now time.Time) bool { return !now.Before(r.requested.Add(reportRetention)) }

// reportResult answers GET /reporting/templates/{templatename}/reports/{reportid}: 204 with the shape of an
// error while the run is under way, and 400 for a run that does not exist or is older than four hours.
func (s *Server) reportResult(c *exchange.Call) exchange.Response {
	s.mu.RLock()
	now := s.clock.Now()
	run := s.runs[c.Params[1]]
	var write ReportFunc
	if run != nil {
		write = s.writerOf(run)
	}
	s.mu.RUnlock()
	if run == nil || run.template != c.Params[0] || run.gone(now) {
		return c.Unusable("invalid fields: reportid is no report of the template, or no longer available")
	}
	if now.Before(run.ready) {
		return c.Refuse(http.StatusNoContent, "report_processing", "the report is being processed, please wait")
	}
	return exchange.Response{
		Status: http.StatusOK, ContentType: c.Form.MediaType,
		Stream: func(w io.Writer) error { return writeReport(w, write, run.headers) },
	}
}

// writerOf gives a restored run of a function the template of today. It needs s.mu.
func (s *Server) writerOf(run *reportRun) ReportFunc {
	if run.write != nil {
		return run.write
	}
	if from := s.templates[run.template]; from.write != nil {
		return from.write
	}
	return func(io.Writer, bool) (int, error) { return 0, errors.New("the template is not registered") }
}
