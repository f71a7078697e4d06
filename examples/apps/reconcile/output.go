package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/cardprograms/prepaid/reconcile"
)

// columns are the columns of the CSV file; README.md describes them.
func columns() []string {
	return []string{
		"finding", "kind", "account_id", "complete_from", "complete_to", "side", "request_id", "transaction_id", "amount", "time", "state",
	}
}

// output has the files of a run. The CSV file has a temporary name until it is complete, so that nobody mistakes a part for the whole file.
type output struct {
	file       *os.File
	csv        *csv.Writer
	table, bar string // paths
	findings   int
}

func create(dir string, now time.Time) (*output, error) {
	file, err := os.CreateTemp(dir, ".findings-*") // with mode 0600
	if err != nil {
		return nil, err
	}
	stamp := now.Format("20060102T150405Z")
	o := &output{file, csv.NewWriter(file), filepath.Join(dir, "findings-"+stamp+".csv"), filepath.Join(dir, "chart-"+stamp+".html"), 0}
	return o, o.csv.Write(columns())
}

// write writes a line for each row and each item of a finding.
func (o *output) write(f *reconcile.Finding) error {
	o.findings++
	var lines [][]string
	for _, r := range f.Rows {
		lines = append(lines, []string{
			"books", string(r.RequestID), string(r.TransactionID), r.Amount.String(), r.From.Format(time.RFC3339), r.Expected.String(),
		})
	}
	for _, i := range f.Items {
		lines = append(lines, []string{"service", "", string(i.TransactionID), i.Amount.String(), i.OccurredAt.Format(time.RFC3339), ""})
	}
	from := ""
	if !f.From.IsZero() {
		from = f.From.Format(time.RFC3339)
	}
	for _, line := range lines {
		line = append([]string{strconv.Itoa(o.findings), f.Kind.String(), string(f.AccountID), from, f.CompleteTo.Format(time.RFC3339)}, line...)
		if err := o.csv.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// keep gives the CSV file its final name, and writes the chart.
func (o *output) keep(s *summary) error {
	o.csv.Flush()
	err := errors.Join(o.csv.Error(), o.file.Sync(), o.file.Close())
	if err == nil {
		err = os.Rename(o.file.Name(), o.table)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(o.bar, s.chart().RenderContent(), 0o600)
}

// discard removes the CSV file unless keep has renamed it.
func (o *output) discard() {
	_ = o.file.Close()
	_ = os.Remove(o.file.Name())
}

// summary counts findings.
type summary struct {
	kinds  map[reconcile.Kind]int
	days   map[string]map[reconcile.Kind]int
	failed []*reconcile.AccountError
}

func (s *summary) add(f *reconcile.Finding) {
	s.kinds[f.Kind]++
	if f.Kind == reconcile.KindMatched {
		return
	}
	at := f.CompleteTo
	if len(f.Items) > 0 {
		at = f.Items[0].OccurredAt
	} else if len(f.Rows) > 0 {
		at = f.Rows[0].From
	}
	day := at.Format(time.DateOnly)
	if s.days[day] == nil {
		s.days[day] = map[reconcile.Kind]int{}
	}
	s.days[day][f.Kind]++
}

// differences returns the number of findings that a person must examine.
func (s *summary) differences() (n int) {
	for _, count := range s.kinds {
		n += count
	}
	return n - s.kinds[reconcile.KindMatched] - s.kinds[reconcile.KindTooEarly]
}

// chart returns a chart of the findings that did not match, by day.
func (s *summary) chart() *charts.Bar {
	bar := charts.NewBar()
	bar.SetGlobalOptions(charts.WithInitializationOpts(opts.Initialization{PageTitle: "Reconciliation"}),
		charts.WithTitleOpts(opts.Title{Title: "Findings by day", Subtitle: "without those that match"}), charts.WithLegendOpts(opts.Legend{Right: "0"}))
	days := slices.Sorted(maps.Keys(s.days))
	bar.SetXAxis(days)
	for _, kind := range reconcile.Kinds()[1:] {
		var counts []opts.BarData
		for _, day := range days {
			counts = append(counts, opts.BarData{Value: s.days[day][kind]})
		}
		bar.AddSeries(kind.String(), counts, charts.WithBarChartOpts(opts.BarChart{Stack: "findings"}))
	}
	return bar
}

// print prints the result.
func (s *summary) print(to io.Writer, completeTo time.Time, files *output) error {
	out := bufio.NewWriter(to)
	fmt.Fprintf(out, "Findings, complete to %s\n\n", completeTo.Format(time.RFC3339))
	for _, kind := range reconcile.Kinds() {
		fmt.Fprintf(out, "  %-15s %8d\n", kind, s.kinds[kind])
	}
	for _, account := range s.failed {
		fmt.Fprintf(out, "\nNot read, and without findings: account %s: %v", account.AccountID, account.Err)
	}
	fmt.Fprintf(out, "\nDifferences: %d. None is a reason to send a payment: look at each, and ask the operator.\nWritten: %s, %s\n",
		s.differences(), files.table, files.bar)
	return out.Flush()
}
