//go:build unix

package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/internal/tests/bank"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/ratelimit"
)

// Times of the workers before and after a failover. The service may carry out a request up to failoverRest after it was sent.
const (
	failoverAttempt = 2 * time.Second
	failoverCall    = 2 * time.Second
	failoverRest    = failoverAttempt + time.Second
	failoverSends   = failoverCall * 3 / 2
	failoverTakes   = failoverRest * 4 / 5
)

// startStandby starts an asynchronous standby of primary. pgtest makes its files with the programs of a directory: here initdb copies
// the primary.
func startStandby(t *testing.T, primary *pgtest.Server) *pgtest.Server {
	t.Helper()
	address, err := pgx.ParseConfig(primary.URL())
	require.NoError(t, err)
	programs := filepath.Join(address.Host, "standby") // the user that runs the servers can enter it
	require.NoError(t, os.Mkdir(programs, 0o755))
	for name, command := range map[string]string{
		"initdb":   fmt.Sprintf(`pg_basebackup --pgdata "$2" --write-recovery-conf --checkpoint fast --host %s --username %s`, address.Host, address.User),
		"postgres": `postgres "$@"`,
	} {
		script := fmt.Sprintf("#!/bin/sh\nexec %s/%s\n", binaries(t), command)
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(script), 0o755))
	}
	return pgtest.Start(t, pgtest.Options{Binaries: programs})
}

// timedSender records when calls for a payment began.
type timedSender struct {
	journal.Sender
	*failoverTest
}

func (s timedSender) Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	s.mu.Lock()
	s.calls[params.RequestID] = append(s.calls[params.RequestID], time.Now())
	s.mu.Unlock()
	result, err := s.Sender.Transfer(ctx, source, params)
	if call, ok := errors.AsType[*prepaid.CallError](err); ok && call.Attempts > 0 { // else it only waited
		kind, _, _ := strings.Cut(string(params.RequestID), "-")
		s.mu.Lock()
		s.failed[kind]++
		s.mu.Unlock()
	}
	return result, err
}

// failoverTest is a primary with payments, its standby, a service that carries out overlapping repeats, and workers.
type failoverTest struct {
	*testing.T
	primary, standby *pgtest.Server
	promoted         *pgxpool.Pool
	bank             *bank.Bank
	killed, repeated chan struct{} // closed: the primary is dead; all slow payments were sent again
	mu               sync.Mutex
	begun            map[string]int // requests by kind of payment
	failed           map[string]int // calls by kind of payment
	calls            map[prepaid.RequestID][]time.Time
}

// The kinds of payments. Request IDs begin with them.
const (
	paid = "paid" // the standby has its outcome
	fast = "fast" // the standby does not have its claim and its outcome
	slow = "slow" // the standby does not have its claim; the service is carrying it out during the failover
	gone = "gone" // the standby does not have its row
	some = 10
)

func newFailoverTest(t *testing.T, longest time.Duration) *failoverTest {
	t.Helper()
	f := &failoverTest{
		T: t, primary: pgtest.Start(t, pgtest.Options{}), killed: make(chan struct{}), repeated: make(chan struct{}),
		begun: map[string]int{}, failed: map[string]int{}, calls: map[prepaid.RequestID][]time.Time{},
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f.bank = bank.Serve(t, listener, bank.Options{Takes: func(id string, request int) time.Duration {
		kind, _, _ := strings.Cut(id, "-")
		f.mu.Lock()
		f.begun[kind]++
		if kind == slow && f.begun[kind] == 2*some {
			close(f.repeated)
		}
		f.mu.Unlock()
		if wait := map[string]chan struct{}{slow: f.repeated, gone: f.killed}[kind]; wait != nil && request == 1 {
			select {
			case <-wait:
			case <-time.After(longest):
			}
		}
		return 0
	}})
	return f
}

// sender returns the client of another process.
func (f *failoverTest) sender() journal.Sender {
	f.Helper()
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: f.bank.URL, Vendor: "vendor", TestEnvironment: true, InsecureHTTP: true, Limiter: ratelimit.None{},
		ClientID: "client", ClientSecret: prepaid.NewSecret("secret"),
		AttemptTimeout: failoverAttempt,
		Retry:          prepaid.RetryPolicy{MaxAttempts: 1, MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: failoverRest - failoverAttempt},
	})
	require.NoError(f, err)
	return timedSender{client.Accounts, f}
}

