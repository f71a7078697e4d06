package hostile

import (
	"bufio"
	"bytes"
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
	envFunction = "PREPAID_HOSTILE_FUNCTION"
	envWorker   = "PREPAID_HOSTILE_WORKER"
	envPayments = "PREPAID_HOSTILE_PAYMENTS"
	envDir      = "PREPAID_HOSTILE_DIR"
	envDatabase = "PREPAID_HOSTILE_DATABASE"
	envSummary  = "PREPAID_HOSTILE_SUMMARY"
)

// Job is the task of one copy of a worker.
type Job struct {
	// Worker is the number of the copy, from 1; 0 for Prepare and Enqueue.
	Worker int
	// Payments are the payments to make, and those with Rollback, which must not be made. All copies and runs get the same sequence.
	Payments []Payment
	// Dir is a directory that all copies share, empty at the start of the run.
	Dir string
	// Database is the URL of the database; empty without one. A copy gets the URL of a proxy instead.
	Database string

	file, summary string
}

// Environ returns variables such as PREPAID_HOSTILE_PAYMENTS, for a command that Prepare or Enqueue starts.
func (j Job) Environ() []string {
	return []string{
		envWorker + "=" + strconv.Itoa(j.Worker), envPayments + "=" + j.file, envDir + "=" + j.Dir, envSummary + "=" + j.summary,
		envDatabase + "=" + j.Database,
	}
}

// ReadJob reads a command's job from the environment.
func ReadJob() (Job, error) {
	job := Job{Dir: os.Getenv(envDir), Database: os.Getenv(envDatabase), file: os.Getenv(envPayments), summary: os.Getenv(envSummary)}
	var err error
	if job.Worker, err = strconv.Atoi(os.Getenv(envWorker)); err != nil {
		return Job{}, errors.New("hostile: " + envWorker + ": must be a whole number")
	}
	text, err := os.ReadFile(job.file)
	if err != nil {
		return Job{}, fmt.Errorf("hostile: %s: %w", envPayments, err)
	}
	job.Payments, err = readLines[Payment](text)
	if err != nil {
		return Job{}, fmt.Errorf("hostile: %s: %w", envPayments, err)
	}
	return job, nil
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
func (j Job) Summarize(claims []Claim) error {
	text, err := writeLines(claims)
	if err == nil {
		err = os.WriteFile(j.summary, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("hostile: %s: %w", envSummary, err)
	}
	return nil
}

// Worker registers the function run under a name, for [Options].Worker. Call Worker at the start of TestMain or main, once for each name.
// In a process that the harness has started for this name, Worker calls run. If run returns nil, which means that all outcomes are final,
// the process exits with status 0. After an error it exits with status 1, and the harness starts it again. Elsewhere Worker does nothing.
//
// The context of run ends on SIGTERM, an interrupt, or the end of standard input, which the harness keeps open.
func Worker(name string, run func(ctx context.Context, job Job) error) {
	if os.Getenv(envFunction) == name && name != "" {
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
	job, err := ReadJob()
	if err == nil {
		err = run(ctx, job)
	}
	if err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}

func writeLines[T any](list []T) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for _, one := range list {
		if err := encoder.Encode(one); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

func readLines[T any](text []byte) (list []T, err error) {
	lines, number := bufio.NewScanner(bytes.NewReader(text)), 1
	for ; lines.Scan(); number++ {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("line %d is not the expected JSON", number)
		}
		list = append(list, one)
	}
	if lines.Err() != nil {
		return nil, fmt.Errorf("line %d is too long", number)
	}
	return list, nil
}
