package slots

import (
	"net/http"
	"time"
)

// Slot is one use of a slot. It is never reused, so that a second Release, however late, cannot affect another caller's
// request. Allocation in blocks makes this cheap.
type Slot struct {
	queue *waitQueue    // of its lane
	taken time.Duration // released afterwards
}

// released is the value of taken after the release.
const released time.Duration = -1

// Feedback is how a request ended. The zero value means that it was sent and got no response.
type Feedback struct {
	// StatusCode is the HTTP status, 0 without a response.
	StatusCode int
	// RetryAfter is the wait that a 429 requested, 0 if unspecified.
	RetryAfter time.Duration
	// NotSent means that the request did not reach the service and used no allowance. It is ignored if StatusCode is set.
	NotSent bool
}

// Release returns the slot. Only the first call has an effect.
func (s *Slot) Release(f Feedback) {
	l := s.queue.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := s.taken
	if taken == released {
		return
	}
	s.taken = released
	now := l.advance()
	if f.NotSent && f.StatusCode == 0 {
		l.refund(s.queue.lane)
	} else {
		l.resting = append(l.resting, rest{until: now + l.stock.window, lane: s.queue.lane})
		l.stock.observe(now - taken)
	}
	if f.StatusCode == http.StatusTooManyRequests {
		l.pause(now, f.RetryAfter, taken <= l.stock.pausedAt)
	}
	l.dispatch(now)
}
