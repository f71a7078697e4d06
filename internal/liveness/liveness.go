// Package liveness decides when a request of unknown outcome may be repeated.
//
// Time alone does not show that a request is over: a network that was suspended may deliver the request later, and a
// suspended service may carry it out later. So a repeat waits until the service has responded to a request that was sent
// after the end of the first request. Then the repeat waits for as long as the service may need for requests that it has received.
//
// The package promises that no repeat is admitted earlier, that a busy client admits a repeat soon afterwards without reads,
// that a service that responds gets at most perWait reads in one wait, and that nothing waits for ever. Memory is constant.
//
// The package does not know requests or decide which response counts. A response proves nothing about another replica of the service, nor
// about the queue of a proxy.
package liveness

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
)

// Tracker remembers when the service responded. It is safe for concurrent use. Create one with New.
type Tracker struct {
	wait    time.Duration
	reading chan struct{} // full while a caller of Await reads

	mu       sync.Mutex
	seen     [2 * perWait]response // a ring: one response for each wait/perWait, for as long as a repeat may need the response
	newest   int
	admitted time.Time // the latest notBefore for which Await has succeeded
}

// perWait is how many responses are remembered for each wait. More would admit repeats a little earlier.
const perWait = 16

// response represents the responses that arrived from the time first to the time at. sent is when the last of their requests was sent.
type response struct{ first, at, sent time.Time }

// New returns a Tracker. wait is how long the service may need for a request that it has received.
func New(wait time.Duration) *Tracker {
	return &Tracker{wait: wait, reading: make(chan struct{}, 1)}
}

// Responded notes that a response has just arrived. sent is when its request was sent.
func (t *Tracker) Responded(sent time.Time) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &t.seen[t.newest]
	if now.Sub(r.first) >= t.wait/perWait {
		t.newest = (t.newest + 1) % len(t.seen)
		r = &t.seen[t.newest]
		*r = response{first: now}
	}
	if sent.After(r.sent) {
		r.at, r.sent = now, sent
	}
}

// Admitted returns the latest notBefore of a request that may be repeated at the time now, which has a monotonic reading; zero if none.
func (t *Tracker) Admitted(now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	latest := t.admitted
	for _, r := range t.seen {
		if until := r.sent.Add(t.wait); !r.sent.IsZero() && !now.Before(r.at.Add(t.wait)) && until.After(latest) {
			latest = until
		}
	}
	if latest.IsZero() {
		return latest
	}
	return now.Add(latest.Sub(now)) // on the present wall clock, which may have been set meanwhile
}

// responded returns when the service first responded to a request that was sent at the time since or later.
func (t *Tracker) responded(since time.Time) (at time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.seen {
		if !r.sent.IsZero() && !r.sent.Before(since) && (!ok || r.at.Before(at)) {
			at, ok = r.at, true
		}
	}
	return at, ok
}

// recent returns how long the last response still counts as recent. An earlier read would serve fewer callers, and other calls
// may make the read unnecessary.
func (t *Tracker) recent() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wait/perWait - time.Since(t.seen[t.newest].at)
}

// Read makes one request that is safe to repeat. If a response counts, Read calls Responded. If final is true, another read is
// pointless.
type Read func(ctx context.Context) (final bool, err error)

// Await waits until a request may be repeated. The request must have ended by notBefore minus the tracker's wait. Await waits until
// notBefore, and until the tracker's wait has passed since a response to a request that was sent after that end. If there is no such
// response, Await calls read, with growing pauses, for at most limit; limit starts now, or at the request's end if that is later.
//
// Errors: the error of ctx (early if a wait would outlast the deadline of ctx), a *[SilentError] after limit, that of a final read.
func (t *Tracker) Await(ctx context.Context, notBefore time.Time, limit time.Duration, read Read) error {
	now := time.Now()
	// now has a monotonic reading: if the clock was set back, earlier responses must not seem to be later ones.
	notBefore = now.Add(notBefore.Sub(now))
	if !notBefore.After(t.Admitted(now)) {
		return nil
	}
	over := notBefore.Add(-t.wait)
	at, ok := t.responded(over)
	if !ok {
		var err error
		if at, err = t.read(ctx, over, limit, read); err != nil {
			return err
		}
	}
	repeat := at.Add(t.wait)
	if repeat.Before(notBefore) {
		repeat = notBefore
	}
	if err := pause.For(ctx, time.Until(repeat)); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if notBefore.After(t.admitted) {
		t.admitted = notBefore
	}
	return nil
}

// read returns the time of a response to a request that was sent after the end of the first request (over).
func (t *Tracker) read(ctx context.Context, over time.Time, limit time.Duration, read Read) (at time.Time, err error) {
	idle := max(time.Until(over), 0)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= idle+t.wait {
		return at, context.DeadlineExceeded // a response would come too late
	}
	if err := pause.For(ctx, idle); err != nil {
		return at, err
	}
	began := time.Now()
	select {
	case t.reading <- struct{}{}:
		defer func() { <-t.reading }()
	case <-ctx.Done():
		return at, ctx.Err()
	}
	longest := max(t.wait/2, min(limit/perWait, 5*time.Second)) // prevents a hot loop if t.wait is short
	for rest := longest / (perWait / 2); ; {
		if at, ok := t.responded(over); ok {
			return at, nil
		}
		if time.Since(began) >= limit {
			return at, &SilentError{Err: err}
		}
		if err != nil { // no pause before the first read
			if err := pause.For(ctx, rest); err != nil {
				return at, err
			}
			rest = min(2*rest, longest)
		} else if recent := t.recent(); recent > 0 {
			if err := pause.For(ctx, recent); err != nil {
				return at, err
			}
			continue
		}
		final, failure := read(ctx)
		if final {
			return at, failure
		}
		if err = failure; err == nil {
			err = errNoProof
		}
	}
}

var errNoProof = errors.New("the response is not in the service's own form")

// SilentError means that no response that counts arrived within the limit.
type SilentError struct{ Err error }

func (e *SilentError) Error() string {
	text := "the service has not responded since the request of unknown outcome"
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the error of the last read, if this caller made one.
func (e *SilentError) Unwrap() error { return e.Err }
