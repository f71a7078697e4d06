package journal

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/pause"
)

// leaseOf returns the claim of a worker whose calls take at most the duration call. The worker may start a call within call/2
// of the claim. Another worker sends the payment only when the last request of that call can no longer be in progress.
func leaseOf(call time.Duration, sender Sender) Claim {
	now := time.Now()
	rest := min(max(sender.NotBefore(now).Sub(now), 0), Window) // after Window the payment is not sent
	return Claim{Sends: call/2 + call, Rest: rest}
}

// held is a payment that this worker holds, by the clock of this process.
type held struct {
	Held

	taken time.Time // before the claim was sent
	wall  time.Time // taken without its monotonic reading
}

// age returns how long ago the payment was claimed. The monotonic clock stops while a machine is suspended, and the wall clock
// is wrong if somebody sets it: the longer age counts.
func (h *held) age() time.Duration {
	now := time.Now()
	return max(now.Sub(h.taken), now.Round(0).Sub(h.wall))
}

func (r *work) claim(ctx context.Context) {
	full := false // the last claim took all that it asked for
	for failures := 0; ctx.Err() == nil; {
		if wait := r.brake.pause(); wait > 0 {
			sleep(ctx, wait, r.wake)
			continue
		}
		n := r.room()
		if n == 0 {
			sleep(ctx, restingPoll, r.wake)
			continue
		}
		claimed, starved, err := r.claimAll(ctx, n)
		before, ahead := full, r.ahead.Load()
		full = err == nil && claimed == n
		switch {
		case !full:
			r.ahead.CompareAndSwap(ahead, min(ahead, int64(r.Claim)))
		case before && starved && ahead >= int64(r.Claim):
			r.ahead.CompareAndSwap(ahead, min(2*ahead, int64(mostClaims*r.Claim)))
		}
		if err != nil {
			if ctx.Err() == nil {
				r.failed(ctx, err)
			}
			sleep(ctx, backoff(100*time.Millisecond, 5*time.Second, failures), nil)
			failures++
			continue
		}
		failures = 0
		if !full {
			sleep(ctx, poll, r.wake)
		}
	}
}

// claimAll claims at most n payments, with several claims at the same time if one is too small. What one has claimed waits for no other.
// starved reports that meanwhile no payment was left to send.
func (r *work) claimAll(ctx context.Context, n int) (claimed int, starved bool, err error) {
	var claims sync.WaitGroup
	var mu sync.Mutex
	for part := range slices.Chunk(make([]struct{}, n), r.Claim) {
		claims.Go(func() {
			list, failure := r.claimSome(ctx, len(part))
			mu.Lock()
			defer mu.Unlock()
			claimed, starved, err = claimed+len(list), starved || len(r.queue) == 0, cmp.Or(err, failure)
			if len(list) > 0 {
				r.Trace.Claimed(len(list))
			}
			for _, h := range list {
				r.queue <- h // has a place: see room
			}
		})
	}
	claims.Wait()
	return claimed, starved, err
}

func (r *work) claimSome(ctx context.Context, n int) ([]*held, error) {
	// The end of ctx does not break a connection during the commit: otherwise payments would stay claimed until the lease ends.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), storeLimit, errStoreLimit)
	defer cancel()
	taken := time.Now()
	c := r.lease
	c.N, c.Admitted = n, *r.admitted.Load()
	list, err := r.store.Claim(ctx, c)
	if err != nil {
		return nil, pause.Cause(ctx, err)
	}
	r.held.Add(int64(len(list)))
	all := make([]*held, len(list))
	for i, h := range list {
		h.Entry = h.Entry.Shift(h.Now, time.Now())
		all[i] = &held{Held: h, taken: taken, wall: taken.Round(0)}
	}
	return all, nil
}

// room returns how many payments may be claimed. It is 0 while more than a quarter of the waiting places are full: a smaller
// claim is not worth a commit.
func (r *work) room() int {
	ahead := r.ahead.Load()
	free := int64(r.N) + ahead - r.held.Load()
	if free < ahead-ahead/4 {
		return 0
	}
	claim := int64(r.Claim)
	if ahead < 2*claim || free < 2*claim {
		return int(min(free, claim))
	}
	return int(min(free, ahead) / claim * claim)
}

// admit waits for the response that must arrive before payments of unknown outcome may be sent again. This wait uses
// neither their lease nor a call's time. If it fails, because the service does not respond to reads of that account, the next account
// is tried: a response to any read counts for all payments.
func (r *work) admit(ctx context.Context) {
	var silent *Resting // its account was tried last, in vain
	for failures := 0; ctx.Err() == nil; {
		next, err := r.resting(ctx, silent)
		r.rests.Store(silent != nil || next != nil && next.Wait <= r.lease.Rest)
		early := restingPoll
		switch {
		case next == nil || err != nil: // the next claim reports the store's error
			if silent != nil {
				silent, early = nil, time.Second
			}
		case next.Wait > 3*r.lease.Rest/4: // a first response may count from then on
			early = next.Wait - 3*r.lease.Rest/4
		default:
			now := time.Now()
			first := liveness.WithFirst(ctx, now.Add(-next.Age))
			if err = r.sender.AwaitRepeat(first, next.Account, now.Add(next.Wait-r.lease.Rest)); err == nil {
				failures = 0
				if silent == nil {
					r.admitted.Store(&next.Due)
					pause.Wake(r.wake)
				}
				silent, early = nil, admitPause
				break
			}
			silent = next
			if ctx.Err() == nil {
				r.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: payments of unknown outcome wait: the service does not respond",
					slog.String("error", err.Error()))
			}
			early = backoff(time.Second, 5*time.Second, failures)
			failures++
		}
		sleep(ctx, min(early, restingPoll), r.rested)
	}
}

// resting returns the next payment to admit or, after silent, one of another account.
func (r *work) resting(ctx context.Context, silent *Resting) (*Resting, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, storeLimit, errStoreLimit)
	defer cancel()
	if silent == nil {
		next, err := r.store.Resting(ctx, *r.admitted.Load())
		return next, pause.Cause(ctx, err)
	}
	next, err := r.store.Resting(ctx, silent.Due)
	for range 50 {
		if err != nil || next == nil || next.Account != silent.Account {
			break
		}
		next, err = r.store.Resting(ctx, next.Due)
	}
	return next, pause.Cause(ctx, err)
}

func (r *work) failed(ctx context.Context, err error) {
	if errors.Is(err, ErrFailover) {
		r.failover.Store(&err)
		r.halt()
	}
	r.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: the store of the payments failed", slog.String("error", err.Error()))
	r.Trace.Failed(err)
}

// sleep waits for d, a signal or the end of ctx. A nil channel never signals.
func sleep(ctx context.Context, d time.Duration, woken <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-woken:
	case <-ctx.Done():
	}
}

// backoff returns the wait after a number of failures: the duration first, doubled with each failure, up to the duration longest.
func backoff(first, longest time.Duration, failures int) time.Duration {
	return min(first<<min(max(failures, 0), 20), longest)
}

// brake pauses claims while nothing can be sent for a reason that holds for every payment: no token, no connection, no slot of the limiter.
type brake struct {
	mu    sync.Mutex
	count int
	until time.Time
}

// press is called after a payment that was not sent, and release after a payment that was sent.
func (b *brake) press() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.After(b.until) { // calls that fail during a pause do not count
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
