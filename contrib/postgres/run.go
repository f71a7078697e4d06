package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// run is one call of Run.
type run struct {
	*Store
	sender  journal.Sender
	workers Workers

	stopping <-chan struct{} // closed when no more is claimed
	work     chan *claimed
	ended    chan *outcome
	wake     chan struct{} // something may be due, or there is room
	open     chan struct{} // there is another payment of unknown outcome
	// unsettled: Settled has failed
	unsettled chan struct{}
	held      atomic.Int64 // payments claimed, and whose call has not ended
	ahead     atomic.Int64 // how many may wait
	brake     brake
	lost      atomic.Int64              // outcomes that could not be recorded
	admitted  atomic.Pointer[time.Time] // payments of unknown outcome that became due up to this time may be sent
}

// Run sends the payments that are due, until ctx ends, and returns when its calls have ended, what they found is recorded,
// and what was not sent is given back: within Workers.Grace, if the database works. Call it in as many processes as you
// like, also of different versions. sender is client.Accounts of a [prepaid.Client].
//
// Failures of the database or of the service do not end Run: it tries again, at longer and longer intervals. See Options.Logger and
// Workers.Trace.
//
// Errors: a [*prepaid.ValidationError] of workers, at once; [journal.ErrNotRecorded] if an outcome could not be recorded
// before the end: the payment's outcome is then unknown, and it is sent again under its request ID when the lease has ended.
func (s *Store) Run(ctx context.Context, sender journal.Sender, workers Workers) error {
	if err := workers.check(sender); err != nil {
		return fmt.Errorf("prepaidpg: %w", err)
	}
	workers = workers.withDefaults(s.options.CallTimeout)
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r := &run{
		Store: s, sender: sender, workers: workers, stopping: ctx.Done(),
		work: make(chan *claimed, workers.N+workers.Claim), ended: make(chan *outcome, recorders*group),
		wake: make(chan struct{}, 1), open: make(chan struct{}, 1), unsettled: make(chan struct{}, 1),
	}
	r.ahead.Store(int64(workers.Claim))
	r.admitted.Store(new(time.Time))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(workers.Grace, cancel) })
	defer stop()

	var helpers, payers, writers sync.WaitGroup
	helpers.Go(func() { r.listen(ctx) })
	helpers.Go(func() { r.admit(ctx) })
	if workers.Settled != nil {
		helpers.Go(func() { r.settleLater(ctx) })
	}
	for range workers.N {
		payers.Go(func() { r.pay(calls) })
	}
	for range recorders {
		writers.Go(func() { r.write(calls) })
	}
	r.claimUntil(ctx)
	close(r.work)
	payers.Wait()
	close(r.ended)
	writers.Wait()
	helpers.Wait()
	if n := r.lost.Load(); n > 0 {
		return fmt.Errorf("prepaidpg: outcomes of %d payments: %w", n, journal.ErrNotRecorded)
	}
	return nil
}

// claimUntil claims while there is room, until ctx ends.
func (r *run) claimUntil(ctx context.Context) {
	failures, empty := 0, 0
	for ctx.Err() == nil {
		if pause := r.brake.pause(); pause > 0 {
			sleep(ctx, pause, r.wake)
			continue
		}
		n := r.room()
		if n == 0 {
			sleep(ctx, poll, r.wake)
			continue
		}
		list, err := r.claim(ctx, r.sender, n, *r.admitted.Load())
		switch {
		case ctx.Err() != nil && err != nil:
		case err != nil:
			r.failed(ctx, err)
			sleep(ctx, backoff(100*time.Millisecond, 5*time.Second, failures), nil)
			failures++
			continue
		}
		failures = 0
		if len(list) > 0 {
			empty = 0
			r.held.Add(int64(len(list)))
			if r.workers.Trace.Claimed != nil {
				r.workers.Trace.Claimed(len(list))
			}
			for _, c := range list {
				r.work <- c
			}
		}
		if len(list) == n {
			continue
		}
		wait, err := r.next(ctx)
		if err != nil {
			continue // the next claim reports it
		}
		if wait <= 0 { // a payment that is due is locked, or was taken just now
			wait = backoff(10*time.Millisecond, 5*time.Second, empty)
			empty++
		} else {
			empty = 0
		}
		sleep(ctx, min(wait, poll), r.wake)
	}
}

