// Package liveness decides when a request of unknown outcome may be repeated.
//
// Time alone does not show that a request is over: a proxy's kernel may deliver the request after an outage of the network, and a
// suspended service may carry it out later. So a repeat waits for two responses.
//
// The first one must arrive for a request that was sent during the attempt, after a third of its time, or later. It shows that the
// network works again. A retransmission then follows within the age that the request has at this moment, because the pauses between
// retransmissions double, and within two minutes, the longest pause. The second response must belong to a request that was sent after
// that, and after the end of the attempt. Then the service gets the time that it may need for requests that it has received.
//
// For a connection to the service that carries one request at a time this held in 3,000 measured retransmissions, for outages of any
// length. It is only likely if the network fails again between the two responses, if a round trip takes much more than half a second, so
// that the first pause is long, and if a proxy sends several requests over one connection: then the oldest of them decides.
//
// The package promises that no repeat is admitted earlier; that while the service responds within a third of the attempt, a repeat
// waits no longer than for the end of the attempt and the service's time; that a busy client repeats soon afterwards without
// reads; and that nothing waits for ever. Memory is constant.
//
// The package does not know requests or decide which response counts. A response proves nothing about another replica of the service, nor
// about a queue in front of it.
package liveness

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
)

const (
	// longestPause is Linux's longest pause between two retransmissions; other systems have shorter ones.
	longestPause = 2 * time.Minute
	// retransmitted is how long a kernel retransmits at most; Linux gives up after 15 to 18 minutes.
	retransmitted = 20 * time.Minute
	// firstPause is the usual pause before the first retransmission at most, also of a packet that opens a connection. By this a
	// retransmission may be later than double the age.
	firstPause = 1200 * time.Millisecond
)

// Request is a request of unknown outcome.
type Request struct {
	// Sent is when it was sent.
	Sent time.Time
	// NotBefore is the earliest time of a repeat: the end of the attempt plus the time that the service may need.
	NotBefore time.Time
}

// Later returns the request with the later NotBefore.
func (r Request) Later(other Request) Request {
	if other.NotBefore.After(r.NotBefore) {
		return other
	}
	return r
}

// IsZero reports whether there is no request.
func (r Request) IsZero() bool { return r.NotBefore.IsZero() }

// Tracker remembers when the service responded. It is safe for concurrent use. Create one with New.
type Tracker struct {
	wait    time.Duration
	gap     time.Duration
	reading chan struct{} // full while a caller of Await reads or waits to read

	mu      sync.Mutex
	seen    [2 * perWait]response // a ring: one response for each wait/perWait
	newest  int
	periods [64]period // a ring
	latest  int
	rest    time.Duration // the pause after the next read that fails
	resume  time.Time     // of reads, after a failed read
}

// perWait is how many responses are remembered for each wait. More would admit repeats a little earlier.
const perWait = 16

// response represents the responses that arrived from the time first to the time at. sent is when the last of their requests was sent.
type response struct{ first, at, sent time.Time }

// period is a time in which responses arrived without a pause of more than the tracker's gap: from the time began, for a request sent
// at the time first, to the time at, for a request sent at the time sent. All but the first response took no longer than gap.
type period struct{ first, began, sent, at time.Time }

// New returns a Tracker. attempt is how long a request takes at most, and wait how long the service may need for a request that it has
// received.
func New(attempt, wait time.Duration) *Tracker {
	return &Tracker{wait: wait, gap: attempt / 20, reading: make(chan struct{}, 1)}
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
	p := &t.periods[t.latest]
	if !sent.After(p.sent) {
		return
	}
	if now.Sub(p.at) > t.gap || now.Sub(sent) > t.gap {
		t.latest = (t.latest + 1) % len(t.periods)
		p = &t.periods[t.latest]
		*p = period{first: sent, began: now}
	}
	p.sent, p.at = sent, now
}

