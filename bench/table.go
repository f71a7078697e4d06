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
	met      string
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

// Values of row.met. In a row without a goal, the columns goal and met are none.
const (
	yes  = "yes"
	no   = "NO"
	none = "-"
)

// shown returns a row without a goal: the cost is unavoidable.
func shown(name string, baseline, ours float64, unit func(float64) string) row {
	return row{name: name, baseline: unit(baseline), ours: unit(ours), ratio: fmt.Sprintf("%.2f", ours/baseline), goal: none, met: none}
}

// atMost returns a row: the goal is met if ours <= limit times baseline.
func atMost(name string, baseline, ours, limit float64, unit func(float64) string) row {
	return shown(name, baseline, ours, unit).with(fmt.Sprintf("<= %.2f", limit), ours <= limit*baseline)
}

// atLeast returns a row of throughputs: the goal is met if ours >= limit times baseline.
func atLeast(name string, baseline, ours, limit float64, unit func(float64) string) row {
	return shown(name, baseline, ours, unit).with(fmt.Sprintf(">= %.2f", limit), ours >= limit*baseline)
}

// bounded returns a row without a baseline: the goal is met if ours <= limit.
func bounded(name string, ours, limit float64, unit func(float64) string) row {
	return row{name: name, baseline: none, ours: unit(ours), ratio: none}.with("<= "+unit(limit), ours <= limit)
}

// with returns r with a goal.
func (r row) with(goal string, met bool) row {
	r.goal, r.met = goal, no
	if met {
		r.met = yes
	}
	return r
}

func seconds(s float64) string {
	switch {
	case s < 1e-6:
		return fmt.Sprintf("%.1f ns", s*1e9)
	case s < 1e-3:
		return fmt.Sprintf("%.2f us", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.2f ms", s*1e3)
	}
	return fmt.Sprintf("%.2f s", s)
}

func kilobytes(n float64) string { return fmt.Sprintf("%.1f KB", n/1e3) }

func megabytes(n float64) string { return fmt.Sprintf("%.2f MB", n/1e6) }

func perSecond(n float64) string { return fmt.Sprintf("%.0f MB/s", n/1e6) }

func count(n float64) string { return fmt.Sprintf("%.0f", n) }

func decimals(n float64) string { return fmt.Sprintf("%.1f", n) }

// printTable writes the rows as one table.
func printTable(w io.Writer, rows []row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "case\tbaseline\tours\tratio\tgoal\tmet")
	decisions := map[string]int{}
	for _, r := range rows {
		decisions[r.met]++
		fmt.Fprintln(table, strings.Join([]string{r.name, r.baseline, r.ours, r.ratio, r.goal, r.met}, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d of %d goals met\n", decisions[yes], decisions[yes]+decisions[no])
	for _, r := range rows {
		if r.met == no && r.why != "" {
			fmt.Fprintf(w, "%s: %s\n", r.name, r.why)
		}
	}
	return nil
}
