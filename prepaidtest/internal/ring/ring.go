// Package ring keeps the newest entries of a log, so that it does not grow with the number of requests. A Ring is safe for
// concurrent use.
package ring

import "sync"

// Ring keeps the newest entries up to its size, so that a log does not grow with the number of requests.
type Ring[T any] struct {
	mu      sync.Mutex
	size    int
	entries []T
	oldest  int
}

// New makes a ring of size entries.
func New[T any](size int) *Ring[T] { return &Ring[T]{size: size} }

// Add adds the newest entry, in place of the oldest when the ring is full.
func (r *Ring[T]) Add(entry T) {
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

// All returns a copy, oldest first.
func (r *Ring[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := make([]T, 0, len(r.entries))
	entries = append(entries, r.entries[r.oldest:]...)
	return append(entries, r.entries[:r.oldest]...)
}
