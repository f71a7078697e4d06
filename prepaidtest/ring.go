package prepaidtest

import "sync"

// ring keeps the newest entries up to its size, so that a log does not grow with the number of requests.
type ring[T any] struct {
	mu      sync.Mutex
	size    int
	entries []T
	oldest  int
}

func newRing[T any](size int) *ring[T] { return &ring[T]{size: size} }

func (r *ring[T]) add(entry T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.size == 0:
	case len(r.entries) < r.size:
		r.entries = append(r.entries, entry)
	default:
		r.entries[r.oldest] = entry
		r.oldest = (r.oldest + 1) % r.size
	}
}

// all returns a copy, oldest first.
func (r *ring[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := make([]T, 0, len(r.entries))
	entries = append(entries, r.entries[r.oldest:]...)
	return append(entries, r.entries[:r.oldest]...)
}
