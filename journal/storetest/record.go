package storetest

import (
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// An end's entry is stored with all its fields. The payment is claimed again only if it is due.
func recordEveryField(s *suite) {
	for _, tc := range []struct {
		id   prepaid.RequestID
		err  error
		edit func(e *journal.Entry)
	}{
		{"done", nil, func(*journal.Entry) {}},
		{"unknown", fails(prepaid.OutcomeUnknown), func(*journal.Entry) {}},
		{"not-sent", fails(prepaid.OutcomeNotProcessed), func(*journal.Entry) {}},
		{"rejected", fails(prepaid.OutcomeRejected), func(e *journal.Entry) { e.Code, e.CorrelationID = prepaid.CodeInvalidRequest, "refusal" }},
		{"too-old", fails(prepaid.OutcomeUnknown), func(e *journal.Entry) { e.Review = journal.ReviewTooOld }},
		{"reused", fails(prepaid.OutcomeRejected), func(e *journal.Entry) { e.Review = journal.ReviewReused }},
	} {
		s.enqueue(tc.id)
		s.records(s.ends(s.await(long(1)), "", fails(prepaid.OutcomeNotProcessed)), written)
		end := s.ends(s.await(long(1)), "t-"+prepaid.TransactionID(tc.id), tc.err) // its entry also has the first run
		tc.edit(&end.Entry)
		if end.Entry.Due() {
			end.Wait = 100 * time.Millisecond // due after the checks
		}
		s.records(end, written)
		s.is(end.Entry)
		if end.Final() {
			s.none("is " + string(end.Entry.State) + " " + string(end.Entry.Review) + ", and not to be sent")
			continue
		}
		again := s.await(long(1))
		s.is(s.begin(again).Entry)
		if _, err := again.Entry.Open(Seal(), DigestKey(), again.Entry.Sealed); err != nil {
			s.Fatalf("Record lost the sealed params of a payment that is %s: %v", end.Entry.State, err)
		}
		s.records(s.ends(again, "t", nil), written)
	}
	s.dies()
	if e := s.Get(s, "done"); e.State != journal.StateDone || e.TransactionID != "t-done" {
		s.Fatalf("after a restart, a payment that is done is %+v", e)
	}
}

// A commit succeeded and was reported as failed, so that the same ends are recorded again.
func recordAgain(s *suite) {
	s.enqueue("a", "b")
	a, b := s.await(long(1)), s.await(long(1))
	done, unknown := s.ends(a, "t", nil), s.ends(b, "", fails(prepaid.OutcomeUnknown))
	for range 2 {
		for i, r := range s.record(done, unknown) {
			if r != written {
				s.Fatalf("Record returned %+v for end %d, which is recorded", r, i)
			}
		}
		s.is(done.Entry)
		s.is(unknown.Entry)
	}
	again := s.await(long(1))
	s.none("is done or held")
	want := journal.Recorded{Overtaken: true}
	s.records(unknown, want) // recorded again, but the payment was claimed meanwhile
	s.is(s.begin(again).Entry)
	s.records(s.ends(again, "t", nil), written)
	s.records(unknown, want)
	s.is(s.ends(again, "t", nil).Entry)
}

// A payment that was given back is as before the run, but no longer queued.
func recordGivenBack(s *suite) {
	s.enqueue("a", "b")
	for _, h := range s.claim(long(2)) {
		end := journal.End{Fence: h.Fence, GivenBack: true, Entry: s.begin(h).GiveBack()}
		end.Entry.Changed = time.Now().Add(-time.Hour)
		s.records(end, written)
		s.is(end.Entry)
	}
	unknown := s.ends(s.await(long(1)), "", fails(prepaid.OutcomeUnknown))
	s.records(unknown, written)
	s.await(long(1)) // one of two payments
	h := s.await(long(1))
	end := journal.End{Fence: h.Fence, GivenBack: true, Entry: s.begin(h).GiveBack(), Wait: time.Hour}
	s.records(end, written)
	s.is(end.Entry)
	s.none("was given back for an hour")
}

func recordWait(s *suite) {
	const wait = 60 * time.Millisecond
	for id, outcome := range map[prepaid.RequestID]prepaid.Outcome{"a": prepaid.OutcomeNotProcessed, "b": prepaid.OutcomeUnknown} {
		s.enqueue(id)
		end := s.ends(s.await(long(1)), "", fails(outcome))
		end.Wait, end.Entry.NotBefore = wait, time.Now().Add(wait)
		from := time.Now()
		s.records(end, written)
		if early := s.await(long(1)).to.Sub(from); early < wait-inaccuracy {
			s.Fatalf("Claim took a payment %v after an end that lets it wait for %v", early, wait)
		}
	}
}

// takeOver claims a payment, and claims it again after the worker died.
func (s *suite) takeOver(id prepaid.RequestID) (first, second held) {
	s.Helper()
	s.enqueue(id)
	first = s.await(short())
	s.dies()
	return first, s.await(long(1))
}

// Another worker has claimed the payment since. An end of an earlier run is dropped, unless it is a success.
func recordOvertaken(s *suite) {
	overtaken := journal.Recorded{Overtaken: true}
	first, second := s.takeOver("a")
	before := s.begin(second).Entry
	for _, outcome := range []prepaid.Outcome{prepaid.OutcomeUnknown, prepaid.OutcomeRejected, prepaid.OutcomeNotProcessed} {
		s.records(s.ends(first, "", fails(outcome)), overtaken)
		s.is(before)
	}
	back := journal.End{Fence: first.Fence, GivenBack: true, Entry: s.begin(first).GiveBack()}
	s.records(back, overtaken)
	s.is(before)
	s.none("is held by the second worker")
	s.records(s.ends(second, "", fails(prepaid.OutcomeUnknown)), written) // the second fence is valid
	s.records(s.ends(s.await(long(1)), "t-1", nil), written)

	first, second = s.takeOver("b")
	s.records(s.ends(first, "t-2", nil), journal.Recorded{Written: true, Overtaken: true})
	s.isDone("b", "t-2")
	s.none("is done")
	s.records(s.ends(second, "", fails(prepaid.OutcomeUnknown)), overtaken)
	s.records(s.ends(second, "", fails(prepaid.OutcomeRejected)), overtaken)
	back = journal.End{Fence: second.Fence, GivenBack: true, Entry: s.begin(second).GiveBack()}
	s.records(back, overtaken)
	s.isDone("b", "t-2")
	s.none("is done")
}

// The first success stays. For a second one, Record returns the first transaction.
func recordTwoSuccesses(s *suite) {
	first, second := s.takeOver("a")
	done := s.ends(second, "t-1", nil)
	s.records(done, written)
	for _, transaction := range []prepaid.TransactionID{"t-1", "t-2"} {
		s.records(s.ends(first, transaction, nil), journal.Recorded{Overtaken: true, Known: "t-1"})
		s.is(done.Entry)
	}
	first, second = s.takeOver("b")
	s.records(s.ends(first, "t-3", nil), journal.Recorded{Written: true, Overtaken: true})
	s.records(s.ends(second, "t-4", nil), journal.Recorded{Overtaken: true, Known: "t-3"})
	s.isDone("b", "t-3")
}

// One payment is gone; other ends of the call are written.
func recordGone(s *suite) {
	if s.Remove == nil {
		s.Skip("the store cannot lose payments")
	}
	s.enqueue("a", "b", "c")
	var ends []journal.End
	for _, h := range s.claim(long(3)) {
		ends = append(ends, s.ends(h, "t-"+prepaid.TransactionID(h.Entry.RequestID), nil))
	}
	s.Remove(s, "b")
	for i, r := range s.record(ends...) {
		if gone := ends[i].Entry.RequestID == "b"; r != (journal.Recorded{Written: !gone, Gone: gone}) {
			s.Fatalf("Record returned %+v for %s", r, ends[i].Entry.RequestID)
		} else if !gone {
			s.is(ends[i].Entry)
		}
	}
}
