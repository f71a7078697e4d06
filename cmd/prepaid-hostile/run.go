package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/cardprograms/prepaid/hostile"
)

// Exit statuses.
const (
	exitSafe       = 0
	exitWrong      = 1 // the payments, or the claims in a summary, are wrong
	exitUsage      = 2
	exitUnfinished = 3
)

const usage = `Usage: prepaid-hostile [flags] -- worker [arguments]

Runs several copies of a worker against an emulator of the service, kills and freezes them, cuts their network, freezes the
service, loses responses, lets repeats overtake the first request and pay, and compares every account with what was ordered.

A copy finds in its environment the PREPAID_ variables of a client, and
  PREPAID_HOSTILE_PAYMENTS   file with the payments to make, one JSON object a line
  PREPAID_HOSTILE_DIR        directory that all copies share, empty at the start
  PREPAID_HOSTILE_DATABASE   with -database: its URL, through a proxy
  PREPAID_HOSTILE_SUMMARY    file to write {"request_id": "...", "state": "paid|rejected|unknown"} lines to; optional
  PREPAID_HOSTILE_WORKER     number of the copy
It ends with status 0 when all payments are settled. After any other end it is run again.

Exit status:
  0  every payment was made once, and nothing else was
  1  money or a summary is wrong: see the timelines
  2  the command line is wrong, or a command cannot be run
  3  the workers did not finish

A number below 0 means none. Flags:
`

// run does the work of main and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	errOut = &shared{to: errOut} // shared with the workers and -enqueue
	set, options, err := parse(args, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitSafe
	case err != nil:
		return exitUsage // parse has printed the error
	}
	report, err := hostile.Run(ctx, options)
	if err != nil {
		fmt.Fprintln(errOut, "prepaid-hostile:", err)
		return exitUsage
	}
	report.Reproduce = "go run github.com/cardprograms/prepaid/cmd/prepaid-hostile " + again(set, report.Seed)
	_, printed := fmt.Fprint(out, report)
	switch {
	case report.MoneyWrong():
		return exitWrong
	case !report.OK() || printed != nil:
		return exitUnfinished
	}
	return exitSafe
}

// shared is a writer for concurrent use.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes to the underlying writer.
func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(p)
}

// parse reads the command line.
func parse(args []string, errOut io.Writer) (*flag.FlagSet, hostile.Options, error) {
	var o hostile.Options
	var prepare, enqueue string
	var quiet bool
	set := flag.NewFlagSet("prepaid-hostile", flag.ContinueOnError)
	set.SetOutput(errOut)
	set.Usage = func() {
		fmt.Fprint(errOut, usage)
		set.PrintDefaults()
	}
	set.Uint64Var(&o.Seed, "seed", 0, "what goes wrong follows from this `number`; 0 chooses one")
	set.IntVar(&o.Payments, "payments", 0, "`number` of payments (default 100)")
	set.BoolVar(&o.TransfersOnly, "transfers-only", false, "no direct entries")
	set.IntVar(&o.Refused, "refused", 0, "`number` of payments that the service refuses (default one in 20)")
	set.IntVar(&o.Rollbacks, "rollbacks", 0, "`number` of further payments with \"rollback\": true, which must not be made (default none)")
	set.IntVar(&o.Copies, "copies", 0, "`number` of workers at the same time; 1 for one that takes a lock (default 2)")
	set.Float64Var(&o.Faults, "faults", 0, "`part` of the payments with faults, at most 1 (default 0.4)")
	set.IntVar(&o.Kills, "kills", 0, "how `often` a worker is killed (default one in 10 payments)")
	set.IntVar(&o.Freezes, "freezes", 0, "how `often` a worker is frozen (default one in 20 payments)")
	set.DurationVar(&o.Freeze, "freeze", 0, "how `long` at least; choose more than a lease (default 2s)")
	set.IntVar(&o.Cuts, "cuts", 0, "how `often` connections to the database are cut (default one in 10 payments with -database)")
	set.IntVar(&o.NetworkCuts, "network-cuts", 0, "how `often` the network of a worker is cut (default one in 20 payments)")
	set.DurationVar(&o.NetworkCut, "network-cut", 0, "how `long`; a third of the cuts are shorter (default 1.5s)")
	set.IntVar(&o.ServiceFreezes, "service-freezes", 0, "how `often` the service is frozen (default one in 50 payments, at most 10)")
	set.DurationVar(&o.ServiceFreeze, "service-freeze", 0, "how `long` (default 1.5s)")
	set.IntVar(&o.ClockMoves, "clock-moves", 0, "how `often` the service's clock moves on by an hour (default one in 50 payments, at most 10)")
	set.StringVar(&o.Database, "database", "", "`URL` of a database, such as postgres:///payments?host=/run/postgresql")
	set.StringVar(&prepare, "prepare", "", "`command` to run first, without a shell, such as one that creates tables")
	set.StringVar(&enqueue, "enqueue", "", "`command` to run once next to the workers, without a shell: it orders payments")
	set.DurationVar(&o.AttemptTimeout, "attempt-timeout", 0, "PREPAID_ATTEMPT_TIMEOUT of the workers, a `duration` (default 250ms)")
	set.DurationVar(&o.InFlightWait, "in-flight-wait", 0, "PREPAID_RETRY_IN_FLIGHT_WAIT of the workers, a `duration` (default 750ms)")
	set.DurationVar(&o.Timeout, "timeout", 0, "`duration` of the run at most (default 5m)")
	set.DurationVar(&o.Quiet, "quiet", 0, "`duration` without any payment that ends the run (default 2m30s or more)")
	set.BoolVar(&quiet, "silent", false, "do not show what the workers write")
	if err := set.Parse(args); err != nil {
		return set, o, err
	}
	o.Command = set.Args()
	if len(o.Command) == 0 {
		err := errors.New("prepaid-hostile: the worker's command is missing; -h explains")
		fmt.Fprintln(errOut, err)
		return set, o, err
	}
	if !quiet {
		o.Log = errOut
	}
	o.Prepare, o.Enqueue = step(prepare, errOut), step(enqueue, errOut)
	return set, o, nil
}

// step returns a function that runs a command, or nil if the command is empty.
func step(command string, errOut io.Writer) func(context.Context, hostile.Job) error {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	return func(ctx context.Context, job hostile.Job) error {
		cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the caller's own command
		cmd.Env = append(os.Environ(), job.Environ()...)
		cmd.Stdout, cmd.Stderr = errOut, errOut
		return cmd.Run()
	}
}

// again returns the command line with the seed that was used.
func again(set *flag.FlagSet, seed uint64) string {
	words := []string{"-seed", strconv.FormatUint(seed, 10)}
	set.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		if u, err := url.Parse(value); f.Name == "database" && err == nil {
			value = u.Redacted()
		}
		if f.Name != "seed" {
			words = append(words, "-"+f.Name+"="+value)
		}
	})
	return strings.Join(quoted(append(append(words, "--"), set.Args()...)), " ")
}

// quoted quotes words for a shell where needed.
func quoted(words []string) []string {
	list := make([]string, len(words))
	for i, word := range words {
		if list[i] = word; word == "" || strings.ContainsAny(word, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
			list[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return list
}
