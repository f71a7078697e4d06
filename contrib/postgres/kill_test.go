//go:build unix

package prepaidpg

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The size of TestKilledWorkersPayEachOnce. go test -run TestKilled -args -payments 2000 -kills 100 -freezes 30 -crashes 4
var (
	killPayments = flag.Int("payments", 150, "payments of the kill test")
	killKills    = flag.Int("kills", 6, "kills of a worker")
	killFreezes  = flag.Int("freezes", 2, "freezes of a worker beyond its lease")
	killCrashes  = flag.Int("crashes", 1, "crashes of Postgres")
)

// killTest is a database, an emulator that loses responses and lets repeats overlap, and workers that are killed.
type killTest struct {
	*testing.T
	postgres *pgtest.Server
	emulator *prepaidtest.Server
	pool     *pgxpool.Pool
	store    *Store
	from, to prepaid.AccountID
	day      prepaid.Date
	setup    workerSetup
	random   *rand.Rand
	pace     *pace

	arrived atomic.Int64 // transfers at the emulator

	mu      sync.Mutex
	workers []*exec.Cmd
	stopped bool
	kills   int
}

// takes is the duration of a slow transfer on the emulator, also after its response was lost.
const takes = 150 * time.Millisecond

func newKillTest(t *testing.T, naive bool) *killTest {
	t.Helper()
	k := &killTest{T: t, pace: startPace(t), day: prepaid.DateOf(time.Now().UTC()), random: rand.New(rand.NewPCG(1, 2))}
	k.postgres, k.pool = ownServer(t, nil)
	_, err := k.pool.Exec(t.Context(), `create table orders (request_id text primary key, state text not null default 'open');
		create table books (request_id text, state text)`)
	require.NoError(t, err)
	options, err := killOptions(workerSetup{})
	require.NoError(t, err)
	k.store, err = Open(t.Context(), k.pool, options)
	require.NoError(t, err)

	k.emulator = prepaidtest.NewServer(t, prepaidtest.Options{RateLimit: -1, RequestLog: 1, ClientID: "client", ClientSecret: "secret"})
	k.emulator.Decide(func(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
		if a.RequestID != "" {
			k.arrived.Add(1)
		}
		return faultOf(a)
	})
	k.from, k.to = k.emulator.AddAccount(prepaidtest.SeedAccount{Balance: "1000000.00"}), k.emulator.AddAccount(prepaidtest.SeedAccount{})
	k.setup = workerSetup{Database: k.pool.Config().ConnString(), Emulator: k.emulator.URL, Naive: naive}
	for range 3 {
		k.workers = append(k.workers, k.start())
	}
	t.Cleanup(k.end)
	return k
}

// faultOf depends only on the payment and the attempt.
func faultOf(a prepaidtest.Arrival) prepaidtest.Fault {
	if a.RequestID == "" {
		return prepaidtest.Fault{}
	}
	hash := 0
	for _, c := range string(a.RequestID) {
		hash = (hash*31 + int(c)) % 1_000_003
	}
	switch (hash + 37*a.Sending) % 100 {
	case 0, 1, 2:
		return prepaidtest.CommitThenDrop()
	case 3, 4, 5:
		return prepaidtest.DropBeforeCommit().CommitAfter(takes)
	case 6, 7, 8:
		return prepaidtest.ProxyPage(502).CommitAfter(takes)
	case 9, 10:
		return prepaidtest.Respond(503, "")
	case 11, 12:
		return prepaidtest.ExpireToken()
	}
	if hash%3 == 0 {
		return prepaidtest.Delay(takes)
	}
	return prepaidtest.Fault{}
}

func (k *killTest) id(n int) prepaid.RequestID {
	return prepaid.DeriveRequestID(k.day, "order", strconv.Itoa(n))
}

