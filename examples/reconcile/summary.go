package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/cardprograms/prepaid"
)

// summary adds up statements. It keeps only unreconciled ones.
type summary struct {
	options

	days     window
	seen     map[prepaid.AccountID]bool
	problems []*statement
	total    statement // of all accounts that could be read
	unread   int
	again    int // discarded readings
}

func (s *summary) add(of *statement) (err error) {
	s.seen[of.id] = true
	s.again += of.again
	s.total.currency = cmp.Or(s.total.currency, of.currency)
	if of.currency != "" && of.currency != s.total.currency { // a sum would be meaningless
		of.problem = "is in another currency than the accounts before it"
	}
	if of.problem != "" {
		s.problems = append(s.problems, of)
	}
	if of.unread {
		s.unread++
	}
	s.total.items += of.items
	for _, sum := range []struct {
		total *prepaid.Amount
		more  prepaid.Amount
	}{
		{&s.total.opening, of.opening}, {&s.total.credits, of.credits}, {&s.total.debits, of.debits},
		{&s.total.fees, of.fees}, {&s.total.closing, of.closing},
	} {
		if *sum.total, err = sum.total.Add(sum.more); err != nil {
			return err
		}
	}
	return nil
}

// print prints the result.
func (s *summary) print(to io.Writer) error {
	rest, err := s.total.unexplained()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	fmt.Fprintf(out, "Company %s, %s to %s (%s)\n", s.company, s.days.first, s.days.last, s.days.zone)
	if s.days.today {
		fmt.Fprintln(out, "The last day is today and not over: later transactions are missing, and accounts may change while they are read.")
	}
	fmt.Fprintf(out, "\n  Accounts %d, transactions %d, amounts in %s\n\n", len(s.seen), s.total.items, cmp.Or(s.total.currency, "no currency"))
	for _, line := range []struct {
		name   string
		amount prepaid.Amount
	}{
		{"Opening balance", s.total.opening}, {"Credits", s.total.credits}, {"Debits", s.total.debits},
		{"Fees", s.total.fees}, {"Closing balance", s.total.closing}, {"Not explained", rest},
	} {
		fmt.Fprintf(out, "  %-16s %18s\n", line.name, line.amount)
	}
	if len(s.problems) == 0 {
		fmt.Fprintf(out, "\nEvery account reconciles: %d.\n", len(s.seen))
	} else {
		fmt.Fprintf(out, "\nNot reconciled: %d of %d accounts.\n", len(s.problems), len(s.seen))
	}
	for _, of := range s.problems {
		fmt.Fprintf(out, "  %s: %s\n", of.id, of.problem)
	}
	if s.unread > 0 {
		fmt.Fprintf(out, "Accounts that could not be read and are not in the sums: %d\n", s.unread)
	}
	if s.again > 0 {
		fmt.Fprintf(out, "Readings repeated because the account changed: %d\n", s.again)
	}
	fmt.Fprintf(out, "\nWritten: %s\n", filepath.Join(s.dir, "transactions.csv"))
	return out.Flush()
}
