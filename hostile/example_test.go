package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// payAll is a worker: it pays everything with a journal that all its runs share.
func payAll(ctx context.Context, job hostile.Job) error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close()
	j, err := journalfile.Open(filepath.Join(job.Dir, "journal"), journalfile.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	list := make([]journal.Payment, len(job.Payments))
	for i, p := range job.Payments {
		list[i] = journal.Payment{Account: p.SourceAccountID, Params: p.Params()}
	}
	var open []error
	for e, err := range j.PayAll(ctx, client.Accounts, 8, slices.Values(list)) {
		if e.State != journal.StateDone && e.State != journal.StateRejected {
			open = append(open, err) // not settled: run again
		}
	}
	return errors.Join(open...)
}

// TestMain, or main, calls Worker first.
func ExampleWorker() {
	hostile.Worker(payAll) // does not return in a process that a run has started
}

// TestMain registered the worker with hostile.Worker(payAll). The test runs copies of it, and fails with timelines if a
// payment is not as ordered.
func ExampleTest() {
	_ = func(t *testing.T) {
		hostile.Test(t, hostile.Options{Payments: 200, Copies: 1})
	}
}

// If a worker has a fixed lease of 5 s, its service must take longer.
func ExampleOptions() {
	slow := hostile.Options{AttemptTimeout: 5 * time.Second, InFlightWait: 5 * time.Second, Freeze: 20 * time.Second, Timeout: 10 * time.Minute}
	fmt.Println(slow.Freeze > slow.AttemptTimeout+slow.InFlightWait)
	// Output: true
}

// A program can run the harness itself. Here a worker pays eight payments, and is killed once.
func ExampleRun() {
	report, err := hostile.Run(context.Background(), hostile.Options{
		Payments: 8, Copies: 1, Seed: 7, Kills: 1, Freezes: -1, Faults: -1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.OK(), report.Paid, "paid,", report.Kills, "kill") // true 8 paid, 1 kill
}
