package slots

import (
	"time"

	"github.com/cardprograms/prepaid/ratelimit"
)

const (
	// spacedShare is the part of the allowance that spaced requests use. If requests with jitter used the whole allowance,
	// a gateway that averages two windows would reject some.
	spacedShare = 0.995
	// meanUseWeight is roughly the number of requests over which meanUse is an average.
	meanUseWeight = 64
)

// Stock is the slots of a limiter and their pace. The exported part is for an [Owner], which gets the Stock while the limiter is locked.
type Stock struct {
	// Held is how many slots there are: free, in use and resting. Add adds and removes free slots.
	Held int
	// Free is how many slots may be used now.
	Free int
	// Limit is how many slots the limiter may keep. Surplus slots are removed once they are free.
	Limit int
	// Need counts, for each lane, the waiting requests and the slots that are in use or resting.
	Need [LaneCount]int
	// Scarce means that the lanes Call and Bulk are spaced while one of them waits. If false, the number of slots can still grow.
	Scarce bool
	// Backlog is the highest lane that has a waiting request, among Call and the lanes below it; LaneCount if there is none.
	Backlog ratelimit.Lane
	// Exchange is a number that the owner raises. A waiter stores the number on arrival, for [Limiter.Update].
	Exchange uint64
	// PausedUntil is when the last pause ends.
	PausedUntil time.Duration

	window       time.Duration
	spacedWindow time.Duration // in which as many spaced requests are sent as there are slots
	slack        time.Duration // how much a late request may catch up; the rest of the spare time is for jitter
	meanUse      time.Duration // mean time from taking a slot to its release
	interval     time.Duration // between two spaced requests
	next         time.Duration // when the next spaced request is due; in the past while pace is saved
	paced        bool          // after a 429: every lane is spaced, and nothing is saved
	pausedAt     time.Duration // when the last pause began; -1 before the first
}

// Add adds free slots, or takes them away if n is negative.
func (s *Stock) Add(n int) {
	s.Held += n
	s.Free += n
}

func (s *Stock) adjust() {
	if surplus := min(s.Free, s.Held-s.Limit); surplus > 0 {
		s.Add(-surplus)
	}
	s.setInterval()
}

// setInterval spaces requests at the rate at which slots return: a slot returns one window after its use.
func (s *Stock) setInterval() {
	s.interval = max(s.spacedWindow, s.window+s.meanUse) / time.Duration(max(1, min(s.Held, s.Limit)))
}

// observe updates the mean time of use. A use of more than a window is exceptional and counts as one window.
func (s *Stock) observe(use time.Duration) {
	s.meanUse += (min(use, s.window) - s.meanUse) / meanUseWeight
	s.setInterval()
}

func (s *Stock) use(now time.Duration) {
	if s.Scarce || s.paced {
		s.next = max(s.next, now-s.saved()) + s.interval
	} else {
		s.next = now // pace counts only after the number of slots has become stable
	}
}

// Backlogged reports whether requests are spaced because one of them waits.
func (s *Stock) Backlogged() bool { return s.Scarce && s.Backlog < LaneCount }

// Space drops the saved pace, except the slack.
func (s *Stock) Space(now time.Duration) { s.next = max(s.next, now-s.slack) }

// saved returns how much pace can be saved: a burst of all slots or, once paced, only the slack.
func (s *Stock) saved() time.Duration {
	if s.paced {
		return s.slack
	}
	return time.Duration(s.Held) * s.interval
}

// Pace spaces all lanes from now on.
func (s *Stock) Pace(now time.Duration) {
	if !s.paced {
		s.paced, s.next = true, now
	}
}

// Pause stops every lane. It returns false if a pause already lasts that long.
func (s *Stock) Pause(now, wait time.Duration) bool {
	s.Pace(now)
	until := now + wait
	if until <= s.PausedUntil {
		return false
	}
	s.pausedAt, s.PausedUntil = now, until
	return true
}

// Owner changes the number of slots of a [Limiter], for several limiters that share one allowance. Its methods are called while
// the limiter is locked: they must not block, and must not call the limiter.
type Owner interface {
	// Advance makes the changes to the stock that are due at the time now.
	Advance(now time.Duration, s *Stock)
	// Expect returns the earliest time, after now, at which other limiters may have handed over as many slots as lacking says.
	Expect(now time.Duration, s *Stock, lacking int) time.Duration
	// Arrive is called for each request. It reports whether the owner asks other limiters for a slot. If so, a request that
	// must wait is not refused before an exchange has shown that the wait would outlast the request's deadline.
	Arrive(lane ratelimit.Lane, waits bool) bool
	// Paused is called after a 429 has started a pause.
	Paused()
}

// Update lets an owner change the stock, then hands out the available slots. It refuses a waiter whose wait would outlast its
// deadline if the waiter arrived while Exchange was below the result of change: the exchange did not include later waiters.
func (l *Limiter) Update(change func(now time.Duration, s *Stock) (exchanged uint64)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	l.stock.Backlog = l.waiting(ratelimit.Call)
	exchanged := change(now, &l.stock)
	l.supply(now)
	l.dispatch(now)
	if exchanged > 0 {
		l.evict(now, exchanged)
	}
}

// Close refuses all current and future requests with err.
func (l *Limiter) Close(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = err
	for lane := range LaneCount {
		l.queues[lane].each(func(w *waiter) { l.refuse(w, err) })
	}
	l.dispatch(0) // without waiters, this stops the timer
}
