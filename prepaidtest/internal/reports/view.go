package reports

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Run is one run of a report, for the page and for tests.
type Run struct {
	ID, Template              string
	ColumnHeaders             bool
	Requested, Ready, Expires time.Time
	Records                   int // -1 if the number is known only after the report is written
}

// Templates returns the names of the templates, sorted.
func (s *Reports) Templates(_ ledger.View) []string { return slices.Sorted(maps.Keys(s.templates)) }

// Runs returns the runs that are not forgotten, oldest first. The next start forgets expired runs.
func (s *Reports) Runs(_ ledger.View) []Run {
	list := make([]Run, 0, len(s.runs))
	for _, r := range s.runs {
		list = append(list, Run{r.id, r.template, r.headers, r.requested, r.ready, r.requested.Add(reportRetention), r.records})
	}
	slices.SortFunc(list, func(a, b Run) int {
		return cmp.Or(a.Requested.Compare(b.Requested), strings.Compare(a.Template, b.Template), strings.Compare(a.ID, b.ID))
	})
	return list
}

// Write writes the CSV text of a run; ok is false if no such run is ready.
func (s *Reports) Write(w io.Writer, id string) (records int, ok bool, err error) {
	l := s.ledger.RLock()
	now := s.clock.Now()
	run := s.runs[id]
	var write Writer
	if run != nil {
		write = s.writerOf(l, run)
	}
	l.RUnlock()
	if run == nil || run.gone(now) || now.Before(run.ready) {
		return 0, false, nil
	}
	records, err = write(w, run.headers)
	return records, true, err
}
