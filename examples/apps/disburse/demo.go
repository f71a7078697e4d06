package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const demoPayments, demoInterrupted = 300, 120 // demoInterrupted is the number of payments before Ctrl+C

// demonstrate pays a file on an emulator. The first run loses responses and is interrupted. Then the same command is started again.
func demonstrate(ctx context.Context, out, errOut io.Writer) error {
	directory, err := os.MkdirTemp("", "disburse")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a temporary directory
	emulator, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	defer emulator.Close() //nolint:errcheck // its data is not needed any more
	emulator.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop().WithProbability(0.1))
	float := emulator.AddAccount(prepaidtest.SeedAccount{Balance: "500000.00"})
	date := time.Now().UTC().Format(time.DateOnly)
	text := []byte(columns + "\n")
	for i := range demoPayments {
		id := emulator.AddAccount(prepaidtest.SeedAccount{})
		text = fmt.Appendf(text, "emp-%03d,%s,%s,SALARY %s\n", i+1, id, prepaid.Cents(int64(98000+i*137)), date)
	}
	file := filepath.Join(directory, "payments.csv")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	s := defaults(emulator.Config())
	s.config.AttemptTimeout, s.config.Retry.InFlightWait = time.Second, time.Second // so that the demonstration takes only seconds
	s.booking, s.rateWindow = 300*time.Millisecond, 0
	interrupted, interrupt := context.WithCancel(ctx)
	defer interrupt()
	paid := 0
	s.onPaid = func() {
		if paid++; paid == demoInterrupted {
			interrupt()
		}
	}
	disburse := func(ctx context.Context, title string, want int, more ...string) {
		if err != nil {
			return
		}
		fmt.Fprintf(out, "\n# %s\n", title)
		args := append([]string{"-file", file, "-run", "demo", "-date", date, "-float", string(float)}, more...)
		if code := s.run(ctx, args, out, errOut); code != want {
			err = fmt.Errorf("exit status %d", code)
		}
	}
	disburse(ctx, "The file is checked with -dry-run", exitPaid, "-dry-run")
	disburse(interrupted, "One response in ten is lost, and Ctrl+C interrupts the run", exitUnfinished)
	disburse(ctx, "The same command again pays the rest, and nobody twice", exitPaid)
	movements := len(emulator.Transactions(float)) - 1 // the first transaction is the opening balance
	fmt.Fprintf(out, "\nThe emulator made %d payments. The float account has %s.\n", movements, emulator.Balance(float))
	if err == nil && movements != demoPayments {
		err = errors.New("not each row was paid once")
	}
	return err
}
