// Package liveness decides when a request of unknown outcome may be repeated.
//
// Time alone does not show that a request is over: a proxy's kernel may deliver the request after an outage of the network, and a
// suspended service may carry it out later. So a repeat waits for two responses.
//
// The first one must belong to a request that was sent after a third of the attempt's time, or later. It shows that the network works
// again. A retransmission then follows within the age that the first request has at this moment, because the pauses between
// retransmissions double, and within two minutes, the longest pause. The second response must belong to a request that was sent after
// that, and after the end of the attempt. Then the service gets the time that it may need for requests that it has received.
// If the second response is late, the network has failed again, and the response becomes the first.
//
// For a connection to the service that carries one request at a time this held in 3,000 measured retransmissions, for outages of any
// length. It is only likely if the network fails again between the two responses, if a round trip takes much more than half a second, so
// that the first pause is long, and if a proxy sends several requests over one connection: then the oldest of them decides.
//
// The package promises that no repeat is admitted earlier; that a repeat waits only for the end of the attempt and the service's time
// if the service has responded soon after a third of the attempt; that a busy client repeats soon afterwards without reads; and that
// nothing waits for ever: after 20 minutes one response is enough. Memory is constant. With [Tracker.Evidence], a wait goes on in the next
// process: processes that live for a shorter time than a wait admit repeats, too.
//
// The package does not know requests or decide which response counts. A response proves nothing about another replica of the service, nor
// about a queue in front of it.
package liveness

import (
	"context"
	"errors"
	"time"

	"github.com/cardprograms/prepaid/internal/guard"
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
	// First and Last are the earliest and the latest time at which it can have been sent.
	First, Last time.Time
	// NotBefore is the earliest time of a repeat: the end of the attempt, counted from Last, plus the time that the service may need.
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

type firstKey struct{}

// WithFirst returns a context for a call that repeats a request of another process, which can have been sent as early as first.
func WithFirst(ctx context.Context, first time.Time) context.Context {
	return context.WithValue(ctx, firstKey{}, first)
}

// First returns the time of WithFirst or, if it is earlier, last.
func First(ctx context.Context, last time.Time) time.Time {
	if first, ok := ctx.Value(firstKey{}).(time.Time); ok {
		return earlier(first, last)
	}
	return last
}

// Reader makes a request that is safe to repeat.
type Reader struct {
	// Subject is the subject of the request. If reads of one subject fail, callers with another one read sooner.
	Subject string
	// Read makes the request. If a response counts, it calls Responded. If final is true, another read is pointless.
	Read func(ctx context.Context) (final bool, err error)
}

// Await waits until r may be repeated: see the package's comment. If there is no response, Await reads, with growing pauses, for at
// most limit for each of the two responses; limit starts now, or when the response may be to a request sent now, if that is later.
//
// Errors: the error of ctx (early if a wait would outlast the deadline of ctx), a *[SilentError] after limit, that of a final read.
func (t *Tracker) Await(ctx context.Context, r Request, limit time.Duration, reader Reader) error {
	r, over, third := t.parts(r)
	if endsBefore(ctx, r.NotBefore) {
		return context.DeadlineExceeded
	}
	var proof sign
	known := func(search func() (sign, bool)) func() (sign, bool) {
		return func() (found sign, ok bool) {
			if proof.at, ok = t.proved(r); ok {
				return proof, true
			}
			return search()
		}
	}
	first, err := t.await(ctx, r.Last.Add(third), limit, reader, known(func() (sign, bool) { return t.worksFor(r, later(r.Last.Add(third), t.used())) }))
	for err == nil && proof.at.IsZero() {
		since := later(over, t.gone(r, first.at, third))
		asked := later(since, time.Now())
		if asked.Equal(since) && endsBefore(ctx, asked.Add(t.wait)) {
			return context.DeadlineExceeded // a response would come too late; but one now would serve the next call
		}
		var second sign
		second, err = t.await(ctx, asked, limit, reader, known(func() (sign, bool) { return t.responded(since) }))
		if err != nil || !proof.at.IsZero() {
			break
		}
		if second.at.Sub(second.sent) > max(t.late, 2*first.at.Sub(first.sent)) { // a service that is as slow as before has not failed
			t.silence(second.at)
		}
		silent := t.silence(time.Time{})
		if !silent.After(first.at) || !r.Last.Before(silent) {
			return pause.For(ctx, time.Until(later(second.at.Add(t.wait), r.NotBefore)))
		}
		first = sign{second.sent, silent}
	}
	if err != nil {
		return err
	}
	return pause.For(ctx, time.Until(proof.at))
}

// Admitted reports whether it is known that r could be repeated at the time at, or earlier.
func (t *Tracker) Admitted(r Request, at time.Time) bool {
	r, over, third := t.parts(r)
	first, ok := t.worksFor(r, r.Last.Add(third))
	if !ok {
		return false
	}
	second, ok := t.works(later(over, t.gone(r, first.at, third)))
	return ok && !later(second.at.Add(t.wait), r.NotBefore).After(at)
}

// parts returns r with monotonic readings, the end of its attempt, and a third of the attempt. If the clock was set back, earlier
// responses must not seem to be later ones.
func (t *Tracker) parts(r Request) (same Request, over time.Time, third time.Duration) {
	now := time.Now()
	for _, at := range []*time.Time{&r.First, &r.Last, &r.NotBefore} {
		*at = now.Add(at.Sub(now))
	}
	over = r.NotBefore.Add(-t.wait)
	return r, over, over.Sub(r.Last) / 3
}

// Sign waits until there is the first of the two responses that Await needs. Call it when a third of an attempt, since, has passed: a
// repeat then waits no longer than for the second one. Like Await, it reads only if other calls get no response.
func (t *Tracker) Sign(ctx context.Context, since time.Time, limit time.Duration, reader Reader) {
	_, _ = t.await(ctx, since, limit, reader, func() (sign, bool) { return t.works(since) })
}

// Later calls Sign once at the time since, with a single read, unless such a call is pending. Close ends it.
func (t *Tracker) Later(since time.Time, limit time.Duration, reader Reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wait := time.Until(since)
	if t.stop != nil || wait <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait+limit)
	once := Reader{Subject: reader.Subject, Read: func(ctx context.Context) (final bool, err error) {
		_, err = reader.Read(ctx)
		return true, err
	}}
	timer := time.AfterFunc(wait, func() {
		_ = guard.Call(func() { t.Sign(ctx, since, limit, once) }) // nothing waits for this read
		cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.stop = nil
	})
	t.stop = func() {
		timer.Stop()
		cancel()
	}
}

