package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/cardprograms/prepaid"
)

// Names of the variables in the environment of a copy.
const (
	envWorker   = "PREPAID_HOSTILE_WORKER"
	envPayments = "PREPAID_HOSTILE_PAYMENTS"
	envDir      = "PREPAID_HOSTILE_DIR"
	envSummary  = "PREPAID_HOSTILE_SUMMARY"
)

// Job is the task of one copy of a worker.
type Job struct {
	// Worker is the number of the copy, from 1; 0 for Prepare.
	Worker int
	// Payments are the payments to make. All copies and processes get the same sequence.
	Payments []Payment
	// Dir is a directory that all copies share, empty at the start of the run.
	Dir string

	summary string
}

// State is the state of a payment as the worker reports it.
type State string

const (
	// StatePaid: the money has moved.
	StatePaid State = "paid"
	// StateRejected: no money has moved, and none will.
	StateRejected State = "rejected"
	// StateUnknown: the worker does not know whether the money has moved.
	StateUnknown State = "unknown"
)

// Claim is one line of a summary.
type Claim struct {
	// RequestID is the RequestID of the Payment, even if the worker paid under another ID.
	RequestID prepaid.RequestID `json:"request_id"`
	// State is the state that the worker reports.
	State State `json:"state"`
}

// Summarize writes the claims of the worker. Call it before the worker ends. The harness compares the last summary of
// each copy with the accounts.
func (j Job) Summarize(claims []Claim) error { return writeLines(j.summary, claims) }

// Worker runs the worker in a process that a run has started, and does not return there. Elsewhere it does nothing. Call it first in
// TestMain or main. If run returns nil, which means that all outcomes are final, the process exits with status 0. After an error it exits
// with status 1, and the harness starts it again.
//
// The context of run ends on SIGTERM, an interrupt, or the end of standard input, which the harness keeps open.
func Worker(run func(ctx context.Context, job Job) error) {
	if os.Getenv(envPayments) != "" {
		os.Exit(work(run, os.Stdin, os.Stderr))
	}
}

func work(run func(context.Context, Job) error, alive io.Reader, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the input ends when the harness ends, even if the harness could not kill this copy
		_, _ = io.Copy(io.Discard, alive)
		cancel()
	}()
	number, err := strconv.Atoi(os.Getenv(envWorker))
	job := Job{Worker: number, Dir: os.Getenv(envDir), summary: os.Getenv(envSummary)}
	if err == nil {
		job.Payments, err = readLines[Payment](os.Getenv(envPayments))
	}
	if err == nil {
		err = run(ctx, job)
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}

// writeLines writes a file with one JSON value per line.
func writeLines[T any](path string, list []T) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	for encoder := json.NewEncoder(file); len(list) > 0 && err == nil; list = list[1:] {
		err = encoder.Encode(list[0])
	}
	return errors.Join(err, file.Close())
}

// readLines reads JSON values, and returns those before the first error.
func readLines[T any](path string) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var list []T
	for decoder := json.NewDecoder(file); ; {
		var one T
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return list, fmt.Errorf("value %d is not the expected JSON", len(list)+1)
		}
		list = append(list, one)
	}
}
