package hostile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// Options configures a run. Either Command or Worker is required. The zero value of any other field means its default,
// and a number below zero means none.
type Options struct {
	// Command is the worker with its arguments.
	Command []string
	// Worker is the name of a function that this program registered with [Worker], if there is no Command.
	Worker string
	// Env has more environment variables for the worker, as NAME=value.
	Env []string

	// Seed determines all faults and other failures. Default: PREPAID_HOSTILE_SEED or, without that, a random seed.
	Seed uint64
	// Payments is the number of payments. Default 100.
	Payments int
	// TransfersOnly excludes direct entries. Without it, every third payment is a direct entry.
	TransfersOnly bool
	// Refused is how many payments the service refuses, because the receiving card is closed. Workers must not report
	// these payments as paid. Default: one in 20.
	Refused int
	// Rollbacks is how many additional payments are ordered and then withdrawn ([Payment].Rollback): no copy may make them.
	// Default none.
	Rollbacks int
	// Copies is the number of workers that run at the same time. Default 2. Set 1 for a worker that takes a lock.
	Copies int

	// Faults is the fraction of payments with at least one fault. Default 0.4.
	Faults float64
	// Kills is how often a copy is killed. Default: one in 10 payments.
	Kills int
	// Freezes is how often a copy is frozen. Default: one in 20 payments; none on Windows.
	Freezes int
	// Freeze is how long a copy is frozen, at least. It stays frozen until another copy takes over its payment, but at most twice as
	// long. Choose more than the lease of the worker. Default: twice AttemptTimeout + InFlightWait.
	Freeze time.Duration
	// Cuts is how often the connections of a copy to the database are cut. Default: one in 10 payments with a Database.
	Cuts int
	// NetworkCuts is how often the network between one process of a copy and the service is cut: nothing passes, in either
	// direction. A quarter of the processes are killed meanwhile. Default: one in 20 payments.
	NetworkCuts int
	// NetworkCut is the length of a cut; a third of the cuts are shorter. Choose more than AttemptTimeout +
	// InFlightWait. Default: 1.5 times this sum.
	NetworkCut time.Duration
	// ServiceFreezes is how often the service is frozen, for all copies. When the service continues, it executes all
	// received requests, even those of clients that have ended. Default: one in 50 payments, at most 10.
	ServiceFreezes int
	// ServiceFreeze is how long the service is frozen. Choose more than AttemptTimeout + InFlightWait. Default: 1.5 times this sum.
	ServiceFreeze time.Duration
	// ClockMoves is how often the emulator's clock moves forward by an hour, which expires its tokens. Default: one in 50 payments,
	// at most 10.
	ClockMoves int

	// Database is the URL of a database. The URL has a host or, for the socket of Postgres, a parameter host. Copies get the
	// URL of a proxy instead.
	Database string
	// Prepare runs before the first copy starts: it creates tables, and may order payments.
	Prepare func(ctx context.Context, job Job) error
	// Enqueue orders payments while the copies run. The run ends only after Enqueue returns.
	Enqueue func(ctx context.Context, job Job) error

	// AttemptTimeout is PREPAID_ATTEMPT_TIMEOUT. Default 250 ms.
	AttemptTimeout time.Duration
	// InFlightWait is PREPAID_RETRY_IN_FLIGHT_WAIT. Default 750 ms. A request takes up to 95 % of AttemptTimeout + InFlightWait from
	// its start (less on a slow machine). If a cut network or a frozen service held the request, it ends within InFlightWait
	// after the service responds again. Raise both times for a worker with a lease of seconds.
	InFlightWait time.Duration
	// Timeout bounds the run. Default 5 minutes.
	Timeout time.Duration
	// Quiet ends the run if no copy sends a payment for this time: after a kill, the SDK waits for twice the age of a payment, and at most 2
	// minutes longer. Default: 150 s or, if more, 5 times AttemptTimeout + InFlightWait.
	Quiet time.Duration

	// Log gets the output of the copies in lines, and events such as kills and ends of copies. Default: none.
	Log io.Writer
}

