package journal

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// enter waits until no other call works on a request ID, and keeps others away until leave.
func (j *Journal) enter(ctx context.Context, id prepaid.RequestID) (leave func(), err error) {
	for {
		leave, busy := j.tryEnter(id) // whether or not ctx has ended
		if leave != nil {
			return leave, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryEnter returns no leave if another call works on the ID, until busy is closed.
func (j *Journal) tryEnter(id prepaid.RequestID) (leave func(), busy <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if busy, ok := j.turns[id]; ok {
		return nil, busy
	}
	mine := make(chan struct{})
	j.turns[id] = mine
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.turns, id)
		close(mine)
	}, nil
}
