package liveness

import (
	"sync"
	"time"
)

// Tracker remembers when the service responded. It is safe for concurrent use. Create one with New.
type Tracker struct {
	wait    time.Duration
	late    time.Duration // for a response to a read: half of an attempt
	made    time.Time
	reading chan struct{} // full while a caller of Await reads

	mu     sync.Mutex
	seen   [2 * perWait]response // a ring: one response for each wait/perWait
	newest int
	signs  [2]signs      // short spans, and long ones for longer than longestPause
	broken time.Time     // the end of the last long silence: earlier responses do not count for requests sent before
	woken  chan struct{} // closed by one of the next responses; nil if no caller waits
	failed string        // the subject of the last read that failed
	fails  int           // how many reads of this subject have had no response at all since the last response
	silent time.Time     // when the first of them began
	reads  time.Time     // when the present read began; zero if there is none
	rest   time.Duration // the pause after it
	stop   func()        // ends the call of Sign that Later has begun; nil if there is none
	resume time.Time     // the end of this pause
	record record
}

// perWait is how many responses are remembered for each wait. More would admit repeats a little earlier.
const perWait = 16

// response represents the responses that arrived from the time first to the time at. sent is when the last of their requests was sent.
type response struct{ first, at, sent time.Time }

// signs is a ring that holds, for each span of time, the responses to the first and to the last request that were sent in it.
type signs struct {
	span time.Duration
	ring [64]struct{ first, last sign }
}

type sign struct{ sent, at time.Time }

// New returns a Tracker. attempt is how long a request takes at most, and wait how long the service may need for a request that it has
// received.
func New(attempt, wait time.Duration) *Tracker {
	t := &Tracker{wait: wait, late: attempt / 2, made: time.Now(), reading: make(chan struct{}, 1)}
	t.signs[0].span, t.signs[1].span = max(attempt/32, 1), 4*time.Second
	return t
}

// Responded notes that a response has arrived. sent is when its request was sent.
func (t *Tracker) Responded(sent, arrived time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &t.seen[t.newest]
	if arrived.Sub(r.first) >= t.wait/perWait {
		t.newest = (t.newest + 1) % len(t.seen)
		r = &t.seen[t.newest]
		*r = response{first: arrived}
		if t.woken != nil {
			close(t.woken)
			t.woken = nil
		}
	}
	if sent.After(r.sent) {
		r.at, r.sent = arrived, sent
	}
	t.fails, t.record.sorted = 0, nil
	if t.record.ends(t.late) {
		t.broken = arrived
	}
	if age := sent.Sub(t.made); age >= 0 {
		for i := range t.signs {
			s := &t.signs[i]
			slot := &s.ring[age/s.span%time.Duration(len(s.ring))]
			if sent.Sub(slot.first.sent) > s.span { // a later round of the ring
				slot.first, slot.last = sign{sent, arrived}, sign{}
			}
			if sent.After(slot.last.sent) {
				slot.last = sign{sent, arrived}
			}
		}
	}
}

// works returns one of the first responses to a request that was sent at the time since or later.
func (t *Tracker) works(since time.Time) (response sign, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.signs {
		for _, slot := range t.signs[i].ring {
			found := slot.first
			if found.sent.Before(since) {
				found = slot.last
			}
			if !found.at.IsZero() && !found.sent.Before(since) && (!ok || found.at.Before(response.at)) {
				response, ok = found, true
			}
		}
	}
	return response, ok
}

// worksFor returns works for the first response that counts for r.
func (t *Tracker) worksFor(r Request, since time.Time) (response sign, ok bool) {
	response, ok = t.works(since)
	if silent := t.silence(time.Time{}); r.Last.Before(silent) && response.at.Before(silent) {
		response = sign{silent, silent}
	}
	return response, ok
}

// silence returns the end of the last long silence; at is the end of another one, or zero.
func (t *Tracker) silence(at time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broken = later(t.broken, at)
	return t.broken
}

// responded returns when the service first responded to a request that was sent at the time since or later.
func (t *Tracker) responded(since time.Time) (found sign, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.seen {
		if !r.sent.IsZero() && !r.sent.Before(since) && (!ok || r.at.Before(found.at)) {
			found, ok = sign{r.sent, r.at}, true
		}
	}
	return found, ok
}
