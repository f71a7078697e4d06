// Package reports runs reports. A result is written each time it is read.
//
// Reports keeps the templates and runs under the lock of the ledger. A run of the built-in template shows the ledger at the
// time of its start.
package reports

import (
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

const (
	// DailySettlement is the built-in template.
	DailySettlement = "daily_settlement"
	// reportRetention is counted from the request (section 8).
	reportRetention = 4 * time.Hour
)

// Writer writes the CSV text of one report and returns its number of records without the header row.
type Writer func(w io.Writer, headers bool) (records int, err error)

// Reports runs reports. The ledger's lock guards it.
type Reports struct {
	ledger    *ledger.Ledger
	clock     *clock.Clock
	ids       *ids.Source
	delay     time.Duration // duration of a run
	templates map[string]Template
	runs      map[string]*run
	last      map[string]*run // the newest run of each template
}

// New makes reports with the built-in template.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, delay time.Duration) *Reports {
	return &Reports{
		ledger: books, clock: c, ids: from, delay: delay, templates: map[string]Template{DailySettlement: {}},
		runs: make(map[string]*run), last: make(map[string]*run),
	}
}

// Put registers a template, or replaces it.
func (s *Reports) Put(_ ledger.Locked, name string, run Template) { s.templates[name] = run }

// run is one run of a template.
type run struct {
	id, template string
	headers      bool
	requested    time.Time
	ready        time.Time
	write        Writer // nil for a restored run of a function: see writerOf

	text   string // of a fixed report
	counts []int  // of a built-in report: items of each account, oldest account first
}

// Template is a report that can be run. The zero value is the built-in report.
type Template struct {
	write Writer
	text  string // if fixed
}

// beginRun determines the content of a run.
func (s *Reports) beginRun(l ledger.Locked, from Template, run *run) {
	if from.write == nil {
		run.counts = itemCounts(l.View)
		run.write = ledgerReport(l.View, run.counts)
		return
	}
	run.write, run.text = from.write, from.text
}

// Streamed is a template whose reports are written each time they are read.
func Streamed(write Writer) Template { return Template{write: write} }

// Fixed is a template with a fixed text. It returns false if the text has no header row or is not CSV.
func Fixed(text string) (Template, bool) {
	write := csvReport(text)
	return Template{write, text}, write != nil
}

// csvReport returns a writer, or nil if the text has no header row or is not CSV.
func csvReport(text string) Writer {
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord = -1
	_, header := reader.Read()
	start := reader.InputOffset()
	rows, err := reader.ReadAll()
	if header != nil || err != nil {
		return nil
	}
	return func(w io.Writer, headers bool) (int, error) { // a csv.Writer writes a row of one empty value as an empty line, which is no row
		shown := text
		if !headers {
			shown = text[start:]
		}
		_, err := io.WriteString(w, shown)
		return len(rows), err
	}
}

// Start handles GET /reporting/templates/{templatename}.
func (s *Reports) Start(c *exchange.Call) exchange.Response {
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
	run := &run{
		id: s.ids.UUID(), template: c.Params[0], headers: c.Parameter("include_column_headers") == "true", requested: now, ready: now.Add(s.delay),
	}
	s.beginRun(l, from, run)
	s.runs[run.id], s.last[run.template] = run, run
	return c.Octets(run.id)
}

func (r *run) gone(now time.Time) bool { return !now.Before(r.requested.Add(reportRetention)) }

// Result handles GET /reporting/templates/{templatename}/reports/{reportid}: 204 with an error as the body while the
// run is under way, and 400 for a run that does not exist or is older than four hours.
func (s *Reports) Result(c *exchange.Call) exchange.Response {
	l := s.ledger.RLock()
	now := s.clock.Now()
	run := s.runs[c.Params[1]]
	var write Writer
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
	return result(c, write, run.headers)
}

// head is how much text of a report can be sent before an error: after an error in the head, the response is 500.
const head = 32 << 10

// result writes the report result (2.11). After an error past the head, the response is the part before the error.
func result(c *exchange.Call, write Writer, headers bool) exchange.Response {
	var text strings.Builder
	records, err := write(&text, headers)
	if err != nil && text.Len() <= head {
		return c.Refuse(http.StatusInternalServerError, "server_error", "the report failed, request it again")
	}
	body, _ := jsontext.AppendQuote([]byte(`{"reportdata":`), text.String()) // replaces bytes that are not UTF-8
	if err != nil {
		response := c.Encoded(http.StatusOK, body[:len(body)-1]) // without the last quote
		response.Partial = true
		return response
	}
	return c.Encoded(http.StatusOK, append(body, `,"totalrecords":`+strconv.Itoa(records)+`}`...))
}

// writerOf returns the writer of a run. A restored run of a function uses the current template.
func (s *Reports) writerOf(_ ledger.View, run *run) Writer {
	if run.write != nil {
		return run.write
	}
	if from := s.templates[run.template]; from.write != nil {
		return from.write
	}
	return func(io.Writer, bool) (int, error) { return 0, errors.New("the template is not registered") }
}
