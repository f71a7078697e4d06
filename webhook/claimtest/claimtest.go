// Package claimtest tests an implementation of [webhook.ClaimStore], such as your own in another database.
//
//	func TestClaims(t *testing.T) {
//		claimtest.Run(t, func(t *testing.T, keep time.Duration) (one, two webhook.ClaimStore) {
//			database := newDatabase(t)
//			return newClaims(t, database, keep), newClaims(t, database, keep)
//		})
//	}
//
// For a store in memory, call Run in a bubble of testing/synctest: there the leases and pauses take no time. On a real server the
// tests wait for about a second. On a slow machine they repeat with longer leases, and do not fail.
package claimtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardprograms/prepaid/webhook"
)

// Open returns the stores of two replicas, which share their claims. There are no claims yet. For a store of one process,
// both are the same. A handled ID is remembered for the time keep, at least half a second.
type Open func(t *testing.T, keep time.Duration) (one, two webhook.ClaimStore)

const (
	long = time.Minute
	// The tests that wait begin with leases of the length short, and double it up to longest.
	short   = 200 * time.Millisecond
	longest = 30 * time.Second
)

// Run runs the tests one after the other, with new stores for each.
func Run(t *testing.T, open Open) {
	t.Helper()
	run := func(name string, keep time.Duration, test func(*suite)) {
		one, two := open(t, keep)
		test(&suite{T: t, name: name, one: one, two: two})
	}
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"one holder", (*suite).oneHolder},
		{"done", (*suite).done},
		{"release", (*suite).release},
		{"contexts", (*suite).contexts},
		{"refused", (*suite).refused},
		{"at once", (*suite).atOnce},
	} {
		run(test.name, long, test.run)
	}
	for lease, enough := short, false; !enough; lease *= 2 {
		if lease > longest {
			t.Log("too slow to tell when claims end")
			return
		}
		run("times", keeps*lease, func(s *suite) { enough = s.times(lease) })
	}
}

type suite struct {
	*testing.T
	name     string
	one, two webhook.ClaimStore
}

// failf ends the test that is running.
func (s *suite) failf(format string, values ...any) {
	s.Helper()
	s.Fatalf("%s: %s", s.name, fmt.Sprintf(format, values...))
}

func (s *suite) claim(store webhook.ClaimStore, id string, lease time.Duration, want webhook.ClaimState) webhook.Claim {
	s.Helper()
	claim, err := store.Claim(s.Context(), id, lease)
	if err != nil {
		s.failf("Claim: %v", err)
	}
	if claim.State() != want {
		s.failf("the claim of %s is %v, not %v", id, claim.State(), want)
	}
	return claim
}

// settles checks that Done or Release of a holder succeeded.
func (s *suite) settles(err error) {
	s.Helper()
	if err != nil {
		s.failf("the holder of the lease cannot settle it: %v", err)
	}
}

// lost checks that neither Done nor Release of a claim has an effect.
func (s *suite) lost(claim webhook.Claim) {
	s.Helper()
	for name, settle := range map[string]func(context.Context) error{"Done": claim.Done, "Release": claim.Release} {
		if err := settle(s.Context()); !errors.Is(err, webhook.ErrClaimLost) {
			s.failf("%s without a lease returns %v, not ErrClaimLost", name, err)
		}
	}
}

func (s *suite) oneHolder() {
	s.claim(s.one, "h/1", long, webhook.ClaimWon)
	s.lost(s.claim(s.two, "h/1", long, webhook.ClaimInFlight))
	s.lost(s.claim(s.one, "h/1", long, webhook.ClaimInFlight))
	s.claim(s.two, "h/2", long, webhook.ClaimWon)
	s.claim(s.two, "H/2", long, webhook.ClaimWon)
}

func (s *suite) done() {
	claim := s.claim(s.one, "h/1", long, webhook.ClaimWon)
	s.settles(claim.Done(s.Context()))
	s.lost(claim)
	for _, store := range []webhook.ClaimStore{s.one, s.two} {
		s.lost(s.claim(store, "h/1", long, webhook.ClaimDone))
	}
}

