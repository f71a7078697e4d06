package faults

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
)

// Schedule says how often a fault is used: once, unless a modifier says otherwise.
type Schedule struct {
	times  int // valid if counted
	chance float64

	counted, always, chanced bool
}

// Repeat makes the fault apply n times.
func (s *Schedule) Repeat(n int) { s.times, s.counted, s.always = n, true, false }

// Forever keeps the fault armed until it is removed.
func (s *Schedule) Forever() { s.times, s.counted, s.always = 0, false, true }

// Sometimes makes the fault apply with probability p.
func (s *Schedule) Sometimes(p float64) { s.chance, s.chanced = p, true }

// left is how often a new fault can be used, or endless.
func (s Schedule) left() int {
	switch {
	case s.counted:
		return s.times
	case s.always, s.chanced:
		return endless
	}
	return 1
}

func (s Schedule) check() error {
	if s.counted && s.times < 1 {
		return errors.New("the number of times must be 1 or more")
	}
	if s.chanced && !(s.chance > 0 && s.chance <= 1) { // false for NaN too
		return errors.New("the probability must be above 0 and at most 1")
	}
	return nil
}

const endless = -1

// Queue holds the armed faults, each under the name of its operation or hook. It is safe for concurrent use.
type Queue struct {
	wildcard string // the name that stands for any name

	mu     sync.Mutex
	random func() float64
	armed  []*Armed
}

// Armed is a fault that waits to be used.
type Armed struct {
	Name       string
	Fault      Fault
	Used, Left int
}

// NewQueue returns a queue with its own random source, so that faults do not change the ids of a
// seeded server. stream distinguishes the queues of one server.
func NewQueue(wildcard string, seed *uint64, stream uint64) *Queue {
	q := &Queue{wildcard: wildcard, random: rand.Float64}
	if seed != nil {
		//nolint:gosec // chance, not a secret
		q.random = rand.New(rand.NewPCG(*seed, stream)).Float64
	}
	return q
}

// Arm adds faults for a name.
func (q *Queue) Arm(name string, faults ...Fault) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, fault := range faults {
		q.armed = append(q.armed, &Armed{Name: name, Fault: fault, Left: fault.left()})
	}
}

// Take uses the first fault for this name for which fits is true and which chance selects; otherwise the first such fault for any name.
func (q *Queue) Take(name string, fits func(Fault) bool) *Fault {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, wanted := range []string{name, q.wildcard} {
		for i, candidate := range q.armed {
			if candidate.Name != wanted || !fits(candidate.Fault) {
				continue
			}
			if candidate.Fault.chanced && q.random() >= candidate.Fault.chance {
				continue
			}
			candidate.Used++
			if candidate.Left != endless {
				candidate.Left--
			}
			if candidate.Left == 0 {
				q.armed = slices.Delete(q.armed, i, i+1)
			}
			return new(candidate.Fault)
		}
	}
	return nil
}

// All returns the armed faults, oldest first.
func (q *Queue) All() []Armed {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]Armed, len(q.armed))
	for i, one := range q.armed {
		list[i] = *one
	}
	return list
}

// Count returns how many uses are left; an endless fault counts as one.
func (q *Queue) Count() int {
	count := 0
	for _, one := range q.All() {
		count += max(one.Left, 1)
	}
	return count
}

// Remove disarms the faults for a name.
func (q *Queue) Remove(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = slices.DeleteFunc(q.armed, func(one *Armed) bool { return one.Name == name })
}

// Clear disarms all faults.
func (q *Queue) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = nil
}