// open returns a store whose pool has these addresses.
func (f *failoverTest) open(pool *pgxpool.Pool) testStore {
	f.Helper()
	options := testOptions(f.T)
	options.CallTimeout = failoverCall
	s, err := Open(f.Context(), pool, options)
	require.NoError(f, err)
	return testStore{s, f.T}
}

func failoverIDs(kinds ...string) (ids []prepaid.RequestID) {
	for _, kind := range kinds {
		for i := range some {
			ids = append(ids, prepaid.RequestID(fmt.Sprintf("%s-%d", kind, i)))
		}
	}
	return ids
}

func (f *failoverTest) add(s testStore, lastSent time.Time, kinds ...string) {
	f.Helper()
	for _, id := range failoverIDs(kinds...) {
		params := transfer("")
		params.RequestID, params.LastSent = id, lastSent
		s.enqueue(params)
	}
}

func (f *failoverTest) await(what string, done func() bool) {
	f.Helper()
	require.Eventually(f, done, time.Minute, 2*time.Millisecond, what)
}

// pay runs workers until payments are done.
func (f *failoverTest) pay(s testStore, ids ...prepaid.RequestID) {
	f.Helper()
	stop := s.start(f.sender(), Workers{})
	defer stop()
	require.Eventually(f, s.are(journal.StateDone, ids...), time.Minute, 5*time.Millisecond)
}

func (f *failoverTest) requests(kind string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begun[kind]
}

// failOver pays on the primary (the standby gets only a part), kills the primary and promotes the standby. It returns the store on the
// promoted server, and the number of payments that an earlier worker reported as made without a row.
func (f *failoverTest) failOver() (s testStore, reported int) {
	f.Helper()
	pool := f.primary.NewPool(f.T)
	require.NoError(f, Migrate(f.Context(), pool, ""))
	f.standby = startStandby(f.T, f.primary)
	here, there := pool.Config().ConnConfig, f.standby.URL()
	address, err := pgx.ParseConfig(there)
	require.NoError(f, err)
	f.promoted = poolAt(f.T, "postgres:///"+here.Database+"?user="+here.User+"&host="+address.Host)
	both := poolAt(f.T, "postgres:///"+here.Database+"?user="+here.User+"&host="+here.Host+","+address.Host+"&target_session_attrs=read-write")

	first := f.open(pool)
	f.add(first, time.Time{}, paid)
	f.pay(first, failoverIDs(paid)...)
	f.add(first, time.Time{}, fast, slow)
	copied := testStore{&Store{pool: f.promoted}, f.T}
	f.await("the standby has the payments", copied.are(journal.StateQueued, failoverIDs(fast, slow)...))
	_, err = f.promoted.Exec(f.Context(), "alter system set primary_conninfo = ''")
	require.NoError(f, err)
	_, err = f.promoted.Exec(f.Context(), "select pg_reload_conf()")
	require.NoError(f, err)
	f.await("the standby is cut off", func() bool { return text(f.T, f.promoted, "select count(*)::text from pg_stat_wal_receiver") == "0" })

	// A worker that dies with the primary never knows the other server.
	dies, stopDying := context.WithCancel(f.Context())
	defer stopDying()
	died := make(chan error, 1)
	go func() { died <- first.Run(dies, f.sender(), Workers{N: 2 * some, Claim: 2 * some}) }()
	f.await("payments are sent", func() bool { return f.requests(slow) >= some })
	f.await("outcomes are recorded", first.are(journal.StateDone, failoverIDs(fast)...))
	stopDying()
	// Another worker lives, and finds the promoted server.
	second := f.open(both)
	f.add(second, time.Time{}, gone)
	lives, stopLiving := context.WithCancel(f.Context())
	defer stopLiving()
	lived := make(chan error, 1)
	var reports atomic.Int64
	go func() {
		lived <- second.Run(lives, f.sender(), Workers{Trace: journal.Trace{Gone: func(e journal.Entry) {
			if e.State == journal.StateDone && e.TransactionID != "" {
				reports.Add(1)
			}
		}}})
	}()
	f.await("payments are sent", func() bool { return f.requests(gone) >= some })

	served := time.Since(f.began(slow))
	require.NoError(f, f.primary.Kill())
	stopLiving()
	close(f.killed)
	require.Equal(f, "true", text(f.T, f.promoted, "select pg_promote()::text"))
	require.ErrorIs(f, <-lived, journal.ErrFailover)
	f.Cleanup(func() {
		if err := <-died; served < failoverAttempt || err != nil { // otherwise it recorded before the kill that slow requests got no response
			require.ErrorIs(f, err, journal.ErrNotRecorded)
		}
	})
	return f.open(f.promoted), int(reports.Load())
}

