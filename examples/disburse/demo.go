package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	demoPayments    = 300
	demoInterrupted = 120 // payments after which Ctrl+C is pressed
	demoFloat       = "EA52174568990000"
)

// demo shows a whole run on an emulator.
type demo struct {
	settings settings
	emulator *prepaidtest.Server
	out      io.Writer
	file     string
	date     string
	failures int
}

// runEmulated demonstrates the program on an emulator. It does not pay the caller's files: the journal would record
// them as paid.
func runEmulated(ctx context.Context, args []string, out, errOut io.Writer) int {
	if len(args) > 0 {
		if _, err := parseJob(args, prepaid.EnvironmentTest, errOut); err == nil {
			fmt.Fprintln(errOut, "disburse: flags need PREPAID_BASE_URL; see -h")
		} else if errors.Is(err, flag.ErrHelp) {
			return exitPaid
		} else {
			fmt.Fprintln(errOut, "disburse:", err)
		}
		return exitWrong
	}
	failures, err := demonstrate(ctx, out)
	if err == nil && failures > 0 {
		err = fmt.Errorf("%d steps did not go as expected", failures)
	}
	if err != nil {
		fmt.Fprintln(errOut, "disburse:", err)
		return exitRefused
	}
	return exitPaid
}

func demonstrate(ctx context.Context, out io.Writer) (failures int, err error) {
	directory, err := os.MkdirTemp("", "disburse")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	emulator, err := prepaidtest.Start()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, emulator.Close()) }()
	d := &demo{
		emulator: emulator, out: out, file: filepath.Join(directory, "payments.csv"),
		date:     time.Now().UTC().Format(time.DateOnly),
		settings: settings{config: emulator.Config(), booking: 300 * time.Millisecond, grace: 5 * time.Second},
	}
	d.settings.config.AttemptTimeout = time.Second // unknown outcomes wait longer than this
	err = d.steps(ctx)
	return d.failures, err
}

func (d *demo) steps(ctx context.Context) error {
	d.emulator.AddAccount(prepaidtest.SeedAccount{ID: demoFloat, Balance: "500000.00"})
	d.title("A file with mistakes is refused as a whole, before anything is sent")
	if err := d.write(columns + "\nemp-1,EA52174568990001,1250.00,SALARY\nemp-2,EA52174568990002,12x.50,SALARY\n" +
		"emp-1,EA52174568990003,0,\n"); err != nil {
		return err
	}
	d.disburse(ctx, d.settings, exitWrong)

	d.title(fmt.Sprintf("%d payments, checked with -dry-run", demoPayments))
	if err := d.write(d.payments()); err != nil {
		return err
	}
	d.disburse(ctx, d.settings, exitPaid, "-dry-run")

	d.title("One response in ten is lost, and Ctrl+C interrupts the run")
	d.emulator.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop().WithProbability(0.1),
		prepaidtest.Delay(20*time.Millisecond).WithProbability(0.3))
	interrupted, interrupt := context.WithCancel(ctx)
	defer interrupt()
	impatient, paid := d.settings, atomic.Int64{}
	impatient.onPaid = func() {
		if paid.Add(1) == demoInterrupted {
			interrupt()
		}
	}
	d.disburse(interrupted, impatient, exitUnfinished)

	d.title("The same command again pays the rest, and none twice")
	d.disburse(ctx, d.settings, exitPaid)

	d.title("Once more: nothing is left to send")
	d.disburse(ctx, d.settings, exitPaid)

	d.title("Counted by the emulator")
	d.count()
	return ctx.Err()
}

// payments creates a file, and its accounts.
func (d *demo) payments() string {
	var file strings.Builder
	file.WriteString(columns + "\n")
	for i := range demoPayments {
		id := d.emulator.AddAccount(prepaidtest.SeedAccount{})
		fmt.Fprintf(&file, "emp-%03d,%s,%s,SALARY %s\n", i+1, id, prepaid.Cents(demoCents(i)), d.date)
	}
	return file.String()
}

func demoCents(i int) int64 { return int64(98000 + i*137) }

func (d *demo) write(text string) error { return os.WriteFile(d.file, []byte(text), 0o600) }

// disburse runs the program and compares its exit status with the expected one.
func (d *demo) disburse(ctx context.Context, s settings, want int, more ...string) {
	args := append([]string{"-run", "demo", "-date", d.date, "-float", demoFloat}, more...)
	fmt.Fprintf(d.out, "$ disburse -file payments.csv %s\n", strings.Join(args, " "))
	out := &hiding{to: d.out, directory: filepath.Dir(d.file) + string(filepath.Separator)}
	code := s.run(ctx, append(args, "-file", d.file), out, out)
	fmt.Fprintf(d.out, "exit status %d\n", code)
	if code != want {
		d.failures++
	}
}

// count asks the emulator, which knows what moved.
func (d *demo) count() {
	j := &job{run: "demo", environment: prepaid.EnvironmentTest}
	j.date, _ = time.Parse(time.DateOnly, d.date)
	times := make(map[int]int)
	sum := prepaid.Amount{}
	for i := range demoPayments {
		times[d.emulator.Movements(j.requestID(payment{key: fmt.Sprintf("emp-%03d", i+1)}))]++
		sum, _ = sum.Add(prepaid.Cents(demoCents(i)))
	}
	left, _ := prepaid.MustAmount("500000").Sub(sum)
	balance := d.emulator.Balance(demoFloat)
	fmt.Fprintf(d.out, "paid once: %d, paid twice or more: %d, not paid: %d\n", times[1], demoPayments-times[1]-times[0], times[0])
	fmt.Fprintf(d.out, "float account: 500000.00 - %s = %s, it has %s\n", sum, left, balance)
	if times[1] != demoPayments || balance != left.String() {
		d.failures++
	}
}

func (d *demo) title(text string) { fmt.Fprintf(d.out, "\n# %s\n", text) }

// hiding removes the temporary directory from the output.
type hiding struct {
	to        io.Writer
	directory string
}

// Write writes p without the directory.
func (h *hiding) Write(text []byte) (int, error) {
	_, err := io.WriteString(h.to, strings.ReplaceAll(string(text), h.directory, ""))
	return len(text), err
}
