// Disburse pays each row of a CSV file once, however often it is killed and run again, and prints the state of each row as CSV:
//
//	disburse -run payroll-2026-11 -date 2026-11-30 payroll.csv >summary.csv
//
// It pays from the account FLOAT_ACCOUNT of the service if PREPAID_BASE_URL is set. Otherwise it pays payments.csv on an
// emulator inside this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

func main() {
	job := &job{date: prepaid.DateOf(time.Now().UTC())}
	flag.StringVar(&job.run, "run", "demo", "`name` of the run, such as payroll-2026-11")
	flag.TextVar(&job.date, "date", job.date, "`day` of the payments; the same each time the run is continued")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := disburse(ctx, job, flag.Arg(0), os.Stdout)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// errOpen means that the run is not finished, or that rows were refused.
var errOpen = errors.New("not all rows are done")

// disburse checks the file, pays the rows and writes their states to out.
func disburse(ctx context.Context, job *job, file string, out io.Writer) (err error) {
	s, err := open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	job.environment = s.environment
	rows, err := job.read(s.file, s.float)
	if err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	// The journal excludes other runs, and stores each request ID before it sends. To pay bank accounts, also set a DigestKey.
	payments, err := journalfile.Open(filepath.Join(filepath.Dir(s.file), job.journal()), journalfile.Options{})
	if err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	defer func() { err = errors.Join(err, payments.Close()) }()
	if err := check(ctx, s, payments, rows); err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	stopped := pay(ctx, s, payments, rows)
	total, err := summarize(out, payments, rows)
	fmt.Fprintf(os.Stderr, "%s: %d of %d rows are done, together %s\n", job.run, total.Count, len(rows), total.Sum)
	if err == nil && stopped == nil && total.Count < len(rows) {
		stopped = errOpen
	}
	if stopped != nil {
		stopped = fmt.Errorf("run the same command again: %w", stopped)
	}
	return errors.Join(stopped, err)
}
