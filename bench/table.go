package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// row is a line of the table.
type row struct {
	name     string
	baseline string
	ours     string
	ratio    string
	goal     string
	met      bool
	count    bool   // ours is not a time: a busy machine does not change it
	why      string // printed if the goal is missed
}

// because returns r with the reason to print if its goal is missed.
func (r row) because(why string) row {
	r.why = why
	return r
}

// from returns r with a baseline that the goal of r does not use.
func (r row) from(baseline float64, unit func(float64) string) row {
	r.baseline = unit(baseline)
	return r
}

// counted returns r, marked as a count.
func (r row) counted() row {
	r.count = true
	return r
}

// atMost returns a row: the goal is met if ours <= limit times baseline.
func atMost(name string, baseline, ours, limit float64, unit func(float64) string) row {
	return row{
		name: name, baseline: unit(baseline), ours: unit(ours), ratio: fmt.Sprintf("%.2f", ours/baseline),
		goal: fmt.Sprintf("<= %.2f", limit), met: ours <= limit*baseline,
	}
}

// atLeast returns a row of throughputs: the goal is met if ours >= limit times baseline.
func atLeast(name string, baseline, ours, limit float64, unit func(float64) string) row {
	return row{
		name: name, baseline: unit(baseline), ours: unit(ours), ratio: fmt.Sprintf("%.2f", ours/baseline),
		goal: fmt.Sprintf(">= %.2f", limit), met: ours >= limit*baseline,
	}
}

// shown returns a row without a goal: the cost is unavoidable.
func shown(name string, baseline, least float64, unit func(float64) string) row {
	return row{name: name, baseline: unit(baseline), ours: unit(least), ratio: fmt.Sprintf("%.2f", least/baseline), goal: noGoal, met: true}
}

// noGoal is the text in the column "goal" of a row without a goal.
const noGoal = "-"

// bounded returns a row without a baseline: the goal is met if ours <= limit.
func bounded(name string, ours, limit float64, unit func(float64) string) row {
	return row{name: name, baseline: "-", ours: unit(ours), ratio: "-", goal: "<= " + unit(limit), met: ours <= limit}
}

func nanoseconds(n float64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%.1f ns", n)
	case n < 1e6:
		return fmt.Sprintf("%.2f us", n/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.2f ms", n/1e6)
	}
	return fmt.Sprintf("%.2f s", n/1e9)
}

func kilobytes(n float64) string { return fmt.Sprintf("%.1f KB", n/1e3) }

func megabytes(n float64) string { return fmt.Sprintf("%.2f MB", n/1e6) }

func perSecond(n float64) string { return fmt.Sprintf("%.0f MB/s", n/1e6) }

func count(n float64) string { return fmt.Sprintf("%.0f", n) }

func decimals(n float64) string { return fmt.Sprintf("%.1f", n) }

// printTable writes the rows as one table.
func printTable(w io.Writer, rows []row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join([]string{"case", "baseline", "ours", "ratio", "goal", "met"}, "\t"))
	goals, met := 0, 0
	for _, r := range rows {
		verdict := "yes"
		switch {
		case r.goal == noGoal:
			verdict = noGoal
		case r.met:
			goals++
			met++
		default:
			verdict = "NO"
			goals++
		}
		fmt.Fprintln(table, strings.Join([]string{r.name, r.baseline, r.ours, r.ratio, r.goal, verdict}, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d of %d goals met\n", met, goals)
	for _, r := range rows {
		if !r.met && r.why != "" {
			fmt.Fprintf(w, "%s: %s\n", r.name, r.why)
		}
	}
	return nil
}