// enqueue writes order n and its payment, until that is committed.
func (k *killTest) enqueue(n int) {
	for {
		if k.tryEnqueue(n, true) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var errRolledBack = errors.New("the order was cancelled")

func (k *killTest) tryEnqueue(n int, keep bool) error {
	return pgx.BeginFunc(k.Context(), k.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(k.Context(), "insert into orders (request_id) values ($1) on conflict do nothing", k.id(n)); err != nil {
			return err
		}
		var params prepaid.PaymentParams = prepaid.TransferParams{
			RequestID: k.id(n), Amount: amountOf(n), DestinationAccountID: k.to, SourceReference: "PAY", DestinationReference: "PAY",
		}
		if n%2 == 1 {
			params = prepaid.DirectEntryOutParams{
				RequestID: k.id(n), Amount: amountOf(n), SourceReference: "PAY", DestinationReference: "PAY", BSB: "062000",
				Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "J CITIZEN"},
			}
		}
		if err := k.store.Enqueue(k.Context(), tx, k.from, params); err != nil {
			return err
		}
		if !keep {
			return errRolledBack
		}
		return nil
	})
}

func amountOf(n int) prepaid.Amount { return prepaid.Cents(int64(100 + n)) }

// start starts a worker process.
func (k *killTest) start() *exec.Cmd {
	worker := workerCommand(k.T, k.setup)
	require.NoError(k, worker.Start())
	return worker
}

// kill kills a worker with SIGKILL at any point, and starts another.
func (k *killTest) kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return
	}
	i := k.random.IntN(len(k.workers))
	require.NoError(k, k.workers[i].Process.Kill())
	_ = k.workers[i].Wait() // killed
	k.workers[i] = k.start()
	k.kills++
}

// freeze stops a worker for longer than its leases.
func (k *killTest) freeze(worker *exec.Cmd, d time.Duration) {
	if worker.Process.Signal(syscall.SIGSTOP) == nil {
		time.Sleep(d)
		_ = worker.Process.Signal(syscall.SIGCONT) // it may have been killed
	}
}

// end shuts the workers down, and checks that they end.
func (k *killTest) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return
	}
	k.stopped = true
	for _, worker := range k.workers {
		_ = worker.Process.Signal(syscall.SIGTERM)
	}
	for _, worker := range k.workers {
		if err := worker.Wait(); err != nil {
			k.Error("a worker did not end in order:", err)
		}
	}
}

// pending returns how many payments are not settled, or not in the books.
func (k *killTest) pending() int {
	var n int
	if err := k.pool.QueryRow(k.Context(), "select count(*) from prepaid.payments where state not in ('done', 'rejected') or hook_due is not null").Scan(&n); err != nil {
		return -1
	}
	return n
}

func (k *killTest) done() (n int) {
	if err := k.pool.QueryRow(k.Context(), "select count(*) from prepaid.payments where state = 'done'").Scan(&n); err != nil {
		return 0
	}
	return n
}

// run enqueues payments while workers, and Postgres, are killed, and returns when all are settled.
func (k *killTest) run(payments, kills, freezes, crashes int) {
	var all sync.WaitGroup
	enqueued := make(chan struct{})
	all.Go(func() {
		defer close(enqueued)
		for n := range payments {
			k.enqueue(n)
			time.Sleep(8 * time.Millisecond) // orders come in while others are paid
			if n%10 == 0 {
				_ = k.tryEnqueue(payments+n, false)
			}
		}
	})
	trouble := kills + freezes + crashes
	for i := range trouble {
		// Each failure happens while the store is busy.
		for until := time.Now().Add(time.Minute); time.Now().Before(until) && k.done() < payments*i/(trouble+1); {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Duration(k.random.IntN(20)) * time.Millisecond)
		switch {
		case crashes > 0 && i%(trouble/crashes) == trouble/crashes/2:
			require.NoError(k, k.postgres.Kill())
			require.NoError(k, k.postgres.Restart(k.Context()))
		case freezes > 0 && i%(trouble/freezes) == 0:
			k.mu.Lock()
			worker := k.workers[k.random.IntN(len(k.workers))]
			k.mu.Unlock()
			all.Go(func() { k.freeze(worker, killFrozen) })
		default:
			k.kill()
		}
	}
	<-enqueued
	for until := time.Now().Add(3 * time.Minute); k.pending() != 0; time.Sleep(20 * time.Millisecond) {
		require.True(k, time.Now().Before(until), "%d payments are left", k.pending())
	}
	all.Wait()
	k.end()
	require.NoError(k, k.emulator.WaitIdle(k.Context()))
}

