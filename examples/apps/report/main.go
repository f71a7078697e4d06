// Report writes a report into a CSV file, which appears when every row is in it:
//
//	report 2026-11-20.csv
//
// The same command again continues a run that was interrupted. It uses the template REPORT_TEMPLATE of the service if
// PREPAID_BASE_URL is set, otherwise an emulator inside this process.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	file := ""
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, file)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file string) error {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate(ctx)
	}
	template := os.Getenv("REPORT_TEMPLATE")
	if template == "" || file == "" {
		return errors.New("REPORT_TEMPLATE and a file are required")
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	return errors.Join(download(ctx, client.Reporting, template, file), client.Close())
}

// download starts a run, or continues the run of an earlier process, and writes its rows. The file keeps its old content until all rows of
// the new one are on the disk.
func download(ctx context.Context, reporting *prepaid.ReportingService, template, file string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	pending, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // before the run starts: the service counts starts
	if err != nil {
		return err
	}
	defer func() { // without effect after the rename
		_ = pending.Close()
		_ = os.Remove(pending.Name())
	}()
	report, err := open(ctx, reporting, template, file+".run")
	if err != nil {
		return err
	}
	defer report.Close()
	if _, err := report.WriteTo(pending); err != nil { // also if the number of rows is not the service's
		return fmt.Errorf("the same command again reads run %s: %w", report.Run().ID, err)
	}
	if err := errors.Join(pending.Sync(), pending.Close()); err != nil {
		return err
	}
	if err := os.Rename(pending.Name(), file); err != nil {
		return err
	}
	rows, _ := report.TotalRecords()
	fmt.Printf("%s has %d rows\n", file, rows)
	return os.Remove(file + ".run")
}

// open waits for a run, which it stores in a file first: the template accepts no other start until the run is ready, and the service keeps it
// for four hours.
func open(ctx context.Context, reporting *prepaid.ReportingService, template, stored string) (*prepaid.ReportReader, error) {
	text, err := os.ReadFile(stored)
	if err == nil {
		var run prepaid.ReportRun
		if err := json.Unmarshal(text, &run); err != nil {
			return nil, err
		}
		report, err := reporting.Open(ctx, run, prepaid.RunReportParams{})
		if err != nil && (errors.Is(err, prepaid.ErrReportFailed) || time.Now().After(run.ExpiresAt())) {
			err = errors.Join(err, os.Remove(stored)) // the same command again starts a new run
		}
		return report, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return reporting.Run(ctx, template, prepaid.RunReportParams{
		IncludeColumnHeaders: true, WaitForPrevious: true, // also for a run of unknown outcome
		OnStart: func(run prepaid.ReportRun) error {
			text, err := json.Marshal(run)
			return errors.Join(err, os.WriteFile(stored, text, 0o600))
		},
	})
}

// emulate reads the settlement report of an emulator with one transfer.
func emulate(ctx context.Context) (err error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "report")
	defer func() { err = errors.Join(err, srv.Close(), os.RemoveAll(directory)) }()
	if err != nil {
		return err
	}
	account := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	srv.Adjust(account, "-20.00")
	file := filepath.Join(directory, "settlement.csv")
	if err := download(ctx, srv.Client().Reporting, prepaidtest.DailySettlement, file); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	fmt.Printf("%s", text)
	return err
}