func (s *suite) release() {
	claim := s.claim(s.one, "h/1", long, webhook.ClaimWon)
	s.settles(claim.Release(s.Context()))
	s.lost(claim)
	next := s.claim(s.two, "h/1", long, webhook.ClaimWon)
	s.lost(claim)
	s.settles(next.Done(s.Context()))
}

// keeps is how many leases a handled ID is remembered for in the test of times.
const keeps = 3

// times reports whether the machine was fast enough to tell when claims end: an ID is free after a lease, and not before. A holder that
// overran its lease cannot end a claim, whoever holds the ID by then. A handled ID is forgotten after the time keep, not
// at the end of its lease.
func (s *suite) times(lease time.Duration) (enough bool) {
	began := time.Now()
	var late []webhook.Claim
	for i := range 6 {
		late = append(late, s.claim(s.one, lateID(i), lease, webhook.ClaimWon))
	}
	handled := s.claim(s.one, "h/handled", lease, webhook.ClaimWon)
	err := handled.Done(s.Context())
	held, failed := s.two.Claim(s.Context(), lateID(0), long)
	if failed != nil {
		s.failf("Claim: %v", failed)
	}
	if time.Since(began) >= lease {
		return false
	}
	s.settles(err)
	if held.State() != webhook.ClaimInFlight {
		s.failf("the claim of an ID under lease is %v", held.State())
	}
	done := time.Now()
	time.Sleep(lease + lease/4)

	for i, claim := range late { // one call for each claim: a claim may remember that it has been called
		settle, next := claim.Done, webhook.ClaimWon
		if i%2 == 1 {
			settle = claim.Release
		}
		if i > 1 {
			holder := s.claim(s.two, lateID(i), long, webhook.ClaimWon)
			if next = webhook.ClaimInFlight; i > 3 {
				s.settles(holder.Done(s.Context()))
			}
		}
		if err := settle(s.Context()); !errors.Is(err, webhook.ErrClaimLost) {
			s.failf("Done or Release after the lease returns %v, not ErrClaimLost", err)
		}
		if i < 4 {
			s.claim(s.one, lateID(i), long, next)
		}
	}
	kept, failed := s.two.Claim(s.Context(), "h/handled", long)
	last, lastFailed := s.one.Claim(s.Context(), lateID(5), long)
	if err := errors.Join(failed, lastFailed); err != nil {
		s.failf("Claim: %v", err)
	}
	if time.Since(began) >= keeps*lease {
		return false
	}
	if kept.State() != webhook.ClaimDone || last.State() != webhook.ClaimDone {
		s.failf("the claims of handled IDs are %v and %v after their lease", kept.State(), last.State())
	}

	time.Sleep(time.Until(done.Add(keeps*lease + lease/4)))
	s.claim(s.two, "h/handled", long, webhook.ClaimWon)
	return true
}

func lateID(i int) string { return fmt.Sprintf("h/late%d", i) }

func (s *suite) contexts() {
	over, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := s.one.Claim(over, "h/1", long); !errors.Is(err, context.Canceled) {
		s.failf("Claim returns %v, not the error of its context", err)
	}
	s.claim(s.one, "h/1", long, webhook.ClaimWon)
}

func (s *suite) refused() {
	for _, lease := range []time.Duration{0, -time.Second} {
		if _, err := s.one.Claim(s.Context(), "h/1", lease); err == nil {
			s.failf("a lease of %v is granted", lease)
		}
	}
	s.claim(s.one, "h/1", long, webhook.ClaimWon)
}

// atOnce: if many callers claim an ID at the same time, one wins.
func (s *suite) atOnce() {
	const ids = 20
	var won atomic.Int64
	var wg sync.WaitGroup
	for i := range 10 {
		store := []webhook.ClaimStore{s.one, s.two}[i%2]
		wg.Go(func() {
			for id := range ids {
				claim, err := store.Claim(s.Context(), fmt.Sprintf("h/%d", id), long)
				if err != nil {
					s.Errorf("%s: Claim: %v", s.name, err)
					return
				}
				if claim.State() == webhook.ClaimWon {
					won.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if won.Load() != ids {
		s.failf("%d claims of %d IDs were won", won.Load(), ids)
	}
}
