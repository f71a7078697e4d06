package hostile_test

import (
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/hostile"
)

// run runs the leased worker.
func run(t *testing.T, is mutation, o hostile.Options) *hostile.Report {
	t.Helper()
	store, address := newTable(t)
	o.Prepare, o.Env = store.order, []string{"WORKER_IS=leased", address, "LEASED_MUTATION=" + string(is)}
	report, err := hostile.Run(t.Context(), o)
	require.NoError(t, err)
	return report
}

// find returns the findings of some kinds.
func find(r *hostile.Report, kinds ...hostile.Kind) (list []hostile.Finding) {
	for _, f := range r.Findings {
		if slices.Contains(kinds, f.Kind) {
			list = append(list, f)
		}
	}
	return list
}

// caught runs a worker with a bug until the bug is found: on a busy machine its two requests may overlap only if they take longer.
func caught(t *testing.T, is mutation, o hostile.Options, kinds ...hostile.Kind) (report *hostile.Report, found []hostile.Finding) {
	t.Helper()
	for long := time.Second; long < 10*time.Second && len(found) == 0; long *= 2 {
		report = run(t, is, o)
		found = find(report, kinds...)
		o.AttemptTimeout, o.InFlightWait = long/2, 3*long/2
	}
	assert.NotEmpty(t, found, "%s: %s", is, report)
	return report, found
}

// compared runs a correct worker, which is safe, and at the same time a worker with a bug, which is found.
func compared(t *testing.T, right, wrong mutation, o hostile.Options, kinds ...hostile.Kind) (safe *hostile.Report, found []hostile.Finding) {
	t.Helper()
	var wait sync.WaitGroup
	wait.Go(func() {
		safe = run(t, right, o)
		assert.True(t, safe.OK(), "%s", safe)
	})
	_, found = caught(t, wrong, o, kinds...)
	wait.Wait()
	require.False(t, t.Failed())
	return safe, found
}

// withSeeds runs the leased worker with two seeds, or with ten at full scale. Only the lease matters: other tests cover other bugs.
func withSeeds(t *testing.T, one func(*testing.T, hostile.Options)) {
	t.Parallel()
	runs := 2
	if *longPayments > 0 {
		runs = 10
	}
	var wait sync.WaitGroup
	places := make(chan struct{}, 5)
	for seed := range runs {
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			one(t, hostile.Options{Seed: uint64(seed) + 1, Payments: 24, Faults: 0.8, Kills: -1, Freezes: -1, NetworkCuts: -1}) //nolint:gosec // at most 10
		})
	}
	wait.Wait()
}

func TestNaiveLeasePaysTwiceWithEachSeed(t *testing.T) {
	withSeeds(t, func(t *testing.T, o hostile.Options) {
		report, _ := caught(t, naiveLease, o, hostile.PaidTwice)
		assert.Positive(t, report.Overlaps)
	})
}

func TestLongLeasePaysOnceWithTheSameSeeds(t *testing.T) {
	withSeeds(t, func(t *testing.T, o hostile.Options) {
		report := run(t, correct, o)
		assert.True(t, report.OK(), "%s", report)
	})
}

func TestHalfTheWaitPaysTwiceWithEachSeed(t *testing.T) {
	withSeeds(t, func(t *testing.T, o hostile.Options) { caught(t, halfWait, o, hostile.PaidTwice) })
}

func TestTrustInTheEndOfAConnectionIsFoundWithEachSeed(t *testing.T) {
	withSeeds(t, func(t *testing.T, o hostile.Options) { caught(t, trustsEnd, o, hostile.PaidTwice, hostile.SentWrongly) })
}

// only has no faults but those that the caller adds.
func only(payments int) hostile.Options {
	return hostile.Options{Seed: 3, Payments: payments, Faults: -1, Kills: -1, Freezes: -1, NetworkCuts: -1, ServiceFreezes: -1}
}

// A copy freezes after one of the five payments of its claim, and sends the others after its lease.
func TestBatchThatOutlastsItsLease(t *testing.T) {
	t.Parallel()
	o := only(30)
	o.Freezes = 3
	safe, _ := compared(t, batch, batchOutlasts, o, hostile.PaidTwice, hostile.SentWrongly)
	require.Positive(t, safe.Freezes)
}

func TestTimeDoesNotShowThatAServiceHasContinued(t *testing.T) {
	t.Parallel()
	o := only(24)
	o.ServiceFreezes = 2
	safe, found := compared(t, correct, onlyTime, o, hostile.PaidTwice)
	require.Positive(t, safe.ServiceFreezes)
	require.Regexp(t, "SERVICE FROZEN for (1.5|3|6|12|24)s", strings.Join(found[0].Timeline, "\n"))
}

func TestKernelSendsAfterACutWhatWasNotDiscarded(t *testing.T) {
	t.Parallel()
	o := only(24)
	o.NetworkCuts = 6
	safe, found := compared(t, correct, noLinger, o, hostile.PaidTwice)
	require.Positive(t, safe.NetworkCuts)
	require.Contains(t, strings.Join(found[0].Timeline, "\n"), "NETWORK CUT for ")
}

func TestEachMutationIsCaught(t *testing.T) {
	t.Parallel()
	for is, kind := range map[mutation]hostile.Kind{
		newID: hostile.PaidTwice, atOnce: hostile.PaidTwice, trustsRefusal: hostile.NotPaid, paidEarly: hostile.NotPaid,
		ignoresResult: hostile.ReportedWrongly,
	} {
		t.Run(string(is), func(t *testing.T) {
			t.Parallel()
			report, found := caught(t, is, hostile.Options{Seed: 2, Payments: 40, Kills: 2, Freezes: 1}, kind)
			require.False(t, report.OK())
			require.NotEmpty(t, found[0].Timeline)
		})
	}
}

var longPayments = flag.Int("payments", 0, "payments of TestLongRun, which is left out without, and of TestJournal")

// longRun has 100 kills and 30 freezes in 2,000 payments.
func longRun() hostile.Options {
	n := *longPayments
	return hostile.Options{Payments: n, Kills: n / 20, Freezes: n * 3 / 200, Freeze: 3 * time.Second, Timeout: 20 * time.Minute}
}

// Three workers, thousands of payments: with a long enough and a too short lease.
func TestLongRun(t *testing.T) {
	if *longPayments == 0 {
		t.Skip("needs -payments")
	}
	o := longRun()
	o.Copies = 3
	safe, _ := compared(t, correct, naiveLease, o, hostile.PaidTwice)
	t.Log(safe)
}

func TestJournal(t *testing.T) {
	t.Parallel()
	o := hostile.Options{Payments: 40, Kills: 2} // after each, payments wait for twice their age
	if *longPayments > 0 {
		o = longRun()
	}
	o.Env, o.Copies = []string{"WORKER_IS=journal"}, 1
	report := hostile.Test(t, o)
	require.Positive(t, report.Kills)
}
