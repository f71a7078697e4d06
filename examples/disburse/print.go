package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/cardprograms/prepaid/journal"
)

// printer prints what the program reports: totals to out, faults and progress to errOut.
type printer struct {
	out io.Writer
	bar *bar // nil if errOut is not a terminal

	mu     sync.Mutex // workers report faults
	errOut io.Writer
}

func (s *printer) row(name, format string, args ...any) {
	fmt.Fprintf(s.out, "%-11s "+format+"\n", append([]any{name}, args...)...)
}

func (s *printer) total(name string, t journal.Total) { s.row(name, "%7d %16s", t.Count, t.Sum) }

// fault prints one fault.
func (s *printer) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		_ = s.bar.Clear() // it is redrawn below
	}
	fmt.Fprintln(s.errOut, err)
}

func (s *printer) plan(pl plan) {
	for _, part := range []struct {
		name  string
		total journal.Total
	}{{"  paid", pl.paid}, {"  rejected", pl.rejected}, {"  unknown ", pl.unknown}, {"  to send", pl.fresh}} {
		s.total(part.name, part.total)
	}
}

func (s *printer) dryRun(all journal.Total) {
	s.row("dry run", "nothing was sent; add -rows %d -sum %s to the run itself", all.Count, all.Sum)
}

func (s *printer) result(r result, all journal.Total) {
	fmt.Fprintln(s.out)
	for _, state := range states() {
		s.total(state, *r[state])
	}
	s.total("together", all)
}

// proven prints what was found. Payments that a person resolved are not searched for.
func (s *printer) proven(paid, resolved int) {
	text := "the histories of the accounts contain all paid rows"
	switch {
	case resolved == paid:
		text = "nothing: a person resolved the paid rows, which are not searched for"
	case resolved > 0:
		text += ", except " + plural(int64(resolved), "payment") + " that a person resolved"
	}
	s.row("proven", "%s", text)
}

// progress starts a bar if errOut is a terminal, and replaces the previous one. most is -1 if unknown.
func (s *printer) progress(doing, unit string, most int) {
	s.progressEnds()
	if file, ok := s.errOut.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		s.bar = newBar(s.errOut, doing, unit, most)
	}
}

func (s *printer) doing(text string) {
	if s.bar != nil {
		s.bar.doing.Store(&text)
	}
}

func (s *printer) progressed() {
	if s.bar != nil {
		s.bar.add()
	}
}

func (s *printer) progressEnds() {
	if s.bar != nil {
		s.bar.end()
		s.bar = nil
	}
}

// plural formats a number with its noun.
func plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