// room returns how many payments may be claimed: a few at a time, so that claims are worth their commit.
func (r *run) room() int {
	ahead := r.ahead.Load()
	free := int64(r.workers.N) + ahead - r.held.Load()
	if free < (ahead+1)/2 {
		return 0
	}
	return int(min(free, int64(r.workers.Claim)))
}

// next returns how long it is until a payment is due.
func (r *run) next(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, databaseLimit)
	defer cancel()
	var wait int64
	if err := r.pool.QueryRow(ctx, r.sql.next, time.Since(*r.admitted.Load()).Microseconds()).Scan(&wait); errors.Is(err, pgx.ErrNoRows) {
		return poll, nil
	} else if err != nil {
		return 0, err
	}
	return time.Duration(wait)*time.Microsecond + time.Millisecond, nil
}

// admit waits for the service's response that payments of unknown outcome need before they are sent again, so that they use up
// neither a lease nor the time of a call.
func (r *run) admit(ctx context.Context) {
	rest, failures := restOf(r.sender), 0
	for ctx.Err() == nil {
		due, account, err := r.resting(ctx)
		early := time.Until(due) - rest/4
		switch {
		case err != nil: // there is none, or claims report it
			early = poll
		case early > 0:
		default:
			if err = r.awaitRepeat(ctx, account, due.Add(-rest)); err == nil {
				failures = 0
				r.admitted.Store(&due)
				wake(r.wake)
				continue
			}
			if ctx.Err() == nil {
				r.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: payments of unknown outcome wait: the service does not respond", slog.Any("error", err))
			}
			early = backoff(time.Second, 5*time.Second, failures)
			failures++
		}
		sleep(ctx, min(early, poll), r.open)
	}
}

// awaitRepeat returns a panic of the sender as an error.
func (r *run) awaitRepeat(ctx context.Context, account prepaid.AccountID, lastSent time.Time) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return r.sender.AwaitRepeat(ctx, account, lastSent)
}

// resting returns the next payment of unknown outcome that is not admitted, and when it is due.
func (r *run) resting(ctx context.Context) (due time.Time, account prepaid.AccountID, err error) {
	ctx, cancel := context.WithTimeout(ctx, databaseLimit)
	defer cancel()
	var wait int64
	err = r.pool.QueryRow(ctx, r.sql.resting, time.Since(*r.admitted.Load()).Microseconds()).Scan(&wait, &account)
	return time.Now().Add(time.Duration(wait) * time.Microsecond), account, err
}

// wake ends a sleep.
func wake(sleeper chan struct{}) {
	select {
	case sleeper <- struct{}{}:
	default:
	}
}

// sleep waits for d, a signal or the end of ctx. A nil channel gives no signal.
func sleep(ctx context.Context, d time.Duration, woken <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
	}
}

// backoff doubles first with each failure, up to longest.
func backoff(first, longest time.Duration, failures int) time.Duration {
	return min(first<<min(failures, 20), longest)
}

// ends reports whether no more is claimed.
func (r *run) ends() bool {
	select {
	case <-r.stopping:
		return true
	default:
		return false
	}
}

func (r *run) failed(ctx context.Context, err error) {
	r.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: the database of the payments failed", slog.Any("error", err))
	if r.workers.Trace.Failed != nil {
		r.workers.Trace.Failed(err)
	}
}

func (r *run) givenBack(id prepaid.RequestID, why error) {
	if r.workers.Trace.GivenBack != nil {
		r.workers.Trace.GivenBack(id, why)
	}
}

// brake pauses claims while nothing can be sent for a reason that holds for every payment: no token, no connection, no slot
// of the limiter.
type brake struct {
	mu    sync.Mutex
	count int
	until time.Time
}

// press is for a payment that was not sent, release for one that was.
func (b *brake) press() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.After(b.until) { // those that were in progress meanwhile count once
		b.until = now.Add(backoff(100*time.Millisecond, 30*time.Second, b.count))
		b.count++
	}
}

func (b *brake) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count, b.until = 0, time.Time{}
}

func (b *brake) pause() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(time.Until(b.until), 0)
}
