package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/bank"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/ratelimit"
)

// Times of the workers whose clocks are set. The service carries out a request clockTakes after it has arrived, or when a repeat arrives:
// then it carries out both.
const (
	clockAttempt = 5 * time.Second
	clockRest    = 10 * time.Second
	clockTakes   = 15 * time.Second / 2
)

// setClock is a sender in a process whose clock is set during the first call for each payment.
type setClock struct {
	journal.Sender
	*clockTest
}

// clockTest is a service that loses the first response for each payment. Workers' clocks are set by the steps of the payments.
type clockTest struct {
	mu    sync.Mutex
	steps map[prepaid.RequestID]time.Duration
	began map[prepaid.RequestID]time.Time
	again map[string]chan struct{} // closed when a repeat has arrived
}

// before returns t as it was taken before the wall clock was set, which changed it by the duration step. Go reads the clock without a system
// call: no program can set it for a test, but a time has wall clock and monotonic reading.
func before(t time.Time, step time.Duration) time.Time {
	seconds := (*uint64)(unsafe.Pointer(&t)) //nolint:gosec // of the wall clock
	if *seconds>>63 == 0 {                   // no monotonic reading
		return t.Add(-step)
	}
	*seconds -= uint64(step/time.Second) << 30 //nolint:gosec // may wrap
	return t
}

func (s setClock) Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	s.mu.Lock()
	step := s.steps[params.RequestID]
	if s.began[params.RequestID].IsZero() {
		s.began[params.RequestID] = time.Now()
	} else {
		step = 0
	}
	s.mu.Unlock()
	result, err := s.Sender.Transfer(ctx, source, params)
	if call, ok := errors.AsType[*prepaid.CallError](err); ok {
		call.FirstSent, call.LastSent, call.NotBefore = before(call.FirstSent, step), before(call.LastSent, step), before(call.NotBefore, step)
	}
	return result, err
}

// takes is how long the service needs for a request.
func (c *clockTest) takes(id string, request int) time.Duration {
	c.mu.Lock()
	again := c.again[id]
	c.mu.Unlock()
	switch request {
	case 1:
		select {
		case <-again:
		case <-time.After(clockTakes):
		}
	case 2:
		close(again)
	}
	return 0
}

// If workers' clocks are set during a call whose response is lost, each payment is made once, rests as long as without that, and
// is claimed once more.
func TestClocksOfWorkersAreSet(t *testing.T) {
	t.Parallel()
	pace := startPace(t)
	s := newStore(t)
	c := &clockTest{steps: map[prepaid.RequestID]time.Duration{}, began: map[prepaid.RequestID]time.Time{}, again: map[string]chan struct{}{}}
	var ids []prepaid.RequestID
	for _, step := range []time.Duration{0, time.Minute, -time.Minute, time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour} {
		for i := range 8 {
			params := transfer(fmt.Sprint(step, i))
			c.steps[params.RequestID], c.again[string(params.RequestID)] = step, make(chan struct{})
			ids = append(ids, params.RequestID)
			s.enqueue(params)
		}
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	service := bank.Serve(t, listener, bank.Options{Takes: c.takes})
	ages, rests := map[prepaid.RequestID]time.Duration{}, map[prepaid.RequestID]time.Duration{}
	recorded := func(e journal.Entry) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.State == journal.StateUnknown && rests[e.RequestID] == 0 {
			var changed, due, last time.Time
			row := s.pool.QueryRow(t.Context(), "select changed, due, last_sent from prepaid.payments where request_id = $1", string(e.RequestID))
			if row.Scan(&changed, &due, &last) == nil {
				ages[e.RequestID], rests[e.RequestID] = changed.Sub(last), due.Sub(last)
			}
		}
	}
	var calls sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	var ends []func()
	defer func() {
		stop()
		calls.Wait()
		for _, end := range ends {
			end()
		}
	}()
	for range 3 {
		client, err := prepaid.NewClient(prepaid.Config{
			BaseURL: service.URL, Vendor: "vendor", TestEnvironment: true, InsecureHTTP: true, Limiter: ratelimit.None{},
			ClientID: "client", ClientSecret: prepaid.NewSecret("secret"), AttemptTimeout: clockAttempt,
			Retry: prepaid.RetryPolicy{MaxAttempts: 1, InFlightWait: clockRest - clockAttempt},
		})
		require.NoError(t, err)
		calls.Go(func() { // the service responds to other calls: only the age of a payment makes its repeat wait
			for ctx.Err() == nil {
				_, _ = client.Accounts.Summary(ctx, "EA1")
				time.Sleep(100 * time.Millisecond)
			}
		})
		ends = append(ends, s.start(setClock{client.Accounts, c}, Workers{Trace: journal.Trace{Recorded: recorded}}))
	}

	done := s.are(journal.StateDone, ids...)
	require.Eventually(t, func() bool { return done() || len(service.Count().Twice) > 0 }, time.Minute, 5*time.Millisecond)
	count := service.Count()
	if len(count.Twice) > 0 && pace.slow(20*time.Second) {
		t.Skipf("too slow to tell: %d payments twice", len(count.Twice))
	}
	require.Empty(t, count.Twice)
	require.Equal(t, len(ids), count.Paid)
	require.Equal(t, 2*len(ids), count.Requests)
	for _, id := range ids {
		step, most := c.steps[id], time.Since(c.began[id])
		require.Positive(t, ages[id], step)
		require.Less(t, ages[id], most, step)
		require.GreaterOrEqual(t, rests[id], clockRest, step)
		require.Less(t, rests[id], clockRest+most, step)
		require.Equal(t, "2", text(t, s.pool, `select count(*)::text from prepaid.history h join prepaid.payments p on p.number = h.payment
			where request_id = $1 and event = 'begin'`, id), "claims after a step of %s", step)
	}
}

