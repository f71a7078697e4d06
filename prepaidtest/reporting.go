package prepaidtest

import (
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const (
	// dailySettlement is the built-in template.
	dailySettlement = "daily_settlement"
	// reportRetention is counted from the request (section 8).
	reportRetention = 4 * time.Hour
)

// reportWriter writes the CSV text of one report and returns its number of records, the header row not counted.
type reportWriter func(w io.Writer, headers bool) (records int, err error)

// reports runs reports. The ledger's lock guards it.
type reports struct {
	ledger    *ledger.Ledger
	clock     *clock.Clock
	ids       *ids.Source
	delay     time.Duration // of a run
	templates map[string]template
	runs      map[string]*reportRun
	last      map[string]*reportRun // the newest run of each template
}

// newReports makes reports with the built-in template.
func newReports(ledger *ledger.Ledger, clock *clock.Clock, from *ids.Source, delay time.Duration) *reports {
	return &reports{
		ledger: ledger, clock: clock, ids: from, delay: delay, templates: map[string]template{dailySettlement: {}},
		runs: make(map[string]*reportRun), last: make(map[string]*reportRun),
	}
}

// put registers a template, or replaces it.
func (s *reports) put(_ ledger.Locked, name string, run template) { s.templates[name] = run }

// reportRun is one run of a template.
type reportRun struct {
	id, template string
	headers      bool
	requested    time.Time
	ready        time.Time
	write        reportWriter // nil after a restart, until the template is there again

	text   string // of a fixed report
	counts []int  // of the built-in one: items of each account, oldest account first
}

// template is a report that can be run. Without anything it is the built-in one.
type template struct {
	write reportWriter
	text  string // of a fixed one
}

// beginRun fixes what a run shows.
func (s *reports) beginRun(l ledger.Locked, from template, run *reportRun) {
	if from.write == nil {
		run.counts = itemCounts(l.View)
		run.write = ledgerReport(l.View, run.counts)
		return
	}
	run.write, run.text = from.write, from.text
}

// csvReport gives nil for a text that has no header row or is not CSV.
func csvReport(text string) reportWriter {
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
func (s *reports) startReport(c *exchange.Call) exchange.Response {
	var headers bool
	if refusal := c.BindQuery(func(q *wire.Query) { q.RequiredBoolean("include_column_headers", &headers) }); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	from, known := s.templates[c.Params[0]]
	if !known {
		return c.Unusable("invalid fields: templatename is no template")
	}
	now := s.clock.Now()
	if last := s.last[c.Params[0]]; last != nil && now.Before(last.ready) {
		return c.Refuse(http.StatusConflict, "duplicate_request", "a run of the template has not finished")
	}
	for id, old := range s.runs {
		if old.gone(now) {
			delete(s.runs, id)
		}
	}
	run := &reportRun{
		id: s.ids.UUID(), template: c.Params[0], headers: headers, requested: now, ready: now.Add(s.delay),
	}
	s.beginRun(l, from, run)
	s.runs[run.id], s.last[run.template] = run, run
	return c.Octets(run.id)
}

func (r *reportRun) gone(now time.Time) bool { return !now.Before(r.requested.Add(reportRetention)) }

// reportResult answers GET /reporting/templates/{templatename}/reports/{reportid}: 204 with the shape of an
// error while the run is under way, and 400 for a run that does not exist or is older than four hours.
func (s *reports) reportResult(c *exchange.Call) exchange.Response {
	l := s.ledger.RLock()
	now := s.clock.Now()
	run := s.runs[c.Params[1]]
	var write reportWriter
	if run != nil {
		write = s.writerOf(l, run)
	}
	l.RUnlock()
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

// writerOf gives a restored run of a function the template of today.
func (s *reports) writerOf(_ ledger.View, run *reportRun) reportWriter {
	if run.write != nil {
		return run.write
	}
	if from := s.templates[run.template]; from.write != nil {
		return from.write
	}
	return func(io.Writer, bool) (int, error) { return 0, errors.New("the template is not registered") }
}
