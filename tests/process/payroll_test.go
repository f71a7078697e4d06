package process

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/reconcile"
)

// The size of the tests. go test -run TestKilledPayroll ./process -args -payments 500 -kills 20
var (
	payments = flag.Int("payments", 80, "payments of a payroll")
	kills    = flag.Int("kills", 4, "kills of a payroll")
)

// takes is how long a slow transfer takes on the emulator, also after its response was lost or its sender was killed.
const takes = 100 * time.Millisecond

// payroll is a list of payments whose process is killed.
type payroll struct {
	*testing.T
	job
	server *prepaidtest.Server
	late   *atomic.Int64 // the longest delay of a timer in this process so far

	arrived atomic.Int64 // payments at the server in the current run
	killAt  atomic.Int64 // the number of the payment that waits for the kill; 0 for none
	reached chan struct{}
	killed  chan struct{}
}

// newPayroll returns a payroll on a server that loses responses: lost percent of the first ones in each of some ways, and fewer
// of the second.
func newPayroll(t *testing.T, lost uint32) *payroll {
	t.Helper()
	p := &payroll{T: t, late: lateness(t), server: prepaidtest.NewServer(t, prepaidtest.Options{
		RateLimit: -1, RequestLog: 1, ClientID: "client", ClientSecret: "secret",
	})}
	p.server.Decide(func(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
		if a.RequestID == "" {
			return prepaidtest.Fault{}
		}
		if at := p.killAt.Load(); p.arrived.Add(1) >= at && at > 0 && p.killAt.CompareAndSwap(at, 0) {
			killed := p.killed
			close(p.reached)
			<-killed
		}
		return faultOf(a, lost)
	})
	p.job = job{
		Journal: filepath.Join(t.TempDir(), "payments"), URL: p.server.URL, Day: prepaid.DateOf(time.Now().UTC()), Payments: *payments, Attempts: 2,
		From: p.server.AddAccount(prepaidtest.SeedAccount{Balance: "100000.00"}), To: p.server.AddAccount(prepaidtest.SeedAccount{}),
	}
	return p
}

// faultOf depends only on the payment and the attempt. It lets the third attempt succeed.
func faultOf(a prepaidtest.Arrival, lost uint32) prepaidtest.Fault {
	dice := fnv.New32()
	fmt.Fprint(dice, a.RequestID, a.Sending)
	n := dice.Sum32() % 100
	switch a.Sending {
	case 1:
	case 2:
		lost /= 3
	default:
		return prepaidtest.Fault{}
	}
	switch {
	case n < lost:
		return prepaidtest.CommitThenDrop()
	case n < 2*lost:
		return prepaidtest.Respond(503, "")
	case n < 3*lost:
		return prepaidtest.DropBeforeCommit().CommitAfter(takes)
	case n < 4*lost:
		return prepaidtest.ProxyPage(502).CommitAfter(takes)
	case n >= 80:
		return prepaidtest.Delay(takes)
	}
	return prepaidtest.Fault{}
}

// lateness returns the longest delay of a timer so far, in nanoseconds.
func lateness(t *testing.T) *atomic.Int64 {
	t.Helper()
	most, ended := new(atomic.Int64), make(chan struct{})
	go func() {
		defer close(ended)
		const pause = 10 * time.Millisecond
		for t.Context().Err() == nil {
			began := time.Now()
			time.Sleep(pause)
			most.Store(max(most.Load(), int64(time.Since(began)-pause)))
		}
	}()
	t.Cleanup(func() { <-ended })
	return most
}

// run runs the process to its end, and returns its exit status.
func (p *payroll) run() int {
	p.Helper()
	cmd := command(p.T, p.job)
	_ = cmd.Run() // the exit status is below
	require.Contains(p, []int{exitDone, exitAgain}, cmd.ProcessState.ExitCode())
	return cmd.ProcessState.ExitCode()
}

// kill runs the process, and kills it soon after it has sent the given number of payments. The last of them gets no response; others
// are before, in or after a write, or on their way. A request that the server has read continues.
func (p *payroll) kill(sent int) {
	p.Helper()
	p.arrived.Store(0)
	p.reached, p.killed = make(chan struct{}), make(chan struct{})
	p.killAt.Store(int64(sent))
	cmd := command(p.T, p.job)
	require.NoError(p, cmd.Start())
	ended := make(chan *exec.Cmd)
	go func() {
		_ = cmd.Wait()
		ended <- cmd
	}()
	defer close(p.killed)
	select {
	case <-p.reached:
	case <-ended:
		require.Fail(p, "the process ended early", "%v", cmd.ProcessState)
	}
	time.Sleep(rand.N(20 * time.Millisecond))
	require.NoError(p, cmd.Process.Kill())
	<-ended
}