// late reports whether the emulator may have carried out a request after its client's longest wait for it.
func (k *killTest) late() bool {
	return time.Duration(k.pace.late.Load()) > (killAttempt+killRest-takes)/3
}

func TestKilledWorkersPayEachOnce(t *testing.T) {
	t.Parallel()
	began := time.Now()
	k := newKillTest(t, false)
	k.run(*killPayments, *killKills, *killFreezes, *killCrashes)

	if twice := k.emulator.PaidTwice(); len(twice) > 0 && k.late() {
		t.Skipf("too slow to tell: %d were paid twice", len(twice))
	}
	require.Empty(t, k.emulator.PaidTwice())
	var spent prepaid.Amount
	for n := range *killPayments {
		require.Equal(t, 1, k.emulator.Movements(k.id(n)), n)
		spent, _ = spent.Add(amountOf(n))
		require.Zero(t, k.emulator.Movements(k.id(*killPayments+n)), "rolled back")
	}
	left, err := prepaid.MustAmount("1000000").Sub(spent)
	require.NoError(t, err)
	require.Equal(t, left, prepaid.MustAmount(k.emulator.Balance(k.from)))

	stats, err := k.store.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, Stats{Stats: journal.Stats{Done: journal.Total{Count: *killPayments, Sum: spent}}}, stats)
	require.Equal(t, strconv.Itoa(*killPayments), text(t, k.pool, "select count(*)::text from orders where state = 'done'"))
	require.Empty(t, text(t, k.pool, `select coalesce(string_agg(states || ' after ' || (select string_agg(event || ':' || h.state || ' at ' || at::time || ' by ' || h.lease, ', ' order by at)
		from prepaid.payments p join prepaid.history h on h.payment = p.number where p.request_id = b.request_id), chr(10)), '')
		from (select request_id, string_agg(state, ', ') as states from books group by request_id having count(*) <> 1) b`), "Settled was committed more than once")
	require.Equal(t, strconv.Itoa(*killPayments), text(t, k.pool, "select count(distinct request_id)::text from books"))
	// About one in five needs a second request because of the emulator's faults. Each kill, freeze or crash makes at
	// most one worker's payments unknown.
	most := int64(*killPayments*3/2 + 20*(k.kills+*killFreezes+3**killCrashes))
	if !k.late() { // then some requests have taken too long
		require.Less(t, k.arrived.Load(), most)
	}
	t.Logf("%d payments, %d kills, %d freezes, %d crashes of Postgres, %s claims, %d requests: each paid once in %v", *killPayments, k.kills, *killFreezes,
		*killCrashes, text(t, k.pool, "select count(*)::text from prepaid.history where event = 'begin'"), k.arrived.Load(), time.Since(began).Round(time.Second))
}

// With the lease of a job queue, workers pay twice even without a kill: the lease ends while the service still works on
// the request.
func TestNaiveLeasePaysTwice(t *testing.T) {
	t.Parallel()
	k := newKillTest(t, true)
	k.emulator.Decide(func(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
		if a.Sending == 1 {
			return prepaidtest.Delay(15 * time.Second) // much longer than the lease, also on a slow machine
		}
		return prepaidtest.Fault{}
	})
	k.run(6, 0, 0, 0)
	require.NotEmpty(t, k.emulator.PaidTwice())
}