// number returns n, the default normal if n is 0, and 0 if n is negative.
func number(n, normal int) int { return max(0, cmp.Or(n, normal)) }

// withDefaults returns o with the defaults set, or an error for an invalid option.
func (o Options) withDefaults() (Options, error) {
	o.Payments, o.Copies = cmp.Or(o.Payments, 100), cmp.Or(o.Copies, 2)
	o.Refused, o.Rollbacks = number(o.Refused, o.Payments/20), number(o.Rollbacks, 0)
	o.Kills, o.ClockMoves = number(o.Kills, o.Payments/10), number(o.ClockMoves, min(o.Payments/50, 10))
	o.Faults = max(0, cmp.Or(o.Faults, 0.4))
	o.AttemptTimeout, o.InFlightWait = cmp.Or(o.AttemptTimeout, 250*time.Millisecond), cmp.Or(o.InFlightWait, 750*time.Millisecond)
	wait := o.AttemptTimeout + o.InFlightWait
	o.Freeze, o.NetworkCut, o.ServiceFreeze = cmp.Or(o.Freeze, 2*wait), cmp.Or(o.NetworkCut, 3*wait/2), cmp.Or(o.ServiceFreeze, 3*wait/2)
	o.NetworkCuts, o.ServiceFreezes = number(o.NetworkCuts, o.Payments/20), number(o.ServiceFreezes, min(o.Payments/50, 10))
	o.Timeout, o.Quiet = cmp.Or(o.Timeout, 5*time.Minute), cmp.Or(o.Quiet, max(150*time.Second, 5*wait))
	if o.Log == nil {
		o.Log = io.Discard
	}
	var wrong []error
	check := func(ok bool, rule string) {
		if !ok {
			wrong = append(wrong, errors.New("hostile: "+rule))
		}
	}
	check(o.Freezes <= 0 || canFreeze, "Freezes: this system cannot")
	check(o.Cuts <= 0 || o.Database != "", "Cuts: needs a Database")
	o.Freezes, o.Cuts = number(o.Freezes, o.Payments/20), number(o.Cuts, o.Payments/10)
	if !canFreeze {
		o.Freezes = 0
	}
	if o.Database == "" {
		o.Cuts = 0
	}
	if o.Seed == 0 {
		var err error
		o.Seed, err = seedOf(os.Getenv("PREPAID_HOSTILE_SEED"))
		check(err == nil, "PREPAID_HOSTILE_SEED: must be a whole number")
	}
	check(len(o.Command) > 0 || o.Worker != "", "Command or Worker is required")
	check(o.Payments > 0 && o.Payments <= mostPayments, fmt.Sprint("Payments: must be 1 to ", mostPayments))
	check(o.Refused+o.Rollbacks <= mostPayments, "Rollbacks: are too many")
	check(o.Refused <= o.Payments, "Refused: must not be more than Payments")
	check(o.Copies > 0 && o.Copies <= 64, "Copies: must be 1 to 64")
	check(o.Faults <= 1, "Faults: must be at most 1")
	check(o.Kills+o.Freezes+o.Cuts+o.NetworkCuts+o.ServiceFreezes+o.ClockMoves <= o.Payments,
		"Kills, Freezes, Cuts, NetworkCuts, ServiceFreezes and ClockMoves: must not be more than Payments, together")
	check(o.AttemptTimeout > 0 && o.InFlightWait > 0, "AttemptTimeout and InFlightWait: must be above 0")
	check(o.Freeze > 0 && o.NetworkCut > 0 && o.ServiceFreeze > 0, "Freeze, NetworkCut and ServiceFreeze: must be above 0")
	check(o.Timeout > 0 && o.Quiet > 0, "Timeout and Quiet: must be above 0")
	return o, errors.Join(wrong...)
}

// mostPayments keeps the sum of all amounts below the limit of a balance in the emulator.
const mostPayments = 100_000

func seedOf(text string) (uint64, error) {
	if text == "" {
		return uint64(rand.Uint32()) + 1, nil //nolint:gosec // chance, not a secret; short, since people copy it
	}
	return strconv.ParseUint(text, 10, 64)
}
