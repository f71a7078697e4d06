package webhook

import "sync"

// runs are the messages in progress in this process. They are separate from the ClaimStore because a function can outlast
// its lease.
type runs struct {
	mu     sync.Mutex
	keys   map[string]struct{}
	count  int
	closed bool
	idle   chan struct{} // closed when no run is left and none can start
}

func newRuns() *runs {
	return &runs{keys: map[string]struct{}{}, idle: make(chan struct{})}
}

// enter starts a run; the empty key is never a duplicate.
func (r *runs) enter(key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrShutdown
	}
	if key != "" {
		if _, running := r.keys[key]; running {
			return ErrInFlight
		}
		r.keys[key] = struct{}{}
	}
	r.count++
	return nil
}

func (r *runs) leave(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, key)
	r.count--
	if r.closed && r.count == 0 {
		close(r.idle)
	}
}

func (r *runs) refuses() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// close refuses further runs. The channel is closed when the last run has left.
func (r *runs) close() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && r.count == 0 {
		close(r.idle)
	}
	r.closed = true
	return r.idle
}
