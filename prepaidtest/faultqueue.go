package prepaidtest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
)

// schedule says how often a fault is used: once, unless a modifier says otherwise.
type schedule struct {
	times  int // counts when counted
	chance float64

	counted, always, chanced bool
}

func (s *schedule) repeat(n int) { s.times, s.counted, s.always = n, true, false }

func (s *schedule) forever() { s.times, s.counted, s.always = 0, false, true }

func (s *schedule) sometimes(p float64) { s.chance, s.chanced = p, true }

// left is how often the fault can be used before it has been; endless when there is no end.
func (s schedule) left() int {
	switch {
	case s.counted:
		return s.times
	case s.always, s.chanced:
		return endless
	}
	return 1
}

func (s schedule) check() error {
	if s.counted && s.times < 1 {
		return errors.New("Times must be 1 or more")
	}
	if s.chanced && !(s.chance > 0 && s.chance <= 1) { // false for NaN too
		return errors.New("WithProbability must be above 0 and at most 1")
	}
	return nil
}

const endless = -1

// faultQueue holds the faults that wait to be used, each under the name of what it is for. It is safe for concurrent use.
type faultQueue[F any] struct {
	wildcard string // the name that stands for all
	howOften func(F) schedule

	mu     sync.Mutex
	random func() float64
	armed  []*armed[F]
}

type armed[F any] struct {
	name       string
	fault      F
	used, left int
}

// newFaultQueue draws from a source of its own, so that faults do not change the ids of a seeded server. Stream
// distinguishes the queues of one server.
func newFaultQueue[F any](wildcard string, seed *uint64, stream uint64, howOften func(F) schedule) *faultQueue[F] {
	q := &faultQueue[F]{wildcard: wildcard, howOften: howOften, random: rand.Float64}
	if seed != nil {
		//nolint:gosec // chance, not a secret
		q.random = rand.New(rand.NewPCG(*seed, stream)).Float64
	}
	return q
}

func (q *faultQueue[F]) arm(name string, faults ...F) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, fault := range faults {
		q.armed = append(q.armed, &armed[F]{name: name, fault: fault, left: q.howOften(fault).left()})
	}
}

// take uses up the first fault for name that fits and, when it has a probability, is drawn; then those for any.
func (q *faultQueue[F]) take(name string, fits func(F) bool) *F {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, wanted := range []string{name, q.wildcard} {
		for i, candidate := range q.armed {
			if candidate.name != wanted || !fits(candidate.fault) {
				continue
			}
			if often := q.howOften(candidate.fault); often.chanced && q.random() >= often.chance {
				continue
			}
			candidate.used++
			if candidate.left != endless {
				candidate.left--
			}
			if candidate.left == 0 {
				q.armed = slices.Delete(q.armed, i, i+1)
			}
			return new(candidate.fault)
		}
	}
	return nil
}

func (q *faultQueue[F]) all() []armed[F] {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]armed[F], len(q.armed))
	for i, one := range q.armed {
		list[i] = *one
	}
	return list
}

// count counts the uses left; a fault without end is one.
func (q *faultQueue[F]) count() int {
	count := 0
	for _, one := range q.all() {
		count += max(one.left, 1)
	}
	return count
}

// remove disarms the faults under a name.
func (q *faultQueue[F]) remove(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = slices.DeleteFunc(q.armed, func(one *armed[F]) bool { return one.name == name })
}

func (q *faultQueue[F]) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = nil
}
