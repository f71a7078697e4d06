package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	demoPayments    = 300
	demoInterrupted = 120 // payments after which Ctrl+C is pressed
)

// demonstrate pays a file on an emulator. A run loses responses and is interrupted; then the same command runs again. The
// demonstration pays no file of the user: the journal would record its rows as paid.
func demonstrate(ctx context.Context, out, errOut io.Writer) (err error) {
	directory, err := os.MkdirTemp("", "disburse")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	emulator, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, emulator.Close()) }()
	float := emulator.AddAccount(prepaidtest.SeedAccount{Balance: "500000.00"})
	date := time.Now().UTC().Format(time.DateOnly)
	file := filepath.Join(directory, "payments.csv")
	var text strings.Builder
	fmt.Fprintln(&text, columns)
	for i := range demoPayments {
		id := emulator.AddAccount(prepaidtest.SeedAccount{})
		fmt.Fprintf(&text, "emp-%03d,%s,%s,SALARY %s\n", i+1, id, prepaid.Cents(int64(98000+i*137)), date)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return err
	}
	s := defaults(emulator.Config())
	s.config.AttemptTimeout = time.Second // shorter times than the service's, so that the demo takes seconds
	s.config.Retry.InFlightWait = time.Second
	s.booking, s.rateWindow = 300*time.Millisecond, 0
	args := []string{"-file", file, "-run", "demo", "-date", date, "-float", string(float)}
	disburse := func(ctx context.Context, title string, want int, more ...string) error {
		fmt.Fprintf(out, "\n# %s\n", title)
		if code := s.run(ctx, append(args[:len(args):len(args)], more...), out, errOut); code != want {
			return fmt.Errorf("exit status %d", code)
		}
		return nil
	}
	err = disburse(ctx, "The file is checked with -dry-run", exitPaid, "-dry-run")
	emulator.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop().WithProbability(0.1),
		prepaidtest.Delay(20*time.Millisecond).WithProbability(0.3))
	interrupted, interrupt := context.WithCancel(ctx)
	defer interrupt()
	paid := 0
	s.onPaid = func() {
		if paid++; paid == demoInterrupted {
			interrupt()
		}
	}
	if err == nil {
		err = disburse(interrupted, "One response in ten is lost, and Ctrl+C interrupts the run", exitUnfinished)
	}
	s.onPaid = nil
	if err == nil {
		err = disburse(ctx, "The same command again pays the rest, and nobody twice", exitPaid)
	}
	if err != nil {
		return err
	}
	movements := len(emulator.Transactions(float)) - 1 // the first is the opening balance
	fmt.Fprintf(out, "\nThe emulator made %d payments. The float account has %s.\n", movements, emulator.Balance(float))
	if movements != demoPayments {
		return errors.New("not each row was paid once")
	}
	return nil
}
