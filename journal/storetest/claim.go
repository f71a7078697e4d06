package storetest

import (
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Each due payment is claimed only once. Claim returns the entry as it was, and stores the intent.
func claimWhatIsDue(s *suite) {
	s.none("does not exist")
	s.enqueue("a", "b", "c")
	before := s.Get(s, "a")
	list := s.claim(long(2))
	if len(list) != 2 {
		s.Fatalf("Claim of 2 of 3 payments that are due took %d", len(list))
	}
	for _, h := range append(list, s.await(long(1))) {
		e := h.Entry
		if e.AccountID != account || e.State != before.State || e.Runs != before.Runs || !e.LastSent.IsZero() {
			s.Fatalf("Claim returned %+v, which is not as it was before", h)
		}
		opened, err := e.Open(Seal(), DigestKey(), e.Sealed)
		if err != nil || opened != prepaid.PaymentParams(params(e.RequestID)) {
			s.Fatalf("Claim returned sealed params that open as %+v, %v", opened, err)
		}
		s.is(s.begin(h).Entry)
	}
	s.none("is held")
	s.dies() // a claim is durable
	if after := s.Get(s, "a"); after.State != journal.StateIntended || after.Runs != before.Runs+1 {
		s.Fatalf("after a restart, a claimed payment is %s with %d runs", after.State, after.Runs)
	}
}

func claimLongestDueFirst(s *suite) {
	s.enqueue("a", "b", "c")
	waits := map[prepaid.RequestID]time.Duration{"a": 60 * time.Millisecond, "b": 30 * time.Millisecond, "c": 45 * time.Millisecond}
	var ends []journal.End
	for range waits {
		h := s.await(long(1))
		end := s.ends(h, "", fails(prepaid.OutcomeNotProcessed))
		end.Wait = waits[h.Entry.RequestID]
		ends = append(ends, end)
	}
	s.record(ends...)
	time.Sleep(100 * time.Millisecond)
	for _, want := range []prepaid.RequestID{"b", "c", "a"} {
		if h := s.await(long(1)); h.Entry.RequestID != want {
			s.Fatalf("Claim took %s, although %s has been due for longer", h.Entry.RequestID, want)
		}
	}
}

func claimInManyWorkers(s *suite) {
	const payments, workers = 40, 8
	for i := range payments {
		s.enqueue(prepaid.RequestID("p-" + string(rune('A'+i))))
	}
	var mu sync.Mutex
	seen := make(map[prepaid.RequestID]bool)
	// take checks one claim, and reports whether its worker may continue.
	take := func(list []journal.Held, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			s.Errorf("Claim: %v", err)
		}
		for _, h := range list {
			if seen[h.Entry.RequestID] || s.fences[h.Fence] {
				s.Errorf("Claim took %s twice, or used its fence twice", h.Entry.RequestID)
			}
			seen[h.Entry.RequestID], s.fences[h.Fence] = true, true
		}
		return !s.Failed()
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for misses := 0; misses < 5; { // a store may skip payments that another transaction has locked
				list, err := s.Store.Claim(s.Context(), long(3))
				if !take(list, err) {
					return
				}
				if len(list) == 0 {
					misses++
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	if len(seen) != payments {
		s.Errorf("workers have claimed %d of %d payments that are due", len(seen), payments)
	}
}

// If a worker died, its payment is claimed again when the worker's last request can no longer be in progress, and not before.
func claimAfterDeath(s *suite) {
	s.enqueue("a")
	first := s.await(short())
	var from, to time.Time
	if s.OneProcess { // the worker can have sent until its process died
		from, to = s.dies()
	} else {
		from, to = first.from.Add(short().Sends), first.to.Add(short().Sends)
	}
	if r, err := s.Store.Resting(s.Context(), time.Time{}); err != nil || r == nil || r.Account != account {
		s.Fatalf("Resting returned %+v, %v for a payment whose worker died", r, err)
	}
	held := short()
	held.N, held.Admitted = 10, time.Time{}
	time.Sleep(time.Until(to.Add(short().Rest + inaccuracy)))
	if list := s.claim(held); len(list) > 0 {
		s.Fatal("Claim took a payment whose worker died, which rests and is not admitted")
	}
	s.dies() // a restart does not prolong the wait
	second := s.await(long(1))
	if early := second.to.Sub(from); early < short().Rest-inaccuracy {
		s.Fatalf("Claim took a payment %v after its worker can have sent, which is before its rest is over", early)
	}
	ago, rest := second.Now.Sub(second.Entry.LastSent), second.Entry.NotBefore.Sub(second.Entry.LastSent)
	if ago < second.from.Sub(to)-inaccuracy || ago > second.to.Sub(from)+inaccuracy {
		s.Fatalf("LastSent is %v before the claim, but the worker can have sent until %v to %v before it", ago, second.from.Sub(to), second.to.Sub(from))
	}
	if rest != short().Rest {
		s.Fatalf("NotBefore is %v after LastSent, but the claim of the dead worker had a Rest of %v", rest, short().Rest)
	}
	if second.Entry.State != journal.StateIntended {
		s.Fatalf("Claim returned a payment whose worker died as %s", second.Entry.State)
	}
	s.is(s.begin(second).Entry)
	s.none("is held by the second worker")
}

// Claim.Admitted delays a payment only if Entry.Rests is true; Resting reports the first delayed payment.
func claimWhatIsAdmitted(s *suite) {
	if r, err := s.Store.Resting(s.Context(), time.Time{}); r != nil || err != nil {
		s.Fatalf("Resting returned %+v, %v for an empty store", r, err)
	}
	s.Enqueue(s, "soon", params("a"))
	s.Enqueue(s, "later", params("b"))
	s.enqueue("c")
	var ends []journal.End
	for _, h := range s.claim(long(3)) {
		end := s.ends(h, "", fails(prepaid.OutcomeUnknown))
		switch h.Entry.RequestID {
		case "b":
			end.Wait = 2 * time.Hour
		case "c":
			end = s.ends(h, "", fails(prepaid.OutcomeNotProcessed))
		}
		ends = append(ends, end)
	}
	if len(ends) != 3 {
		s.Fatalf("Claim took %d of 3 payments that are due", len(ends))
	}
	s.record(ends...)
	time.Sleep(inaccuracy)
	r, err := s.Store.Resting(s.Context(), time.Time{})
	if err != nil || r == nil || r.Account != "soon" || r.Wait > 0 || r.Age < inaccuracy/2 {
		s.Fatalf("Resting returned %+v, %v instead of the first payment that rests", r, err)
	}
	c := long(10)
	c.Admitted = time.Time{}
	if list := s.claim(c); len(list) != 1 || list[0].Entry.RequestID != "c" {
		s.Fatalf("Claim took %d payments instead of the one that does not rest", len(list))
	}
	r, err = s.Store.Resting(s.Context(), r.Due)
	if err != nil || r == nil || r.Account != "later" || r.Wait > 2*time.Hour || r.Wait < 2*time.Hour-time.Since(s.began)-inaccuracy {
		s.Fatalf("Resting returned %+v, %v instead of the first payment that is not admitted, which is due in 2 h", r, err)
	}
	c.Admitted = r.Due // a payment that is not due is never claimed
	if list := s.claim(c); len(list) != 1 || list[0].Entry.RequestID != "a" {
		s.Fatalf("Claim took %d payments instead of the one that is due", len(list))
	}
}
