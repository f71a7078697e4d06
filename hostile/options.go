package hostile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Options configures a run. The zero value of a field means its default, and a number below zero means none.
type Options struct {
	// Command is the worker with its arguments. Default: this program, which must call [Worker] first.
	Command []string
	// Env has more environment variables for the worker, as NAME=value.
	Env []string

	// Seed determines all faults. Default: a random seed, which is in the report.
	Seed uint64
	// Payments is the number of payments. Default 100. The service refuses one in 20, because the receiving card is closed.
	Payments int
	// TransfersOnly excludes direct entries. Without it, every third payment is a direct entry.
	TransfersOnly bool
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
	// NetworkCuts is how often the network between one process of a copy and the service is cut: nothing passes, in either
	// direction. A third of the cuts are short, the others last for 1.5 times AttemptTimeout + InFlightWait. Default: one in 20 payments.
	NetworkCuts int
	// ServiceFreezes is how often the service is frozen, for all copies, for 1.5 times AttemptTimeout + InFlightWait. When it
	// continues, it executes all received requests, even those of clients that have ended. Default: one in 50 payments, at most 10.
	ServiceFreezes int
	// Cut cuts all connections of the copies to their database, such as the method Cut of a server of package pgtest. A payment's
	// response waits until Cut returns. Calls do not overlap. An error ends the run.
	Cut func(ctx context.Context) error
	// Cuts is how often Cut is called. Default: one in 10 payments, if Cut is set.
	Cuts int

	// Prepare runs before the first copy starts: it creates tables, and orders payments or starts a goroutine that does.
	Prepare func(ctx context.Context, job Job) error

	// AttemptTimeout is PREPAID_ATTEMPT_TIMEOUT. Default 250 ms.
	AttemptTimeout time.Duration
	// InFlightWait is PREPAID_RETRY_IN_FLIGHT_WAIT. Default 750 ms. A request takes up to 95 % of AttemptTimeout + InFlightWait from
	// its start (less on a slow machine). If a cut network or a frozen service held the request, it ends within InFlightWait
	// after the service responds again. Raise both times for a worker with a lease of seconds.
	InFlightWait time.Duration
	// Timeout bounds the run. Default 5 minutes. After a kill, the SDK waits for twice the age of a payment, and at most 2 minutes longer.
	Timeout time.Duration

	// Log gets the output of the copies in lines, and events such as kills and ends of copies. Default: none; in Test, the test's output.
	Log io.Writer
}

// mostPayments keeps the sum of all amounts below the limit of a balance in the emulator.
const mostPayments = 100_000

// withDefaults returns o with the defaults set, or an error for an invalid option.
func (o Options) withDefaults() (Options, error) {
	if o.Seed == 0 {
		o.Seed = uint64(rand.Uint32()) + 1 //nolint:gosec // chance, not a secret; short, since people copy it
	}
	o.Payments, o.Copies, o.Faults = cmp.Or(o.Payments, 100), cmp.Or(o.Copies, 2), max(0, cmp.Or(o.Faults, 0.4))
	o.AttemptTimeout, o.InFlightWait = cmp.Or(o.AttemptTimeout, 250*time.Millisecond), cmp.Or(o.InFlightWait, 750*time.Millisecond)
	o.Freeze, o.Timeout = cmp.Or(o.Freeze, 2*o.wait()), cmp.Or(o.Timeout, 5*time.Minute)
	if o.Log == nil {
		o.Log = io.Discard
	}
	cannot := o.Freezes > 0 && !canFreeze || o.Cuts > 0 && o.Cut == nil
	actions := 0
	for _, a := range []struct {
		times    *int
		normal   int
		possible bool
	}{
		{&o.Kills, o.Payments / 10, true}, {&o.Freezes, o.Payments / 20, canFreeze}, {&o.Cuts, o.Payments / 10, o.Cut != nil},
		{&o.NetworkCuts, o.Payments / 20, true}, {&o.ServiceFreezes, min(o.Payments/50, 10), true},
	} {
		if *a.times = max(0, cmp.Or(*a.times, a.normal)); !a.possible {
			*a.times = 0
		}
		actions += *a.times
	}
	var wrong []error
	for _, rule := range []struct {
		ok   bool
		text string
	}{
		{o.Payments > 0 && o.Payments <= mostPayments, fmt.Sprint("Payments: must be 1 to ", mostPayments)},
		{o.Copies > 0 && o.Copies <= 64, "Copies: must be 1 to 64"},
		{o.Faults <= 1, "Faults: must be at most 1"},
		{!cannot, "Cuts: needs Cut; Freezes: needs a Unix system"},
		{actions <= o.Payments, "Kills, Freezes, NetworkCuts, ServiceFreezes and Cuts: must not be more than Payments, together"},
		{min(o.AttemptTimeout, o.InFlightWait, o.Freeze, o.Timeout) > 0, "AttemptTimeout, InFlightWait, Freeze and Timeout: must be above 0"},
	} {
		if !rule.ok {
			wrong = append(wrong, errors.New("hostile: "+rule.text))
		}
	}
	return o, errors.Join(wrong...)
}

// wait is the time from the start of a request after which its repeat may be sent.
func (o Options) wait() time.Duration { return o.AttemptTimeout + o.InFlightWait }

// longest returns how long a request may take from its start until the service has carried it out.
func (o Options) longest() time.Duration { return o.wait() - o.spare() }

// spare returns a margin before the time of a repeat, since part of a request's way to the service cannot be measured.
func (o Options) spare() time.Duration { return o.wait() / 20 }

// outage returns how long a frozen service or a cut network is away.
func (o Options) outage() time.Duration { return 3 * o.wait() / 2 }

// over returns the latest end of a request: the end of AttemptTimeout or, if later, the release, plus InFlightWait minus spare.
func (o Options) over(sent, released time.Time) time.Time {
	from := sent.Add(o.AttemptTimeout)
	if released.After(from) {
		from = released
	}
	return from.Add(o.InFlightWait - o.spare())
}
