package hostile

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Counts counts the events of a run.
type Counts struct {
	// Requests is the number of requests for payments that arrived.
	Requests int
	// Faults is how many requests had a fault.
	Faults int
	// Overlaps is how many requests repeated a request that was still running: each may pay twice.
	Overlaps int
	// Kills is how often a copy was killed.
	Kills int
	// Freezes is how often a copy was frozen.
	Freezes int
	// NetworkCuts is how often the network of a process was cut.
	NetworkCuts int
	// ServiceFreezes is how often the service was frozen.
	ServiceFreezes int
	// Cuts is how often the copies were cut off from the database.
	Cuts int
	// Restarts is how often a copy was started again.
	Restarts int
}

// Kind is the kind of a finding.
type Kind string

const (
	// PaidTwice: a payment moved money more than once, under any request IDs.
	PaidTwice Kind = "paid more than once"
	// NotPaid: a payment moved no money, although all copies ended with status 0.
	NotPaid Kind = "not paid"
	// PaidUnordered: a movement was not ordered.
	PaidUnordered Kind = "paid without an order"
	// SentWrongly: a payment was not made twice this time, but repeated while an earlier request was running.
	SentWrongly Kind = "sent wrongly"
	// ReportedWrongly: the summary of a copy is false, or all summaries leave an outcome open.
	ReportedWrongly Kind = "reported wrongly"
)

// Finding is an error of one payment, or of a movement without a payment.
type Finding struct {
	// Kind is the kind of the error.
	Kind Kind
	// Text describes the payment and the error.
	Text string
	// Timeline lists the payment's events, one per string.
	Timeline []string
}

// Report is the result of a run.
type Report struct {
	// Seed is the seed of the run.
	Seed uint64
	// Payments is how many payments were ordered.
	Payments int
	// Paid is how many payments moved money.
	Paid int
	// Duration is how long the run took.
	Duration time.Duration
	// Counts counts the run's events.
	Counts
	// Findings are the errors of the worker. An unfinished run can have findings too.
	Findings []Finding
	// Unfinished is the reason why the run ended before the copies had finished; empty otherwise.
	Unfinished string
}

// OK reports whether the run finished, every payment was made, nothing else was paid, and the summaries are true.
func (r *Report) OK() bool { return r.Unfinished == "" && len(r.Findings) == 0 }

// shown is how many findings a report prints in full.
const shown = 5

// String returns the report as text: result, counts, and the first findings with their timelines.
func (r *Report) String() string {
	var text strings.Builder
	switch {
	case len(r.Findings) > 0:
		fmt.Fprintf(&text, "MONEY WRONG: of %d payments %s\n", r.Payments, r.kinds())
	case r.Unfinished != "":
		fmt.Fprintf(&text, "NOT FINISHED: %d payments, %d of them made, none twice\n", r.Payments, r.Paid)
	default:
		fmt.Fprintf(&text, "SAFE: %d payments, %d of them made, each once; %d refused\n", r.Payments, r.Paid, r.Payments-r.Paid)
	}
	if r.Unfinished != "" {
		fmt.Fprintf(&text, "not finished: %s\n", r.Unfinished)
	}
	fmt.Fprintf(&text, "seed %d, %s, %s\n", r.Seed, r.Duration.Round(10*time.Millisecond), strings.Trim(fmt.Sprintf("%+v", r.Counts), "{}"))
	for _, f := range r.Findings[:min(len(r.Findings), shown)] {
		fmt.Fprintf(&text, "\n%s\n", f.Text)
		for _, line := range f.Timeline {
			fmt.Fprintf(&text, "  %s\n", line)
		}
	}
	if more := len(r.Findings) - shown; more > 0 {
		fmt.Fprintf(&text, "\n… and %d more\n", more)
	}
	return text.String()
}

// kinds counts the findings by kind.
func (r *Report) kinds() string {
	count := make(map[Kind]int)
	for _, f := range r.Findings {
		count[f.Kind]++
	}
	var list []string
	for _, kind := range []Kind{PaidTwice, NotPaid, PaidUnordered, SentWrongly, ReportedWrongly} {
		if count[kind] > 0 {
			list = append(list, fmt.Sprintf("%d %s", count[kind], kind))
		}
	}
	return strings.Join(list, ", ")
}

// Test calls Run in a test. If Report.OK returns false, the test fails and shows the report with its timelines.
func Test(t testing.TB, options Options) *Report {
	t.Helper()
	if options.Log == nil {
		options.Log = t.Output()
	}
	report, err := Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Errorf("hostile: %s", report)
	} else {
		t.Logf("hostile: %s", report)
	}
	return report
}
