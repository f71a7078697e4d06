package reports

import (
	"maps"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// SavedTemplate is a template with a fixed text.
type SavedTemplate struct {
	Name string `json:"template"`
	CSV  string `json:"csv"`
}

// SavedRun has Counts (built-in report) or CSV (fixed text); a function's run has neither.
type SavedRun struct {
	ID        string    `json:"id"`
	Template  string    `json:"template"`
	Headers   bool      `json:"include_column_headers"`
	Requested time.Time `json:"requested"`
	Ready     time.Time `json:"ready"`
	Counts    []int     `json:"item_counts,omitzero"`
	CSV       string    `json:"csv,omitzero"`
	AsNow     bool      `json:"csv_of_template,omitzero"` // instead of CSV, if the template has the same text
	Last      bool      `json:"last,omitzero"`            // the newest run of its template
	Forgotten bool      `json:"forgotten,omitzero"`       // kept only because it is the last
}

// Save returns the templates with a fixed text and the runs.
func (s *Reports) Save(v ledger.View) ([]SavedTemplate, []SavedRun) {
	templates := []SavedTemplate{}
	for _, name := range slices.Sorted(maps.Keys(s.templates)) {
		if text := s.templates[name].text; text != "" {
			templates = append(templates, SavedTemplate{name, text})
		}
	}
	return templates, s.savedRuns(v)
}

// savedRuns lists each run that is available or is the last of its template.
func (s *Reports) savedRuns(_ ledger.View) []SavedRun {
	runs := make(map[string]*run)
	for _, last := range s.last {
		runs[last.id] = last
	}
	maps.Copy(runs, s.runs)
	return document.Sorted(runs, func(id string, r *run) SavedRun {
		run := SavedRun{
			ID: id, Template: r.template, Headers: r.headers, Requested: r.requested, Ready: r.ready, Counts: r.counts, CSV: r.text,
			Last: s.last[r.template] == r, Forgotten: s.runs[id] == nil,
		}
		if r.text != "" && s.templates[r.template].text == r.text {
			run.CSV, run.AsNow = "", true
		}
		return run
	})
}

// Restore loads the saved state.
func (s *Reports) Restore(l ledger.Locked, templates []SavedTemplate, runs []SavedRun) error {
	for i, add := range templates {
		template, ok := Fixed(add.CSV)
		if !ok {
			return document.Wrong("templates", i, "has a csv without a header row, or that is not CSV")
		}
		s.templates[add.Name] = template
	}
	for i, add := range runs {
		run := &run{
			id: add.ID, template: add.Template, headers: add.Headers, requested: add.Requested, ready: add.Ready,
			text: add.CSV, counts: add.Counts,
		}
		if add.AsNow {
			run.text = s.templates[add.Template].text
		}
		switch {
		case run.counts != nil:
			if !covers(l.View, run.counts) {
				return document.Wrong("report_runs", i, "has item_counts that the accounts do not have")
			}
			run.write = ledgerReport(l.View, run.counts)
		case run.text != "":
			if run.write = csvReport(run.text); run.write == nil {
				return document.Wrong("report_runs", i, "has a csv without a header row, or that is not CSV")
			}
		}
		if !add.Forgotten {
			s.runs[run.id] = run
		}
		if add.Last {
			s.last[run.template] = run
		}
	}
	return nil
}
