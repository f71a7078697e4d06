package hostile

import (
	"fmt"
	"strings"
	"time"
)

// Counts counts the events of a run.
type Counts struct {
	// Requests is the number of requests for payments that arrived.
	Requests int
	// Faults is how many requests had a fault.
	Faults int
	// LostResponses is how many requests got no response, or only half of one, because of a fault.
	LostResponses int
	// Overlaps is how many requests repeated a request that was still running: each may pay twice.
	Overlaps int
	// Kills is how often a copy was killed, including kills during network cuts.
	Kills int
	// Freezes is how often a copy was frozen.
	Freezes int
	// Cuts is how often a copy was cut off from the database.
	Cuts int
	// NetworkCuts is how often the network of a process was cut.
	NetworkCuts int
	// ServiceFreezes is how often the service was frozen.
	ServiceFreezes int
	// ClockMoves is how often the emulator's clock moved on.
	ClockMoves int
	// Restarts is how often a copy was started again.
	Restarts int
}

// Finding is an error of one payment, or of a movement without a payment.
type Finding struct {
	// Payment is the ordered payment; zero for a movement without a payment.
	Payment Payment
	// Text describes the error.
	Text string
	// Timeline lists the payment's events, one per string.
	Timeline []string
}

// Report is the result of a run.
type Report struct {
	// Seed is the seed of the run.
	Seed uint64
	// Payments is how many payments were ordered and not rolled back.
	Payments int
	// Paid is how many payments moved money.
	Paid int
	// Copies is the number of copies.
	Copies int
	// Duration is how long the run took.
	Duration time.Duration
	// Counts counts the run's events.
	Counts

	// Double are payments that moved money more than once, under any request IDs.
	Double []Finding
	// Missing are payments that moved no money, although all copies ended with status 0.
	Missing []Finding
	// Unrequested are movements that were not ordered: of a payment that was rolled back, or of another amount.
	Unrequested []Finding
	// Wrong are payments to another account, or by the other operation.
	Wrong []Finding
	// Careless are payments that were not made twice this time, but whose requests broke a rule: a repeat while an earlier
	// request was running, other values under the same request ID, or another bank account.
	Careless []Finding
	// Claims are false lines in the summaries of the copies.
	Claims []Finding
	// Unfinished is the reason why the run ended before the copies had finished; empty otherwise.
	Unfinished string
	// Last has the last requests of the copies in an unfinished run, and the last lines of a failed worker.
	Last []string
	// Reproduce is the command or setting that repeats the run.
	Reproduce string
}

// OK reports whether the run finished, every payment was made, nothing else was paid, and the summaries are true.
func (r *Report) OK() bool { return r.Unfinished == "" && !r.MoneyWrong() }

// MoneyWrong reports whether there are findings. An unfinished run can have findings too.
func (r *Report) MoneyWrong() bool {
	return len(r.Double)+len(r.Missing)+len(r.Unrequested)+len(r.Wrong)+len(r.Careless)+len(r.Claims) > 0
}

// shown is how many findings of a kind a report prints in full.
const shown = 3

// String returns the report as text: result, counts, and the first findings of each kind with their timelines.
func (r *Report) String() string {
	var text strings.Builder
	kinds := []struct {
		what string
		list []Finding
	}{{"paid more than once", r.Double}, {"not paid", r.Missing}, {"paid without an order", r.Unrequested}, {"paid wrongly", r.Wrong}, {"sent wrongly", r.Careless}, {"reported wrongly", r.Claims}}
	var wrong []string
	for _, kind := range kinds {
		if len(kind.list) > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", len(kind.list), kind.what))
		}
	}
	switch {
	case len(wrong) > 0:
		fmt.Fprintf(&text, "MONEY WRONG: of %d payments %s\n", r.Payments, strings.Join(wrong, ", "))
	case r.Unfinished != "":
		fmt.Fprintf(&text, "NOT FINISHED: %d payments, %d of them made, none twice\n", r.Payments, r.Paid)
	default:
		fmt.Fprintf(&text, "SAFE: %d payments, %d of them made, each once; %d refused\n", r.Payments, r.Paid, r.Payments-r.Paid)
	}
	if r.Unfinished != "" {
		fmt.Fprintf(&text, "not finished: %s\n", r.Unfinished)
	}
	fmt.Fprintf(&text, "seed %d, %s, %s, %s: %s, %s lost, %s that overtook the first request, %s, %s, %s, %s, %s, %s, %s\n",
		r.Seed, several(r.Copies, "worker"), several(r.Requests, "request"), r.Duration.Round(10*time.Millisecond), several(r.Faults, "fault"),
		several(r.LostResponses, "response"), several(r.Overlaps, "repeat"), several(r.Kills, "kill"), several(r.Freezes, "freeze"),
		several(r.Cuts, "cut")+" of the database", several(r.NetworkCuts, "cut")+" of the network",
		several(r.ServiceFreezes, "freeze")+" of the service", several(r.ClockMoves, "move")+" of the clock", several(r.Restarts, "restart"))
	for _, kind := range kinds {
		for i, f := range kind.list {
			if i == shown {
				fmt.Fprintf(&text, "\n… and %d more %s\n", len(kind.list)-shown, kind.what)
				break
			}
			fmt.Fprintf(&text, "\n%s\n", f.Text)
			for _, line := range f.Timeline {
				fmt.Fprintf(&text, "  %s\n", line)
			}
		}
	}
	for _, line := range r.Last {
		fmt.Fprintf(&text, "  %s\n", line)
	}
	if r.Reproduce != "" {
		fmt.Fprintf(&text, "\nreproduce: %s\n", r.Reproduce)
	}
	return text.String()
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
