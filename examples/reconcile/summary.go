package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/cardprograms/prepaid"
)

// charted is how many accounts get their own chart: those with the largest turnover.
const charted = 4

// summary adds up statements. It keeps a line for each account and the balances over time of a few.
type summary struct {
	days       window
	statements []*statement
	ids        map[prepaid.AccountID]bool
	total      statement      // of all accounts that could be read; its ID is empty
	balances   *series        // of all accounts together
	top        []ranked       // the accounts with the largest turnover, largest first
	rest       prepaid.Amount // of the total, unexplained
	faulty     int
	unread     int
	again      int // discarded readings
}

// ranked is an account with its balance over time.
type ranked struct {
	*statement

	turnover prepaid.Amount
	balances *series
}

func newSummary(days window) *summary {
	nothing := newSeries(days, prepaid.Amount{})
	nothing.finish()
	return &summary{days: days, ids: map[prepaid.AccountID]bool{}, balances: nothing}
}

// seen reports whether an account was seen before, and remembers it.
func (s *summary) seen(id prepaid.AccountID) bool {
	before := s.ids[id]
	s.ids[id] = true
	return before
}

// add adds a statement and, unless it is unread, its balances.
func (s *summary) add(of *statement, balances *series) error {
	s.statements = append(s.statements, of)
	s.again += of.again
	s.agree(of)
	if of.Problem != "" {
		s.faulty++
	}
	if of.Unread {
		s.unread++
		return nil
	}
	balances.finish()
	for _, sum := range []struct {
		total *prepaid.Amount
		more  prepaid.Amount
	}{
		{&s.total.Opening, of.Opening}, {&s.total.Credits, of.Credits}, {&s.total.Debits, of.Debits},
		{&s.total.Fees, of.Fees}, {&s.total.Closing, of.Closing},
	} {
		var err error
		if *sum.total, err = sum.total.Add(sum.more); err != nil {
			return err
		}
	}
	s.total.Items += of.Items
	var err error
	if s.rest, err = s.total.unexplained(); err != nil {
		return err
	}
	if err := s.balances.add(balances); err != nil {
		return err
	}
	return s.rank(of, balances)
}

// agree marks an account in another currency than the others as not reconciled: their sum would be meaningless.
func (s *summary) agree(of *statement) {
	s.total.Currency = cmp.Or(s.total.Currency, of.Currency)
	if of.Currency != "" && of.Currency != s.total.Currency {
		of.Problem = "is in another currency than the accounts before it"
	}
}

// rank keeps the balances of the accounts with the largest turnover, and drops all others.
func (s *summary) rank(of *statement, balances *series) error {
	turnover, err := of.turnover()
	if err != nil {
		return err
	}
	if of.Items == 0 {
		return nil
	}
	s.top = append(s.top, ranked{of, turnover, balances})
	slices.SortStableFunc(s.top, func(a, b ranked) int { return b.turnover.Compare(a.turnover) })
	s.top = s.top[:min(len(s.top), charted)]
	return nil
}

// verdict returns the result as one line.
func (s *summary) verdict() string {
	switch {
	case s.faulty == 0 && len(s.statements) == 1:
		return "The only account reconciles"
	case s.faulty == 0:
		return fmt.Sprintf("All %s accounts reconcile", grouped(len(s.statements)))
	default:
		return fmt.Sprintf("Not reconciled: %s of %s accounts", grouped(s.faulty), grouped(len(s.statements)))
	}
}

// print prints the result.
func (s *summary) print(out io.Writer, dir string) {
	fmt.Fprintf(out, "\n  Accounts %s, transactions %s, amounts in %s\n\n",
		grouped(len(s.statements)), grouped(s.total.Items), cmp.Or(s.total.Currency, "no currency"))
	for _, line := range []struct {
		name   string
		amount prepaid.Amount
	}{
		{"Opening balance", s.total.Opening}, {"Credits", s.total.Credits}, {"Debits", s.total.Debits},
		{"Fees", s.total.Fees}, {"Closing balance", s.total.Closing}, {"Not explained", s.rest},
	} {
		fmt.Fprintf(out, "  %-16s %18s\n", line.name, money(line.amount))
	}
	fmt.Fprintf(out, "\n%s.\n", s.verdict())
	for _, of := range s.statements {
		if of.Problem != "" {
			fmt.Fprintf(out, "  %s: %s\n", of.ID, of.Problem)
		}
	}
	if s.unread > 0 {
		fmt.Fprintf(out, "Accounts that could not be read and are not in the sums: %s\n", grouped(s.unread))
	}
	if s.again > 0 {
		fmt.Fprintf(out, "Readings repeated because the account changed: %s\n", grouped(s.again))
	}
	fmt.Fprintf(out, "\nWritten: %s\n         %s\n", filepath.Join(dir, "transactions.csv"), filepath.Join(dir, "reconcile.html"))
}