// once requires that nothing was paid twice. On a machine so slow that the server can have been late, it ends the test.
func (p *payroll) once() {
	p.Helper()
	require.NoError(p, p.server.WaitIdle(p.Context()))
	twice := p.server.PaidTwice()
	if late := time.Duration(p.late.Load()); len(twice) > 0 && late > (rest-takes)/3 {
		p.Skipf("too slow to tell: a timer was %v late, and %d were paid twice", late, len(twice))
	}
	require.Empty(p, twice)
}

// open calls f with the journal.
func (p *payroll) open(f func(j *journalfile.Journal)) {
	p.Helper()
	options, err := p.options()
	require.NoError(p, err)
	j, err := journalfile.Open(p.Journal, options)
	require.NoError(p, err)
	f(j)
	require.NoError(p, j.Close())
}

// compare compares the journal with the history of the account.
func (p *payroll) compare() map[reconcile.Kind]int {
	p.Helper()
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: p.URL, Vendor: "vendor", ClientID: "client", ClientSecret: prepaid.NewSecret("secret"), Limiter: ratelimit.None{},
	})
	require.NoError(p, err)
	defer client.Close()
	kinds := map[reconcile.Kind]int{}
	p.open(func(j *journalfile.Journal) {
		run := reconcile.Run{Histories: client.Accounts, Directory: p.TempDir(), Books: func(yield func(reconcile.Row, error) bool) {
			for e := range j.All() {
				if !yield(reconcile.RowOf(e), nil) {
					return
				}
			}
			require.NoError(p, j.Err())
		}}
		for finding, err := range run.Findings(p.Context()) {
			require.NoError(p, err)
			kinds[finding.Kind]++
		}
	})
	delete(kinds, reconcile.KindTooEarly) // the first balance of the account is no payment
	return kinds
}

// A payroll loses responses, is killed and run again. It makes each payment once, and its journal and the history agree at any time.
func TestKilledPayrollPaysEachOnce(t *testing.T) {
	t.Parallel()
	p := newPayroll(t, 3)
	for range *kills {
		p.kill(*payments / (*kills + 1)) // fewer than are left
		p.once()
		kinds := p.compare()
		for _, kind := range []reconcile.Kind{reconcile.KindServiceOnly, reconcile.KindBooksOnly, reconcile.KindAmountDiffers, reconcile.KindTwice} {
			require.Zero(t, kinds[kind], kinds)
		}
	}
	for p.run() != exitDone {
	}
	p.once()
	require.Equal(t, map[reconcile.Kind]int{reconcile.KindMatched: *payments}, p.compare())

	spent, received := prepaid.Cents(0), prepaid.Cents(0)
	for n := range *payments {
		require.Equal(t, 1, p.server.Movements(p.id(n)), n)
		spent, _ = spent.Add(amountOf(n))
		if n%2 == 0 {
			received, _ = received.Add(amountOf(n))
		}
	}
	left, err := prepaid.MustAmount("100000").Sub(spent)
	require.NoError(t, err)
	require.Equal(t, left, prepaid.MustAmount(p.server.Balance(p.From)))
	require.Equal(t, received, prepaid.MustAmount(p.server.Balance(p.To)))
	p.open(func(j *journalfile.Journal) {
		stats, err := j.Stats()
		require.NoError(t, err)
		require.Equal(t, journal.Stats{Done: journal.Total{Count: *payments, Sum: spent}}, stats)
	})
}

// A payroll loses many responses and is killed. Other processes, without its list and also killed, resume it.
func TestKilledPayrollIsResumedFromFileAndKey(t *testing.T) {
	t.Parallel()
	p := newPayroll(t, 10)
	p.Sealed, p.Attempts = true, 1
	sent := *payments * 2 / 3
	p.kill(sent)
	data, err := os.ReadFile(p.Journal)
	require.NoError(t, err)
	for _, canary := range []string{`"12345678"`, "CITIZEN", `"062000"`, `"PAY"`} {
		require.False(t, bytes.Contains(data, []byte(canary)))
	}
	p.Do, p.job.Payments, p.Attempts = doResume, 0, 2
	for range *kills / 2 {
		p.kill(1) // at least the payment without response is left
	}
	for p.run() != exitDone {
	}
	p.once()
	p.open(func(j *journalfile.Journal) {
		require.Empty(t, slices.Collect(j.Pending()))
		done := 0
		for e := range j.All() {
			require.Equal(t, journal.StateDone, e.State)
			require.Equal(t, 1, p.server.Movements(e.RequestID))
			done++
		}
		require.GreaterOrEqual(t, done, sent)
	})
}
