package journal

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// turn lets one call at a time work on a request id.
type turn struct {
	held  chan struct{}
	users int
}

// join counts the caller among those waiting for the turn of a request ID, until part.
func (j *Journal) join(id prepaid.RequestID) (t *turn, part func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t = j.turns[id]
	if t == nil {
		t = &turn{held: make(chan struct{}, 1)}
		j.turns[id] = t
	}
	t.users++
	return t, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(j.turns, id)
		}
	}
}

// enter waits for the turn.
func (j *Journal) enter(ctx context.Context, id prepaid.RequestID) (leave func(), err error) {
	if leave, free := j.tryEnter(id); free { // whether or not ctx has ended
		return leave, nil
	}
	t, part := j.join(id)
	select {
	case t.held <- struct{}{}:
		return func() { <-t.held; part() }, nil
	case <-ctx.Done():
		part()
		return nil, ctx.Err()
	}
}

// tryEnter takes the turn if nobody has it.
func (j *Journal) tryEnter(id prepaid.RequestID) (leave func(), free bool) {
	t, part := j.join(id)
	select {
	case t.held <- struct{}{}:
		return func() { <-t.held; part() }, true
	default:
		part()
		return nil, false
	}
}
