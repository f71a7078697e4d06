package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/cardprograms/prepaid"
)

// retention is how long the service keeps a report after the start of the run.
const retention = 4 * time.Hour

// download reads one report into one file.
type download struct {
	options

	reporting *prepaid.ReportingService
	out       io.Writer
	progress  *progressbar.ProgressBar
	emulated  bool          // the service ends with this process
	wait      time.Duration // pause between polls; if zero, the SDK's own increasing pauses
	run       prepaid.ReportRun
}

// do starts or resumes a run and writes its file. The error is errResumable if the run can be read again.
func (d *download) do(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err := os.MkdirAll(filepath.Dir(d.file), 0o750); err != nil {
		return err
	}
	file, err := createFile(d.file) // before the run starts, so that an error here wastes no start: the service counts starts
	if err != nil {
		return err
	}
	defer file.discard()
	report, err := d.open(ctx)
	if err != nil {
		return d.explain(ctx, err)
	}
	defer report.Close()
	rows, err := writeRows(file, d.format, report.Rows())
	_ = d.progress.Clear()
	if err != nil {
		return d.keepPartial(ctx, file, rows, err)
	}
	if err := file.keep(d.file); err != nil {
		return err
	}
	_ = os.Remove(d.partial()) // the file of an earlier try
	total, _ := report.TotalRecords()
	fmt.Fprintf(d.out, "complete: %d rows are in %s, and the service counted %d\n", rows-1, d.file, total)
	return nil
}

// open waits until the run is ready. It first prints the ID of a new run, so that the run can be resumed whatever
// happens later.
func (d *download) open(ctx context.Context) (*prepaid.ReportReader, error) {
	wait := prepaid.WaitOptions{Interval: d.wait, OnProgress: d.show}
	if d.resume != "" {
		d.run = prepaid.ReportRun{Template: d.template, ID: d.resume, ColumnHeaders: true}
		fmt.Fprintf(d.out, "run %s, started earlier\n", d.run.ID)
		return d.reporting.Open(ctx, d.run, wait)
	}
	return d.reporting.Run(ctx, d.template, prepaid.RunReportParams{
		IncludeColumnHeaders: true, WaitForPrevious: true, Wait: wait,
		OnStart: func(run prepaid.ReportRun) error {
			d.run = run
			until := run.RequestedAt.Add(retention).Format(time.DateTime)
			_, err := fmt.Fprintf(d.out, "run %s, available until %s UTC\n", run.ID, until)
			return err
		},
	})
}

// explain adds advice to an error.
func (d *download) explain(ctx context.Context, err error) error {
	switch {
	case d.run.ID == "" && prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown:
		return fmt.Errorf("a run with an unknown ID may have been started; a new start waits for it: %w", err)
	case d.run.ID == "":
		return err
	case errors.Is(err, prepaid.ErrReportFailed):
		return fmt.Errorf("the run failed and must be started again: %w", err)
	case errors.Is(err, prepaid.ErrBadRequest):
		return fmt.Errorf("the run is unknown or too old: %w", err)
	}
	if again := d.resume == "" && incomplete(err) && ctx.Err() == nil; d.emulated && !again {
		return fmt.Errorf("not finished, and the emulator with the run has ended: %w", err)
	}
	return fmt.Errorf("%w, continue with -resume %s: %w", errResumable, d.run.ID, err)
}

func incomplete(err error) bool {
	_, ok := errors.AsType[*prepaid.ReportError](err)
	return ok
}

// keepPartial renames a file that an error has cut short: its rows are valid, but not complete.
func (d *download) keepPartial(ctx context.Context, file *pendingFile, rows int64, err error) error {
	if !incomplete(err) { // an error of this program, such as a full disk
		return err
	}
	if rows > 1 {
		if kept := file.keep(d.partial()); kept != nil {
			return errors.Join(err, kept)
		}
		fmt.Fprintf(d.out, "incomplete: the first %d rows, %d with the header row, are in %s\n", rows-1, rows, d.partial())
	}
	return d.explain(ctx, err)
}

func (d *download) partial() string { return d.file + ".partial" }
