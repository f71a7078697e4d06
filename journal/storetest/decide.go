package storetest

import (
	"errors"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

func retry(e journal.Entry, now time.Time) (journal.Entry, error)    { return e.Retry(now) }
func withdraw(e journal.Entry, now time.Time) (journal.Entry, error) { return e.Withdraw(now) }

func notMoved(e journal.Entry, now time.Time) (journal.Entry, error) {
	return e.Resolve(now, journal.NotMoved())
}

// A decision replaces the entry if no worker holds the payment. Otherwise it changes nothing.
func decide(s *suite) {
	fails := func(id prepaid.RequestID, decision func(journal.Entry, time.Time) (journal.Entry, error), want error) {
		s.Helper()
		if err := s.Store.Decide(s.Context(), id, decision); !errors.Is(err, want) {
			s.Fatalf("Decide returned %v instead of %v", err, want)
		}
	}
	fails("unknown", withdraw, journal.ErrNoPayment)
	s.enqueue("a")
	h := s.await(long(1))
	fails("a", notMoved, journal.ErrUnderWay)
	fails("a", notMoved, journal.ErrUnderWay) // the first decision did not release the payment
	s.none("is held")
	end := s.ends(h, "", failure())
	end.Wait = time.Hour
	s.records(end, written)
	refused := errors.New("storetest: refused")
	var given journal.Entry
	fails("a", func(e journal.Entry, now time.Time) (journal.Entry, error) {
		given, s.there, s.here = e, now, time.Now()
		e.State = journal.StateDone
		return e, refused
	}, refused)
	s.is(end.Entry)
	if given.State != journal.StateUnknown || given.Attempts != end.Entry.Attempts {
		s.Fatalf("Decide passed %+v", given)
	}
	s.none("is not due yet")
	fails("a", withdraw, journal.ErrState)

	want, err := end.Entry.Resolve(time.Now(), journal.NotMoved())
	if err != nil {
		s.Fatal(err)
	}
	s.decides("a", notMoved)
	s.is(want)
	s.none("was resolved")
	s.decides("a", withdraw)
	s.none("was withdrawn")
	s.dies()
	if e := s.Get(s, "a"); e.State != journal.StateWithdrawn {
		s.Fatalf("after a restart, a payment that was withdrawn is %s", e.State)
	}
}

func failure() error { return fails(prepaid.OutcomeUnknown) }

// A decision replaces the fence of the run before it: only a success of that run is still recorded.
func decideAgainstEarlierRun(s *suite) {
	s.enqueue("a", "b")
	for _, h := range s.claim(long(2)) {
		id, unknown := h.Entry.RequestID, s.ends(h, "", failure())
		s.records(unknown, written)
		s.decides(id, notMoved)
		decided := s.Get(s, id).Shift(s.there, s.here)
		s.records(unknown, journal.Recorded{Overtaken: true})
		s.is(decided)
		s.none("was resolved")
		if id == "b" { // the success is recorded even after a retry was decided
			s.decides(id, retry)
		}
		s.records(s.ends(h, "t", nil), journal.Recorded{Written: true, Overtaken: true})
		s.isDone(id, "t")
		s.none("is done")
	}
	// A person may be wrong about a transaction. The service is not.
	s.enqueue("c")
	h := s.await(long(1))
	s.records(s.ends(h, "", failure()), written)
	s.decides("c", func(e journal.Entry, now time.Time) (journal.Entry, error) {
		return e.Resolve(now, journal.Moved("t-1"))
	})
	s.records(s.ends(h, "t-2", nil), journal.Recorded{Written: true, Overtaken: true})
	s.isDone("c", "t-2")
}

// A payment to be sent again is due at once, or at its NotBefore.
func decideToRetry(s *suite) {
	s.enqueue("a")
	end := s.ends(s.await(long(1)), "", fails(prepaid.OutcomeRejected))
	s.records(end, written)
	s.decides("a", retry)
	again := s.await(long(1))
	if again.Entry.State != journal.StateNotSent {
		s.Fatalf("Claim returned a payment that is to be sent again as %s", again.Entry.State)
	}
	const wait = 60 * time.Millisecond
	end = s.ends(again, "", failure())
	from := time.Now()
	end.Entry.NotBefore, end.Wait = from.Add(wait), time.Hour
	s.records(end, written)
	s.decides("a", notMoved)
	s.decides("a", retry)
	last := s.await(long(1))
	if early := last.to.Sub(from); early < wait-inaccuracy {
		s.Fatalf("Claim took a payment %v after its end, although its NotBefore was %v after it", early, wait)
	}
	if !last.Entry.Resolved {
		s.Fatal("Claim returned a payment that a person resolved without Resolved")
	}
	s.records(s.ends(last, "t", nil), written)
}
