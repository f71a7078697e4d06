// Package claimtest tests an implementation of [webhook.ClaimStore], such as your own in another database.
//
//	func TestClaims(t *testing.T) {
//		claimtest.Run(t, func(t *testing.T, keep time.Duration) (one, two webhook.ClaimStore) {
//			database := newDatabase(t)
//			return newClaims(t, database, keep), newClaims(t, database, keep)
//		})
//	}
//
// The tests wait for leases of less than a second with time.Sleep, so that they also run in a bubble of testing/synctest.
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
// both are the same. A handled ID is remembered for the time keep, some seconds.
type Open func(t *testing.T, keep time.Duration) (one, two webhook.ClaimStore)

const (
	long  = time.Minute
	short = 300 * time.Millisecond
)

// Run runs the tests one after the other, with new stores for each.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*suite)
	}{
		{"one holder", (*suite).oneHolder},
		{"done", (*suite).done},
		{"release", (*suite).release},
		{"late holder", (*suite).lateHolder},
		{"expired lease", (*suite).expiredLease},
		{"keep", (*suite).keep},
		{"contexts", (*suite).contexts},
		{"refused", (*suite).refused},
		{"at once", (*suite).atOnce},
	} {
		t.Run(test.name, func(t *testing.T) {
			one, two := open(t, 8*short)
			test.run(&suite{T: t, one: one, two: two})
		})
	}
}

type suite struct {
	*testing.T
	one, two webhook.ClaimStore
}

func (s *suite) claim(store webhook.ClaimStore, id string, lease time.Duration, want webhook.ClaimState) webhook.Claim {
	s.Helper()
	claim, err := store.Claim(s.Context(), id, lease)
	if err != nil {
		s.Fatalf("Claim: %v", err)
	}
	if claim.State() != want {
		s.Fatalf("the claim of %s is %v, not %v", id, claim.State(), want)
	}
	return claim
}

// settles checks that Done or Release of a holder succeeded.
func (s *suite) settles(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("the holder of the lease cannot settle it: %v", err)
	}
}

// lost checks that neither Done nor Release of a claim has an effect.
func (s *suite) lost(claim webhook.Claim) {
	s.Helper()
	for name, settle := range map[string]func(context.Context) error{"Done": claim.Done, "Release": claim.Release} {
		if err := settle(s.Context()); !errors.Is(err, webhook.ErrClaimLost) {
			s.Fatalf("%s without a lease returns %v, not ErrClaimLost", name, err)
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

// lateHolder: a holder that overran its lease cannot end a claim, whoever holds the ID by then.
func (s *suite) lateHolder() {
	late := s.claim(s.one, "h/1", short, webhook.ClaimWon)
	time.Sleep(2 * short)
	s.lost(late)
	holder := s.claim(s.two, "h/1", long, webhook.ClaimWon)
	s.lost(late)
	s.claim(s.one, "h/1", long, webhook.ClaimInFlight)
	s.settles(holder.Done(s.Context()))
	s.lost(late)
	s.claim(s.one, "h/1", long, webhook.ClaimDone)
}

func (s *suite) expiredLease() {
	s.claim(s.one, "h/1", 4*short, webhook.ClaimWon)
	s.claim(s.two, "h/1", long, webhook.ClaimInFlight)
	time.Sleep(5 * short)
	s.claim(s.two, "h/1", long, webhook.ClaimWon)
}

// keep: a handled message is forgotten after the time keep, not at the end of its lease.
func (s *suite) keep() {
	claim := s.claim(s.one, "h/1", short, webhook.ClaimWon)
	s.settles(claim.Done(s.Context()))
	time.Sleep(2 * short)
	s.claim(s.two, "h/1", long, webhook.ClaimDone)
	time.Sleep(8 * short)
	s.claim(s.two, "h/1", long, webhook.ClaimWon)
}

func (s *suite) contexts() {
	over, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := s.one.Claim(over, "h/1", long); !errors.Is(err, context.Canceled) {
		s.Fatalf("Claim returns %v, not the error of its context", err)
	}
	s.claim(s.one, "h/1", long, webhook.ClaimWon)
}

func (s *suite) refused() {
	for _, lease := range []time.Duration{0, -time.Second} {
		if _, err := s.one.Claim(s.Context(), "h/1", lease); err == nil {
			s.Fatalf("a lease of %v is granted", lease)
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
					s.Errorf("Claim: %v", err)
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
		s.Fatalf("%d claims of %d IDs were won", won.Load(), ids)
	}
}
