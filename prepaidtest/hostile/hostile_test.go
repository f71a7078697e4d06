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
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest/hostile"
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

func overtaken(r *hostile.Report) []hostile.Finding { return r.Double[:min(len(r.Double), r.Overlaps)] }

// together runs functions at the same time, since runs wait more than they work.
func together(list ...func()) {
	var wait sync.WaitGroup
	for _, do := range list {
		wait.Go(do)
	}
	wait.Wait()
}

// withSeeds runs the leased worker with ten seeds. A short run, with the race detector, has two: twenty such processes are too
// slow on two cores. Only the lease matters: other tests cover other bugs.
func withSeeds(t *testing.T, is mutation) []*hostile.Report {
	t.Helper()
	seeds := 10
	if testing.Short() {
		seeds = 2
	}
	reports, runs := make([]*hostile.Report, seeds), make([]func(), seeds)
	for i := range runs {
		runs[i] = func() {
			o := hostile.Options{Seed: uint64(i) + 1, Payments: 24, Faults: 0.8, Kills: -1, Freezes: -1, NetworkCuts: -1, Refused: -1} //nolint:gosec // at most 10
			if is == correct {
				reports[i] = run(t, is, o)
			} else {
				reports[i] = caught(t, is, o, overtaken)
			}
		}
	}
	for some := range slices.Chunk(runs, 5) {
		together(some...)
	}
	return reports
}

func TestNaiveLeasePaysTwiceWithEachSeed(t *testing.T) {
	t.Parallel()
	withSeeds(t, naiveLease)
}

func TestLongLeasePaysOnceWithTheSameSeeds(t *testing.T) {
	t.Parallel()
	for _, report := range withSeeds(t, correct) {
		require.True(t, report.OK(), "%s", report)
	}
}

func TestHalfTheWaitPaysTwiceWithEachSeed(t *testing.T) {
	t.Parallel()
	withSeeds(t, halfWait)
}

// gone has only cuts of the network and freezes of the service.
func gone(seed uint64, cuts, freezes int) hostile.Options {
	return hostile.Options{
		Seed: seed, Payments: 24, Faults: -1, Kills: -1, Freezes: -1, NetworkCuts: cuts, ServiceFreezes: freezes, ClockMoves: -1, Refused: -1,
	}
}

func TestTimeDoesNotShowThatAServiceHasContinued(t *testing.T) {
	t.Parallel()
	var safe, wrong *hostile.Report
	together(func() { safe = run(t, correct, gone(3, -1, 2)) }, func() { wrong = caught(t, onlyTime, gone(3, -1, 2), twice) })
	require.True(t, safe.OK(), "%s", safe)
	require.Positive(t, safe.ServiceFreezes)
	require.Regexp(t, "SERVICE FROZEN for (1.5|3|6|12|24)s", strings.Join(wrong.Double[0].Timeline, "\n"))
}

func TestKernelSendsAfterACutWhatWasNotDiscarded(t *testing.T) {
	t.Parallel()
	var safe, wrong *hostile.Report
	together(func() { safe = run(t, correct, gone(3, 6, -1)) }, func() { wrong = caught(t, noLinger, gone(3, 6, -1), twice) })
	require.True(t, safe.OK(), "%s", safe)
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
	reports, runs := make([]*hostile.Report, len(cases)), make([]func(), len(cases))
	for i, c := range cases {
		runs[i] = func() {
			reports[i] = caught(t, c.is, hostile.Options{Seed: 2, Payments: 40, Kills: 2, Freezes: 1}, c.expected)
		}
	}
	together(runs...)
	for i, c := range cases {
		require.NotEmpty(t, c.expected(reports[i])[0].Timeline)
		require.False(t, reports[i].OK())
		t.Logf("%s: %s", c.is, reports[i])
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
	var safe, naive *hostile.Report
	together(func() { safe = run(t, correct, o) }, func() { naive = caught(t, naiveLease, o, twice) })
	t.Log(safe)
	t.Log(naive)
	require.True(t, safe.OK())
}

// journaled pays with a journal.
func journaled(ctx context.Context, job hostile.Job) error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close()
	j, err := journalfile.Open(filepath.Join(job.Dir, "journal"), journalfile.Options{})
	if err != nil {
		return err
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
	for e, err := range j.PayAll(ctx, client.Accounts, 16, slices.Values(list)) {
		claim := hostile.Claim{RequestID: e.RequestID, State: hostile.StatePaid}
		switch e.State {
		case journal.StateDone:
		case journal.StateRejected:
			claim.State = hostile.StateRejected
		default:
			return err
		}
		claims = append(claims, claim)
	}
	return job.Summarize(claims)
}

func TestJournal(t *testing.T) {
	t.Parallel()
	o := hostile.Options{Payments: 40}
	if *longPayments > 0 {
		o = longRun()
	}
	o.Worker, o.Copies = "journal", 1
	report := hostile.Test(t, o)
	require.Positive(t, report.Kills)
	t.Log(report)
}