// Close ends the call of Sign that Later has begun.
func (t *Tracker) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop != nil {
		t.stop()
	}
}

// gone returns when r has arrived or will never arrive, if the network has worked since the time works.
func (t *Tracker) gone(r Request, works time.Time, third time.Duration) time.Time {
	left := retransmitted - works.Sub(r.Last)
	if left <= 0 {
		return r.Last
	}
	return works.Add(min(works.Sub(r.First)+min(max(firstPause, third/4), third), longestPause, left))
}

// await returns the response that known knows. From the time since on, it reads if necessary: one caller at a time.
func (t *Tracker) await(ctx context.Context, since time.Time, limit time.Duration, reader Reader, known func() (sign, bool)) (response sign, err error) {
	if response, ok := known(); ok {
		return response, nil
	}
	if err := pause.For(ctx, time.Until(since)); err != nil {
		return response, err
	}
	for ends := time.Now().Add(limit); ; {
		response, ok := known()
		left := time.Until(ends)
		switch {
		case ok:
			return response, nil
		case left <= 0:
			return response, &SilentError{Err: err}
		}
		turn := t.reading
		if rest := t.pace(reader.Subject); rest > 0 {
			left, turn = min(left, rest), nil
		}
		if taken, ended := t.sleep(ctx, left, turn); ended != nil {
			return response, ended
		} else if !taken {
			continue
		}
		if final, failure := t.read(ctx, limit, reader, known); final {
			return response, failure
		} else if failure != nil {
			err = failure
		}
	}
}

// sleep waits for the duration d, the turn to read, or a response. taken is true if it took the turn.
func (t *Tracker) sleep(ctx context.Context, d time.Duration, turn chan<- struct{}) (taken bool, err error) {
	if turn == nil && endsBefore(ctx, time.Now().Add(d)) && ctx.Err() == nil {
		return false, context.DeadlineExceeded
	}
	t.mu.Lock()
	if t.woken == nil {
		t.woken = make(chan struct{})
	}
	woken := t.woken
	t.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case turn <- struct{}{}:
		return true, nil
	case <-woken:
	case <-timer.C:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return false, nil
}

// read reads once, unless that has become unnecessary, and ends the caller's turn.
func (t *Tracker) read(ctx context.Context, limit time.Duration, reader Reader, known func() (sign, bool)) (final bool, err error) {
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.reads = time.Time{}
		<-t.reading
	}()
	if _, ok := known(); ok || t.pace(reader.Subject) > 0 {
		return false, nil
	}
	began := time.Now()
	t.mu.Lock()
	t.reads = began
	silent := t.failed == reader.Subject && t.fails > 1 && began.Sub(t.silent) > t.late // a single response can get lost
	t.mu.Unlock()
	if final, err = reader.Read(context.WithValue(ctx, readKey{}, true)); final {
		return true, err
	}
	_, ok := known()
	t.mu.Lock()
	defer t.mu.Unlock()
	if ok {
		if t.rest, t.resume = 0, (time.Time{}); silent {
			t.broken = time.Now()
		}
		return false, nil
	}
	if t.failed != reader.Subject {
		t.fails = 0
	}
	if _, refused := errors.AsType[*RefusedError](err); err == nil || refused {
		t.fails = 0
	} else if ctx.Err() == nil {
		if t.fails++; t.fails == 1 {
			t.silent = began
		}
	}
	longest := max(t.wait/4, min(limit/(2*perWait), 2500*time.Millisecond)) // prevents a hot loop if t.wait is short
	t.failed, t.rest = reader.Subject, min(max(2*t.rest, longest/(perWait/2)), longest)
	t.resume = time.Now().Add(t.rest)
	if err == nil {
		err = errNoProof
	}
	return false, err
}

type readKey struct{}

// IsRead reports whether ctx is that of a read by Await or Sign. How many there are depends on the time that other requests take.
func IsRead(ctx context.Context) bool { return ctx.Value(readKey{}) != nil }

// pace returns how long the next read has to wait: for the pause after a failed read, of which another subject waits for a quarter, or as
// long as the last response counts as recent, since other calls may make the read unnecessary.
func (t *Tracker) pace(subject string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := time.Until(t.resume)
	if subject != t.failed {
		rest -= t.rest * 3 / 4
	}
	return max(rest, t.wait/perWait-time.Since(t.seen[t.newest].at))
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

// RefusedError is the error of a read whose response is the service's own, but does not count.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the response.
func (e *RefusedError) Unwrap() error { return e.Err }

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