// The clock is set between the end of a run and its record, or before a payment of unknown outcome is enqueued.
func TestClockIsSetBeforeACommit(t *testing.T) {
	t.Parallel()
	s, now := newStore(t), time.Now()
	for _, step := range []time.Duration{time.Minute, -time.Minute, 24 * time.Hour, -24 * time.Hour} {
		sent := before(now.Add(-10*time.Minute), step)
		params := transfer(step.String())
		params.LastSent = sent
		s.enqueue(params)
		require.WithinDuration(t, now.Add(-10*time.Minute), s.entry(params.RequestID).LastSent, time.Minute/2, step)
		h := s.claims(&teller{}, 1)[0]
		run, err := h.Entry.Shift(h.Now, now).Begin(now)
		require.NoError(t, err)
		require.Equal(t, params.RequestID, run.Entry.RequestID)
		after, _ := run.End(now, nil, (&teller{rest: time.Hour}).unknownNow())
		after.LastSent, after.NotBefore = before(after.LastSent, step), before(after.NotBefore, step)
		_, err = s.Record(t.Context(), []journal.End{{Fence: h.Fence, Entry: after, Wait: time.Hour}})
		require.NoError(t, err)
		e := s.entry(params.RequestID)
		require.WithinDuration(t, now, e.LastSent, time.Minute/2, step)
		require.Equal(t, time.Hour, e.NotBefore.Sub(e.LastSent), step)
	}
}

// If the server's clock is set back, payments that were never sent are claimed and reported, and calls of Settled are due, at once. A
// payment of unknown outcome, and one that waits after a failure, are not claimed earlier.
func TestServerClockIsSetBack(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	s := openStore(t, settable(t, newPool(t)))
	sender := &teller{rest: time.Minute}
	end := func(h journal.Held, wait time.Duration, failure error) {
		e := s.ended(h, nil, failure)
		e.Wait = wait
		_, err := s.record(t.Context(), []journal.End{e}, true)
		require.NoError(t, err)
	}
	const notSent, unknown, refused, backedOff, queued = "not sent", "unknown", "refused", "backed off", "queued"
	for _, key := range []string{notSent, unknown, refused} {
		s.enqueue(transfer(key))
	}
	for _, h := range s.claims(sender, 3) {
		switch h.Entry.RequestID {
		case transfer(notSent).RequestID:
			end(h, longestWait, notProcessed())
		case transfer(unknown).RequestID:
			end(h, sender.rest, sender.unknownNow())
		default:
			end(h, 0, rejected())
		}
	}
	s.enqueue(transfer(queued))
	step(t, s.pool, -hour)
	s.enqueue(transfer(backedOff))
	stats, err := s.Stats(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 60, stats.OldestQueued.Minutes(), 2)
	require.InDelta(t, 60, stats.OldestUnknown.Minutes(), 2)
	s.horizon = horizon{}
	claimed := map[prepaid.RequestID]journal.Held{}
	for _, h := range s.claims(sender, 9) {
		claimed[h.Entry.RequestID] = h
	}
	require.Len(t, claimed, 3)
	require.Contains(t, claimed, transfer(queued).RequestID)
	require.Contains(t, claimed, transfer(notSent).RequestID)
	end(claimed[transfer(backedOff).RequestID], longestWait, notProcessed())
	s.horizon = horizon{}
	require.Empty(t, s.claims(sender, 9))
	require.Equal(t, "t", text(t, s.pool, "select (due > now() + interval '1 hour')::text::char from prepaid.payments where request_id = $1", transfer(unknown).RequestID))
	require.Equal(t, "t", text(t, s.pool, "select (hook_due <= now())::text::char from prepaid.payments where request_id = $1", transfer(refused).RequestID))
	stats, err = s.Stats(t.Context())
	require.NoError(t, err)
	require.Less(t, stats.OldestQueued, 2*time.Minute)
	end(claimed[transfer(queued).RequestID], 0, nil)
}

// settable returns connections to a database whose clock the function step sets for them.
func settable(t *testing.T, pool *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	_, err := pool.Exec(t.Context(), `create schema settable; create table settable.ahead (by interval); insert into settable.ahead values ('0');
		create function settable.now() returns timestamptz stable language sql
			return (select pg_catalog.now() + by from settable.ahead);
		create function settable.clock_timestamp() returns timestamptz volatile language sql
			return (select pg_catalog.clock_timestamp() + by from settable.ahead);
		alter table prepaid.payments alter enqueued set default settable.now(), alter changed set default settable.now()`)
	require.NoError(t, err)
	config := pool.Config()
	config.ConnConfig.RuntimeParams["search_path"] = "settable, pg_catalog, public"
	pool, err = pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func step(t *testing.T, pool *pgxpool.Pool, by time.Duration) {
	t.Helper()
	_, err := pool.Exec(t.Context(), "update settable.ahead set by = by + $1::bigint * interval '1 microsecond'", by.Microseconds())
	require.NoError(t, err)
}
