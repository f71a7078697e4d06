package hostile_test

import (
	"context"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// run runs the leased worker.
func run(t *testing.T, is mutation, o hostile.Options) *hostile.Report {
	t.Helper()
	store, address := newTable(t)
	o.Worker, o.Prepare, o.Env = "leased", store.order, []string{address, "LEASED_MUTATION=" + string(is)}
	report, err := hostile.Run(t.Context(), o)
	require.NoError(t, err)
	return report
}

// caught runs a worker with a bug until the bug is found: on a busy machine its two requests may overlap only if they take longer.
func caught(t *testing.T, is mutation, o hostile.Options, found func(*hostile.Report) []hostile.Finding) *hostile.Report {
	t.Helper()
	report := run(t, is, o)
	for long := time.Second; long < 10*time.Second && len(found(report)) == 0; long *= 2 {
		o.AttemptTimeout, o.InFlightWait = long/2, 3*long/2
		report = run(t, is, o)
	}
	assert.NotEmpty(t, found(report), "%s: %s", is, report)
	return report
}

func twice(r *hostile.Report) []hostile.Finding { return r.Double }

// wrong also has payments that are not made twice by chance, such as those that the service refuses.
func wrong(r *hostile.Report) []hostile.Finding { return append(r.Double, r.Careless...) }

func overtaken(r *hostile.Report) []hostile.Finding { return r.Double[:min(len(r.Double), r.Overlaps)] }

// together runs functions at the same time, since runs wait more than they work.
func together(list ...func()) {
	var wait sync.WaitGroup
	for _, do := range list {
		wait.Go(do)
	}
	wait.Wait()
}

// withSeeds runs the leased worker with two seeds, or with ten at full scale. Only the lease matters: other tests cover other bugs.
func withSeeds(t *testing.T, one func(hostile.Options)) {
	t.Parallel()
	runs := make([]func(), 2)
	if *longPayments > 0 {
		runs = make([]func(), 10)
	}
	for i := range runs {
		runs[i] = func() {
			seed := uint64(i) + 1 //nolint:gosec // at most 10
			one(hostile.Options{Seed: seed, Payments: 24, Faults: 0.8, Kills: -1, Freezes: -1, NetworkCuts: -1, Refused: -1})
		}
	}
	for some := range slices.Chunk(runs, 5) {
		together(some...)
	}
}

func TestNaiveLeasePaysTwiceWithEachSeed(t *testing.T) {
	withSeeds(t, func(o hostile.Options) { caught(t, naiveLease, o, overtaken) })
}

func TestLongLeasePaysOnceWithTheSameSeeds(t *testing.T) {
	withSeeds(t, func(o hostile.Options) {
		report := run(t, correct, o)
		assert.True(t, report.OK(), "%s", report)
	})
}

func TestHalfTheWaitPaysTwiceWithEachSeed(t *testing.T) {
	withSeeds(t, func(o hostile.Options) { caught(t, halfWait, o, overtaken) })
}

func TestTrustInTheEndOfAConnectionIsFoundWithEachSeed(t *testing.T) {
	withSeeds(t, func(o hostile.Options) { caught(t, trustsEnd, o, wrong) })
}

// compared runs a correct worker, which is safe, and at the same time a worker with a bug, which pays twice.
func compared(t *testing.T, is mutation, o hostile.Options) (safe, wrong *hostile.Report) {
	t.Helper()
	together(func() { safe = run(t, correct, o) }, func() { wrong = caught(t, is, o, twice) })
	require.True(t, safe.OK(), "%s", safe)
	require.False(t, t.Failed())
	return safe, wrong
}

// gone has only cuts of the network and freezes of the service.
func gone(cuts, freezes int) hostile.Options {
	return hostile.Options{
		Seed: 3, Payments: 24, Faults: -1, Kills: -1, Freezes: -1, NetworkCuts: cuts, ServiceFreezes: freezes, ClockMoves: -1, Refused: -1,
	}
}

// A copy freezes after one of the five payments of its claim, and sends the others after its lease.
func TestBatchThatOutlastsItsLease(t *testing.T) {
	t.Parallel()
	o := hostile.Options{Seed: 3, Payments: 30, Faults: -1, Kills: -1, Freezes: 3, NetworkCuts: -1, ServiceFreezes: -1, ClockMoves: -1, Refused: -1}
	together(
		func() {
			report := run(t, batch, o)
			assert.True(t, report.OK(), "%s", report)
			assert.Positive(t, report.Freezes)
		},
		func() { caught(t, batchOutlasts, o, wrong) },
	)
}

func TestTimeDoesNotShowThatAServiceHasContinued(t *testing.T) {
	t.Parallel()
	safe, wrong := compared(t, onlyTime, gone(-1, 2))
	require.Positive(t, safe.ServiceFreezes)
	require.Regexp(t, "SERVICE FROZEN for (1.5|3|6|12|24)s", strings.Join(wrong.Double[0].Timeline, "\n"))
}

func TestKernelSendsAfterACutWhatWasNotDiscarded(t *testing.T) {
	t.Parallel()
	safe, wrong := compared(t, noLinger, gone(6, -1))
	require.Positive(t, safe.NetworkCuts)
	require.Contains(t, strings.Join(wrong.Double[0].Timeline, "\n"), "NETWORK CUT for ")
}

func TestEachMutationIsCaught(t *testing.T) {
	t.Parallel()
	cases := []struct {
		is       mutation
		expected func(*hostile.Report) []hostile.Finding
	}{
		{newID, twice},
		{atOnce, twice},
		{trustsRefusal, func(r *hostile.Report) []hostile.Finding { return r.Missing }},
		{paidEarly, func(r *hostile.Report) []hostile.Finding { return r.Missing }},
		{ignoresResult, func(r *hostile.Report) []hostile.Finding { return r.Claims }},
	}
	for _, c := range cases {
		t.Run(string(c.is), func(t *testing.T) {
			t.Parallel()
			report := caught(t, c.is, hostile.Options{Seed: 2, Payments: 40, Kills: 2, Freezes: 1}, c.expected)
			require.False(t, report.OK())
			require.NotEmpty(t, c.expected(report)[0].Timeline)
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
	safe, naive := compared(t, naiveLease, o)
	t.Log(safe)
	t.Log(naive)
}

// fromEnv makes the client of a worker.
func fromEnv() (*prepaid.Client, error) {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	return prepaid.NewClient(config)
}

// journaled pays with a journal.
func journaled(ctx context.Context, job hostile.Job) error {
	claims, err := payJournaled(ctx, job)
	if err != nil {
		return err
	}
	return job.Summarize(claims)
}

func payJournaled(ctx context.Context, job hostile.Job) ([]hostile.Claim, error) {
	client, err := fromEnv()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	j, err := journalfile.Open(filepath.Join(job.Dir, "journal"), journalfile.Options{})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	claims := make([]hostile.Claim, 0, len(job.Payments))
	var list []journal.Payment
	for _, p := range job.Payments {
		if e, _ := j.Get(p.RequestID); e.State == journal.StateRejected { // by an earlier process: a call would send it again
			claims = append(claims, hostile.Claim{RequestID: p.RequestID, State: hostile.StateRejected})
			continue
		}
		list = append(list, journal.Payment{Account: p.SourceAccountID, Params: p.Params()})
	}
	var unknown error // the others are still paid: a loop that ends here would leave those in flight with an unknown outcome
	for e, err := range j.PayAll(ctx, client.Accounts, 16, slices.Values(list)) {
		claim := hostile.Claim{RequestID: e.RequestID, State: hostile.StatePaid}
		switch e.State {
		case journal.StateDone:
		case journal.StateRejected:
			claim.State = hostile.StateRejected
		default:
			unknown = err
		}
		claims = append(claims, claim)
	}
	return claims, unknown
}

func TestJournal(t *testing.T) {
	t.Parallel()
	o := hostile.Options{Payments: 40, Kills: 2} // after each, payments wait for twice their age
	if *longPayments > 0 {
		o = longRun()
	}
	o.Worker, o.Copies = "journal", 1
	report := hostile.Test(t, o)
	require.Positive(t, report.Kills)
	t.Log(report)
}