// began returns when the first call for a kind of payment began.
func (f *failoverTest) began(kind string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := time.Now()
	for _, id := range failoverIDs(kind) {
		if calls := f.calls[id]; len(calls) > 0 && calls[0].Before(first) {
			first = calls[0]
		}
	}
	return first
}

// prompt ends the test if a call took longer than its time, except the first ones for slow payments.
func (f *failoverTest) prompt() {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.failed[paid] + f.failed[fast] + f.failed[gone] + max(f.failed[slow]-some, 0); n > 0 {
		f.Skipf("too slow to tell: %d calls took longer than %s", n, failoverCall)
	}
}

// A standby without the last commits is promoted. After Recover, each payment that it has is made once, and those whose rows it
// lacks are reported.
func TestFailover(t *testing.T) {
	t.Parallel()
	f := newFailoverTest(t, failoverTakes)
	s, reported := f.failOver()
	f.prompt()
	require.Equal(t, some, reported)
	began := time.Now()
	n, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2*some, n)
	f.add(s, time.Now(), gone) // their orders arrive again
	f.pay(s, failoverIDs(paid, fast, slow, gone)...)
	f.prompt()
	count := f.bank.Count()
	require.Equal(t, 4*some, count.Paid)
	require.Empty(t, count.Twice)
	for _, id := range failoverIDs(fast, slow) {
		begun := f.calls[id]
		require.GreaterOrEqual(t, len(begun), 2, id)
		require.GreaterOrEqual(t, begun[1].Sub(began), failoverSends+failoverRest, id)
		if len(begun) > 2 {
			t.Skipf("too slow to tell: the second call of %s did not end in time", id)
		}
		require.Equal(t, "enqueue:queued recover:unknown begin:unknown end:done", s.history(id))
	}
	t.Logf("%d paid, %d requests, %d twice; %d reported without a row", count.Paid, count.Requests, len(count.Twice), reported)
}

// Without Recover, new workers send nothing on the promoted server.
func TestFailoverWithoutRecover(t *testing.T) {
	t.Parallel()
	f := newFailoverTest(t, failoverTakes)
	s, _ := f.failOver()
	before := f.bank.Count().Requests
	sender := &teller{}
	err := s.Run(t.Context(), sender, Workers{})
	require.ErrorIs(t, err, journal.ErrFailover)
	require.ErrorContains(t, err, "Store.Recover")
	require.Empty(t, sender.sent)
	require.Equal(t, before, f.bank.Count().Requests)
	require.True(t, s.are(journal.StateQueued, failoverIDs(fast, slow)...)())
}
