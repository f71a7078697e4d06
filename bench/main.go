// Program bench measures the cost of the client. Each case has a baseline: the same work without the client. The program prints
// one table. Without -counts, it exits with 0 even if a goal is not met.
//
//	go run . -quick            under two minutes
//	go run . -only account     only the cases whose names contain the word
//	go run . -counts           only allocations, bytes and pages; exits with 1 if a goal is not met
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// benchCase is a group of rows. The number of rounds is at least 1; quick runs have fewer rounds.
type benchCase struct {
	name string
	run  func(rounds int) ([]row, error)
	// Number of rounds of a full run and of a quick run.
	full, quick int
	counts      bool // the case has rows that are counts
}

func cases() []benchCase {
	return []benchCase{
		{"account", accountRows, 40, 12, true},
		{"accounts page", accountPageRows, 30, 8, true},
		{"transactions page", transactionPageRows, 30, 8, true},
		{"transfer", transferRows, 40, 12, true},
		{"loopback", loopbackRows, 20, 6, false},
		{"pages", pageRows, 3, 1, true},
		{"report", reportRows, 5, 1, false},
		{"start", startRows, 150, 30, false},
		{"token", tokenRows, 5, 1, true},
		{"limiter", limiterRows, 7, 3, true},
		{"size", sizeRows, 1, 1, true},
	}
}

func main() {
	quick := flag.Bool("quick", false, "fewer rounds")
	counts := flag.Bool("counts", false, "quick, without times; ends with 1 if a goal is not met")
	only := flag.String("only", "", "run only the cases whose names contain this")
	child := flag.String("child", "", "task of a child process of this program")
	flag.Parse()
	if *child != "" {
		if err := runChild(*child, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var rows []row
	for _, c := range cases() {
		if !strings.Contains(c.name, *only) || *counts && !c.counts {
			continue
		}
		rounds := c.full
		if *quick || *counts {
			rounds = c.quick
		}
		fmt.Fprintln(os.Stderr, "measuring:", c.name)
		more, err := c.run(rounds)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
			os.Exit(1)
		}
		rows = append(rows, more...)
	}
	if *counts {
		rows = slices.DeleteFunc(rows, func(r row) bool { return !r.count })
	}
	if err := printTable(os.Stdout, rows); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *counts && slices.ContainsFunc(rows, func(r row) bool { return !r.met }) {
		os.Exit(1)
	}
}
