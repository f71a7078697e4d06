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
	weigh      func(T) int // nil for a ring without a weight

	mu      sync.Mutex
	entries []T
	first   int // index of the oldest
	weight  int
}

// New makes a ring of size entries.
func New[T any](size int) *Ring[T] { return &Ring[T]{size: size} }

// NewWeighed makes a ring of size entries that together weigh no more than most. The newest entry is always kept.
func NewWeighed[T any](size, most int, weigh func(T) int) *Ring[T] {
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
	r.weight += r.weightOf(entry)
	for kept := len(r.entries) - r.first; kept > r.size || (kept > 1 && r.weight > r.most); kept-- {
		r.weight -= r.weightOf(r.entries[r.first])
		r.entries[r.first] = *new(T)
		r.first++
	}
	if r.first > len(r.entries)/2 {
		r.entries, r.first = slices.Delete(r.entries, 0, r.first), 0
	}
}

func (r *Ring[T]) weightOf(entry T) int {
	if r.weigh == nil {
		return 0
	}
	return r.weigh(entry)
}

// Change changes the newest entry for which fits returns true. The change must not make the entry heavier.
func (r *Ring[T]) Change(fits func(T) bool, change func(*T)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.entries) - 1; i >= r.first; i-- {
		if fits(r.entries[i]) {
			change(&r.entries[i])
			return
		}
	}
}

// All returns a copy, oldest first.
func (r *Ring[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(make([]T, 0, len(r.entries)-r.first), r.entries[r.first:]...)
}
