package slots

import (
	"container/list"
	"math"
	"time"

	"github.com/cardprograms/prepaid/ratelimit"
)

const noDeadline = time.Duration(math.MaxInt64)

// waiter is one waiting call of Acquire. The limiter's mutex guards its fields; slot or err is set before ready is closed.
type waiter struct {
	ready    chan struct{}
	slot     *Slot
	err      error
	deadline time.Duration // on the limiter's clock
	exchange uint64        // Stock.Exchange when the waiter arrived
	queue    *waitQueue    // nil once removed
	place    *list.Element
}

// waitQueue holds the waiters of one lane: first in, first out, with removal from the middle, all in O(1).
type waitQueue struct {
	list.List
	limiter *Limiter
	lane    ratelimit.Lane
	passed  int // slots that went to higher lanes since this lane last got one
}

func (q *waitQueue) push(w *waiter) {
	if q.Len() == 0 {
		q.passed = 0
	}
	w.queue, w.place = q, q.PushBack(w)
}

func (q *waitQueue) first() *waiter { return q.Front().Value.(*waiter) } //nolint:forcetypeassert // push adds waiters only

// each calls f with the waiters in order. f may remove the waiter that it got.
func (q *waitQueue) each(f func(*waiter)) {
	for e := q.Front(); e != nil; {
		w := e.Value.(*waiter) //nolint:forcetypeassert // as in first
		e = e.Next()
		f(w)
	}
}

type rest struct {
	until time.Duration
	lane  ratelimit.Lane // the lane of the slot's last use
}
