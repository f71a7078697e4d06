package fleet

import (
	"iter"
	"math"
	"time"

	"github.com/cardprograms/prepaid"
)

// The queues, and how slots.go waits and hands out, follow the limiter of one process, internal/slots, whose slots have no owner
// and never leave.
const (
	laneCall = 1 // the rank from which on requests can be spaced
	// maxPassed is how many slots in a row may pass over a waiting lane.
	maxPassed = 15
	// noDeadline is the deadline of a waiter whose context has none.
	noDeadline = time.Duration(math.MaxInt64)
)

// queueOf orders the lanes by rank: 0 goes first.
func queueOf(lane prepaid.Lane) int {
	switch lane {
	case prepaid.LaneMoney:
		return 0
	case prepaid.LaneBulk:
		return 2
	}
	return 1
}

// waiter is one waiting Acquire. Its fields are guarded by the mutex of the slots; slot and err are set before ready is
// closed.
type waiter struct {
	ready      chan struct{}
	slot       *slot
	err        error
	deadline   time.Duration // on the limiter's clock
	asked      uint64        // exchanges begun when it arrived
	prev, next *waiter
	queue      *waitQueue // nil once it has left
}

// waitQueue is the queue of one lane: first in, first out, and waiters may leave from the middle.
type waitQueue struct {
	head, tail *waiter
	n          int
	passed     int // slots that went to higher lanes since this one last had a turn
}

func (q *waitQueue) push(w *waiter) {
	if q.n == 0 {
		q.head, q.passed = w, 0
	} else {
		q.tail.next, w.prev = w, q.tail
	}
	q.tail, w.queue = w, q
	q.n++
}

func (q *waitQueue) remove(w *waiter) {
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.queue = nil, nil, nil
	q.n--
}

// all yields the waiters in order; the current one may be removed.
func (q *waitQueue) all() iter.Seq[*waiter] {
	return func(yield func(*waiter) bool) {
		for w := q.head; w != nil; {
			next := w.next
			if !yield(w) {
				return
			}
			w = next
		}
	}
}

// rest is a resting slot.
type rest struct {
	until time.Duration
	queue int // of its last use
}

// restQueue holds the resting slots, soonest first: they arrive in order, since each rests equally long.
type restQueue struct {
	slots []rest
	first int
}

func (r *restQueue) len() int { return len(r.slots) - r.first }

func (r *restQueue) push(s rest) {
	if r.first > 64 && r.first > len(r.slots)/2 {
		r.slots = append(r.slots[:0], r.slots[r.first:]...)
		r.first = 0
	}
	r.slots = append(r.slots, s)
}

// get returns the i-th soonest.
func (r *restQueue) get(i int) rest { return r.slots[r.first+i] }

// pop removes the soonest.
func (r *restQueue) pop() rest {
	s := r.slots[r.first]
	r.first++
	return s
}
