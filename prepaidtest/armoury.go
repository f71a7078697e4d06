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

// armoury holds the faults that wait to be used, each under the name of what it is for.
type armoury[F any] struct {
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

// newArmoury draws from a source of its own, so that faults do not change the ids of a seeded server. Stream
// tells the armouries of one server apart.
func newArmoury[F any](wildcard string, seed *uint64, stream uint64, howOften func(F) schedule) *armoury[F] {
	a := &armoury[F]{wildcard: wildcard, howOften: howOften, random: rand.Float64}
	if seed != nil {
		//nolint:gosec // chance, not a secret
		a.random = rand.New(rand.NewPCG(*seed, stream)).Float64
	}
	return a
}

func (a *armoury[F]) arm(name string, faults []F) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, fault := range faults {
		a.armed = append(a.armed, &armed[F]{name: name, fault: fault, left: a.howOften(fault).left()})
	}
}

// take uses up the first fault for name that fits and, when it has a probability, is drawn; then those for any.
func (a *armoury[F]) take(name string, fits func(F) bool) *F {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, wanted := range []string{name, a.wildcard} {
		for i, candidate := range a.armed {
			if candidate.name != wanted || !fits(candidate.fault) {
				continue
			}
			if often := a.howOften(candidate.fault); often.chanced && a.random() >= often.chance {
				continue
			}
			candidate.used++
			if candidate.left != endless {
				candidate.left--
			}
			if candidate.left == 0 {
				a.armed = slices.Delete(a.armed, i, i+1)
			}
			return new(candidate.fault)
		}
	}
	return nil
}

func (a *armoury[F]) all() []armed[F] {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]armed[F], len(a.armed))
	for i, one := range a.armed {
		list[i] = *one
	}
	return list
}

// count counts the uses left; a fault without end is one.
func (a *armoury[F]) count() int {
	count := 0
	for _, one := range a.all() {
		count += max(one.left, 1)
	}
	return count
}

// remove disarms the faults under a name.
func (a *armoury[F]) remove(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.armed = slices.DeleteFunc(a.armed, func(one *armed[F]) bool { return one.name == name })
}

func (a *armoury[F]) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.armed = nil
}