// works returns a time by which the service had responded to a request that was sent at the time since or later.
func (t *Tracker) works(since time.Time) (at time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.periods {
		if p.sent.IsZero() || p.sent.Before(since) {
			continue
		}
		by := p.began
		if p.first.Before(since) {
			by = earlier(p.at, later(p.began, since.Add(t.gap)).Add(t.gap))
		}
		if !ok || by.Before(at) {
			at, ok = by, true
		}
	}
	return at, ok
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

// Read makes one request that is safe to repeat. If a response counts, Read calls Responded. If final is true, another read is
// pointless.
type Read func(ctx context.Context) (final bool, err error)

// Await waits until r may be repeated: see the package's comment. If there is no response, Await calls read, with growing pauses, for at
// most limit; limit starts now, or when the response may be to a request sent now, if that is later. Callers read in turn, so that
// one whose reads all fail does not stop the others.
//
// Errors: the error of ctx (early if a wait would outlast the deadline of ctx), a *[SilentError] after limit, that of a final read.
func (t *Tracker) Await(ctx context.Context, r Request, limit time.Duration, read Read) error {
	r, over, third := t.parts(r)
	if endsBefore(ctx, r.NotBefore) {
		return context.DeadlineExceeded
	}
	first, err := t.await(ctx, r.Sent.Add(third), t.works, limit, read)
	for err == nil {
		since := later(over, t.gone(r, first, third))
		asked := later(since, time.Now())
		var second time.Time
		if second, err = t.await(ctx, since, t.responded, limit, read); err == nil && second.Sub(asked) <= third {
			return pause.For(ctx, time.Until(later(second.Add(t.wait), r.NotBefore)))
		}
		first = second // the network was down meanwhile
	}
	return err
}

// Admitted reports whether it is known that r could be repeated at the time at, or earlier.
func (t *Tracker) Admitted(r Request, at time.Time) bool {
	r, over, third := t.parts(r)
	first, ok := t.works(r.Sent.Add(third))
	if !ok {
		return false
	}
	second, ok := t.works(later(over, t.gone(r, first, third)))
	return ok && !later(second.Add(t.wait), r.NotBefore).After(at)
}

// parts returns r with monotonic readings, the end of its attempt, and a third of the attempt. If the clock was set back, earlier
// responses must not seem to be later ones.
func (t *Tracker) parts(r Request) (same Request, over time.Time, third time.Duration) {
	now := time.Now()
	r.Sent, r.NotBefore = now.Add(r.Sent.Sub(now)), now.Add(r.NotBefore.Sub(now))
	over = r.NotBefore.Add(-t.wait)
	return r, over, over.Sub(r.Sent) / 3
}

// Sign waits until there is the first of the two responses that Await needs. Call it when a third of an attempt has passed, with a
// context that ends with the attempt: a repeat then waits no longer than for the second one. Like Await, it reads only if other calls
// get no response.
func (t *Tracker) Sign(ctx context.Context, attempt time.Duration, read Read) {
	_, _ = t.await(ctx, time.Now(), t.works, attempt, read)
}

// gone returns when r has arrived or will never arrive, if the network has worked since the time works.
func (t *Tracker) gone(r Request, works time.Time, third time.Duration) time.Time {
	age := works.Sub(r.Sent)
	if age >= retransmitted {
		return r.Sent
	}
	return works.Add(min(age+min(max(firstPause, third/4), third), longestPause, retransmitted-age))
}

// await returns when the service responded, by the function known, to a request sent at the time since or later. It reads if necessary.
func (t *Tracker) await(ctx context.Context, since time.Time, known func(since time.Time) (time.Time, bool), limit time.Duration, read Read) (at time.Time, err error) {
	if at, ok := known(since); ok {
		return at, nil
	}
	if endsBefore(ctx, later(since, time.Now()).Add(t.wait)) {
		return at, context.DeadlineExceeded // a response would come too late
	}
	if err := pause.For(ctx, time.Until(since)); err != nil {
		return at, err
	}
	ends := time.Now().Add(limit)
	for {
		if at, ok := known(since); ok {
			return at, nil
		}
		if !time.Now().Before(ends) {
			return at, &SilentError{Err: err}
		}
		final, failure := t.readOnce(ctx, since, known, ends, limit, read)
		switch {
		case final:
			return at, failure
		case failure != nil:
			err = failure
		}
	}
}

// readOnce waits for this caller's turn, and for the pause after a failed read or another response, and reads once. It returns earlier
// if the response is known.
func (t *Tracker) readOnce(ctx context.Context, since time.Time, known func(since time.Time) (time.Time, bool), ends time.Time, limit time.Duration, read Read) (final bool, err error) {
	over := time.NewTimer(time.Until(ends))
	defer over.Stop()
	select {
	case t.reading <- struct{}{}:
		defer func() { <-t.reading }()
	case <-over.C:
		return false, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
	for {
		if _, ok := known(since); ok {
			return false, nil
		}
		rest := t.pace()
		if rest <= 0 {
			break
		}
		if err := pause.For(ctx, rest); err != nil {
			return true, err
		}
	}
	final, err = read(context.WithValue(ctx, readKey{}, true))
	if _, ok := known(since); ok || final {
		t.paced(0)
		return final, err
	}
	t.paced(max(t.wait/4, min(limit/(2*perWait), 2500*time.Millisecond))) // prevents a hot loop if t.wait is short
	if err == nil {
		err = errNoProof
	}
	return false, err
}

type readKey struct{}

// IsRead reports whether ctx is that of a read by Await or Sign. How many there are depends on the time that other requests take.
func IsRead(ctx context.Context) bool { return ctx.Value(readKey{}) != nil }

// pace returns how long the next read has to wait: for the pause after a failed read, or as long as the last response counts as
// recent, since other calls may make the read unnecessary.
func (t *Tracker) pace() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(time.Until(t.resume), t.wait/perWait-time.Since(t.seen[t.newest].at))
}

// paced doubles the pause after a read that failed, up to longest. Zero ends the pauses.
func (t *Tracker) paced(longest time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if longest == 0 {
		t.rest, t.resume = 0, time.Time{}
		return
	}
	t.rest = min(max(2*t.rest, longest/(perWait/2)), longest)
	t.resume = time.Now().Add(t.rest)
}

func endsBefore(ctx context.Context, t time.Time) bool {
	deadline, ok := ctx.Deadline()
	return ok && !deadline.After(t)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
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
