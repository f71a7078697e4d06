// Package ring keeps the newest entries of a log, so that the log does not grow with the number of requests. A Ring is
// safe for concurrent use.
package ring

import (
	"slices"
	"sync"
)

// Ring keeps the newest entries up to its size, so that a log does not grow with the number of requests.
type Ring[T any] struct {
	size, most int
	weigh      func(T) int

	mu      sync.Mutex
	entries []T
	first   int // index of the oldest
	weight  int
}

// New makes a ring of size entries that together weigh no more than most. The newest entry is always kept.
func New[T any](size, most int, weigh func(T) int) *Ring[T] {
	return &Ring[T]{size: size, most: most, weigh: weigh}
}

// Add adds the newest entry, and drops the oldest to make room.
func (r *Ring[T]) Add(entry T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size == 0 {
		return
	}
	r.entries = append(r.entries, entry)
	r.weight += r.weigh(entry)
	for kept := len(r.entries) - r.first; kept > r.size || (kept > 1 && r.weight > r.most); kept-- {
		r.weight -= r.weigh(r.entries[r.first])
		r.entries[r.first] = *new(T)
		r.first++
	}
	if r.first > len(r.entries)/2 {
		r.entries, r.first = slices.Delete(r.entries, 0, r.first), 0
	}
}

// All returns a copy, oldest first.
func (r *Ring[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(make([]T, 0, len(r.entries)-r.first), r.entries[r.first:]...)
}
