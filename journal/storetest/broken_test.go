package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/storetest"
)

// recorder is a test that may fail.
type recorder struct {
	testing.TB

	failed atomic.Bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Error(...any)          { r.failed.Store(true) }
func (r *recorder) Errorf(string, ...any) { r.failed.Store(true) }
func (r *recorder) Failed() bool          { return r.failed.Load() }
func (r *recorder) Skip(...any)           { runtime.Goexit() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }

func (r *recorder) FailNow() {
	r.failed.Store(true)
	runtime.Goexit()
}

// failing returns the first test that a store fails.
func failing(t *testing.T, ahead time.Duration, change func(d *database, s *storetest.Subject)) (first string) {
	t.Helper()
	storetest.Each(func(name string, test func(testing.TB, storetest.Subject)) {
		if first != "" {
			return
		}
		r := &recorder{}
		synctest.Test(t, func(t *testing.T) {
			r.TB = t
			d := newDatabase(ahead)
			subject := d.subject()
			change(d, &subject)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				test(r, subject)
			}()
			<-ended
		})
		if r.Failed() {
			first = name
		}
	})
	return first
}

// A database may have any clock.
func TestOtherClocks(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
		require.Empty(t, failing(t, ahead, func(*database, *storetest.Subject) {}), ahead)
	}
}

// Each rule is tested: a store that breaks it fails.
func TestBrokenStores(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(mistakes)) {
		t.Run(name, func(t *testing.T) {
			first := failing(t, time.Hour, func(d *database, s *storetest.Subject) {
				b := &broken{database: d}
				mistakes[name](b, s)
				s.Store = b
				if restart := s.Restart; restart != nil {
					s.Restart = func(t testing.TB) journal.Store { restart(t); return b }
				}
			})
			require.NotEmpty(t, first)
			t.Log(first)
		})
	}
}

// broken is a database with a bug: functions that are not nil replace its own.
type broken struct {
	*database

	claim   func(c journal.Claim) ([]journal.Held, error)
	claimed func(h *journal.Held, r *row)                                  // after each claim
	end     func(r *row, e *journal.End) (_ journal.Recorded, ended bool)  // replaces an end
	ended   func(r *row, e journal.End, was row, result *journal.Recorded) // after each end of a known payment
	record  func(ends []journal.End) ([]journal.Recorded, error)
	resting func(admitted time.Time) (*journal.Resting, error)
	decide  func(id prepaid.RequestID, decision func(journal.Entry, time.Time) (journal.Entry, error)) error
}

func (b *broken) Claim(ctx context.Context, c journal.Claim) ([]journal.Held, error) {
	if b.claim != nil {
		return b.claim(c)
	}
	list, err := b.database.Claim(ctx, c)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range list {
		if b.claimed != nil {
			b.claimed(&list[i], b.rows[list[i].Entry.RequestID])
		}
	}
	return list, err
}

func (b *broken) Record(ctx context.Context, ends []journal.End) ([]journal.Recorded, error) {
	if b.record != nil {
		return b.record(ends)
	}
	var all []journal.Recorded
	for _, end := range ends {
		r := b.rows[end.Entry.RequestID]
		var was row
		if r != nil {
			was = *r
			if b.end != nil {
				if recorded, ended := b.end(r, &end); ended {
					all = append(all, recorded)
					continue
				}
			}
		}
		one, err := b.database.Record(ctx, []journal.End{end})
		if err != nil {
			return nil, err
		}
		if r != nil && b.ended != nil {
			b.ended(r, end, was, &one[0])
		}
		all = append(all, one...)
	}
	return all, nil
}

func (b *broken) Resting(ctx context.Context, admitted time.Time) (*journal.Resting, error) {
	if b.resting != nil {
		return b.resting(admitted)
	}
	return b.database.Resting(ctx, admitted)
}

func (b *broken) Decide(ctx context.Context, id prepaid.RequestID, decision func(journal.Entry, time.Time) (journal.Entry, error)) error {
	if b.decide != nil {
		return b.decide(id, decision)
	}
	return b.database.Decide(ctx, id, decision)
}

type decision = func(journal.Entry, time.Time) (journal.Entry, error)

func onClaim(f func(h *journal.Held, r *row)) func(b *broken, s *storetest.Subject) {
	return func(b *broken, _ *storetest.Subject) { b.claimed = f }
}

// beforeClaim changes claims and rows.
func beforeClaim(f func(b *broken, c *journal.Claim)) func(b *broken, s *storetest.Subject) {
	return func(b *broken, _ *storetest.Subject) {
		b.claim = func(c journal.Claim) ([]journal.Held, error) {
			f(b, &c)
			return b.database.Claim(context.Background(), c)
		}
	}
}

func onEnded(f func(r *row, e journal.End, was row, result *journal.Recorded)) func(b *broken, s *storetest.Subject) {
	return func(b *broken, _ *storetest.Subject) { b.ended = f }
}

func onEnd(f func(r *row, e *journal.End) (journal.Recorded, bool)) func(b *broken, s *storetest.Subject) {
	return func(b *broken, _ *storetest.Subject) { b.end = f }
}

func onDecided(f func(b *broken, r *row, was row)) func(b *broken, s *storetest.Subject) {
	return func(b *broken, _ *storetest.Subject) {
		b.decide = func(id prepaid.RequestID, decision decision) error {
			r := b.rows[id]
			if r == nil {
				return journal.ErrNoPayment
			}
			was := *r
			err := b.database.Decide(context.Background(), id, decision)
			if err == nil {
				f(b, r, was)
			}
			return err
		}
	}
}

// claimsAlso also claims the payments that match.
func claimsAlso(match func(e journal.Entry) bool) func(b *broken, s *storetest.Subject) {
	return beforeClaim(func(b *broken, _ *journal.Claim) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, r := range b.rows {
			if match(r.entry) {
				r.entry.State, r.entry.Review = journal.StateNotSent, ""
			}
		}
	})
}

func onResting(f func(b *broken, r *journal.Resting) *journal.Resting) func(b *broken, s *storetest.Subject) {
	return func(b *broken, _ *storetest.Subject) {
		b.resting = func(admitted time.Time) (*journal.Resting, error) {
			r, err := b.database.Resting(context.Background(), admitted)
			if r != nil {
				r = f(b, r)
			}
			return r, err
		}
	}
}

// mistakes break one rule each.
//
//waits:bubble
var mistakes = map[string]func(b *broken, s *storetest.Subject){
	"claims more than N":     beforeClaim(func(_ *broken, c *journal.Claim) { c.N++ }),
	"claims less than N":     beforeClaim(func(_ *broken, c *journal.Claim) { c.N = min(c.N, 1) }),
	"claims what is not due": beforeClaim(func(b *broken, _ *journal.Claim) { b.eachDue(func(r *row) { r.due = time.Time{} }) }),
	"claims the last due first": beforeClaim(func(b *broken, _ *journal.Claim) {
		now := b.now()
		b.eachDue(func(r *row) {
			if !r.due.After(now) {
				r.due = now.Add(-time.Hour).Add(now.Sub(r.due))
			}
		})
	}),
	"claims a payment that a person must review": claimsAlso(func(e journal.Entry) bool { return e.Review != "" }),
	"claims a rejected payment":                  claimsAlso(func(e journal.Entry) bool { return e.State == journal.StateRejected }),
	"claims a withdrawn payment":                 claimsAlso(func(e journal.Entry) bool { return e.State == journal.StateWithdrawn }),
	"claims a payment that is done":              claimsAlso(func(e journal.Entry) bool { return e.State == journal.StateDone }),
	"does not hold a payment":                    onClaim(func(h *journal.Held, r *row) { r.due = h.Now }),
	"holds a payment without its rest":           onClaim(func(_ *journal.Held, r *row) { r.due = r.sends }),
	"holds a payment for ever":                   onClaim(func(h *journal.Held, r *row) { r.due = h.Now.Add(1000 * time.Hour) }),
	"does not store the intent":                  onClaim(func(h *journal.Held, r *row) { r.entry = h.Entry }),
	"does not count runs":                        onClaim(func(h *journal.Held, r *row) { r.entry.Runs = h.Entry.Runs }),
	"does not note when a run began":             onClaim(func(h *journal.Held, r *row) { r.entry.Began = h.Entry.Began }),
	"does not note the change of a claim":        onClaim(func(h *journal.Held, r *row) { r.entry.Changed = h.Entry.Changed }),
	"keeps NotBefore while a run goes on":        onClaim(func(h *journal.Held, r *row) { r.entry.NotBefore = h.Entry.NotBefore }),
	"returns the entry with the intent":          onClaim(func(h *journal.Held, r *row) { h.Entry = r.entry }),
	"returns no params":                          onClaim(func(h *journal.Held, _ *row) { h.Entry.Sealed = nil }),
	"has one fence":                              onClaim(func(h *journal.Held, r *row) { h.Fence, r.fence = "1", "1" }),
	"has a fence per payment":                    onClaim(func(h *journal.Held, r *row) { h.Fence, r.fence = string(h.Entry.RequestID), string(h.Entry.RequestID) }),
	"does not say that a worker died":            onClaim(func(h *journal.Held, _ *row) { h.Entry.LastSent, h.Entry.NotBefore = time.Time{}, time.Time{} }),
	"says that a worker died that did not":       onClaim(func(h *journal.Held, _ *row) { h.Entry = h.Entry.Died(h.Now, 0) }),
	"says that a worker sent until its rest was over": onClaim(func(h *journal.Held, _ *row) {
		if e := &h.Entry; e.State == journal.StateIntended {
			*e = e.Died(e.NotBefore, e.NotBefore.Sub(e.LastSent))
		}
	}),
	"says that a dead worker did not rest":    onClaim(func(h *journal.Held, _ *row) { h.Entry.NotBefore = h.Entry.LastSent }),
	"returns the rest of the new claim":       onClaim(func(h *journal.Held, r *row) { h.Entry.NotBefore = h.Entry.LastSent.Add(r.rest) }),
	"returns the time of the process":         onClaim(func(h *journal.Held, _ *row) { h.Now = time.Now() }),
	"does not hold back what is not admitted": beforeClaim(func(_ *broken, c *journal.Claim) { c.Admitted = time.Now().Add(9999 * time.Hour) }),
	"holds back what does not rest": beforeClaim(func(b *broken, c *journal.Claim) {
		b.eachDue(func(r *row) {
			if c.Admitted.IsZero() && !r.entry.Rests() {
				r.due = b.now().Add(time.Hour)
			}
		})
	}),
	"does not lock what it claims": func(b *broken, _ *storetest.Subject) {
		b.claim = func(c journal.Claim) ([]journal.Held, error) {
			b.mu.Lock()
			before := make(map[prepaid.RequestID]row)
			for id, r := range b.rows {
				before[id] = *r
			}
			b.mu.Unlock()
			list, err := b.database.Claim(context.Background(), c)
			swap := func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				for _, h := range list {
					id := h.Entry.RequestID
					*b.rows[id], before[id] = before[id], *b.rows[id]
				}
			}
			swap()
			time.Sleep(time.Millisecond)
			swap()
			return list, err
		}
	},
	"loses claims when it dies": func(b *broken, s *storetest.Subject) {
		before := make(map[prepaid.RequestID]row)
		b.claimed = func(h *journal.Held, r *row) { before[h.Entry.RequestID] = row{entry: h.Entry, due: h.Now} }
		b.ended = func(_ *row, e journal.End, _ row, _ *journal.Recorded) { delete(before, e.Entry.RequestID) }
		s.Restart = func(testing.TB) journal.Store {
			for id, r := range before {
				*b.rows[id] = r
			}
			return b
		}
	},
	"loses ends when it dies": func(b *broken, s *storetest.Subject) {
		var last *row
		var before row
		b.ended = func(r *row, _ journal.End, was row, _ *journal.Recorded) { last, before = r, was }
		s.Restart = func(testing.TB) journal.Store {
			if last != nil {
				*last = before
			}
			return b
		}
	},

	"does not compare fences": onEnd(func(r *row, e *journal.End) (journal.Recorded, bool) {
		r.fence = e.Fence
		return journal.Recorded{}, false
	}),
	"lets a give-back undo anything": onEnd(func(r *row, e *journal.End) (journal.Recorded, bool) {
		if e.GivenBack {
			r.entry = e.Entry
		}
		return journal.Recorded{}, false
	}),
	"drops a success that was overtaken": onEnd(func(r *row, e *journal.End) (journal.Recorded, bool) {
		return journal.Recorded{Overtaken: true}, e.Fence != r.fence
	}),
	"drops a success that was overtaken by a decision": onEnd(func(r *row, e *journal.End) (journal.Recorded, bool) {
		return journal.Recorded{Overtaken: true}, e.Fence != r.fence && r.entry.Resolved
	}),
	"a second success replaces the first": onEnded(func(r *row, e journal.End, _ row, _ *journal.Recorded) {
		if e.Entry.State == journal.StateDone {
			r.entry.TransactionID = e.Entry.TransactionID
		}
	}),
	"a person's word replaces a success": onEnd(func(r *row, _ *journal.End) (journal.Recorded, bool) {
		return journal.Recorded{Overtaken: true, Known: r.entry.TransactionID}, r.entry.Resolved && r.entry.State == journal.StateDone
	}),
	"does not return the known transaction": onEnded(func(_ *row, _ journal.End, _ row, r *journal.Recorded) { r.Known = "" }),
	"does not report what was overtaken":    onEnded(func(_ *row, _ journal.End, _ row, r *journal.Recorded) { r.Overtaken = false }),
	"reports as written what was overtaken": onEnded(func(_ *row, _ journal.End, _ row, r *journal.Recorded) { r.Written = true }),
	"takes its own end for another's":       onEnded(func(r *row, _ journal.End, _ row, _ *journal.Recorded) { r.fence = "" }),
	"a success leaves the fence of another worker": onEnded(func(r *row, e journal.End, was row, _ *journal.Recorded) {
		if e.Fence != was.fence && e.Entry.State == journal.StateDone {
			r.fence, r.sends = was.fence, was.sends
		}
	}),
	"what is gone is an error": func(b *broken, _ *storetest.Subject) {
		b.record = func(ends []journal.End) ([]journal.Recorded, error) {
			list, err := b.database.Record(context.Background(), ends)
			for _, r := range list {
				if r.Gone {
					err = errMistake
				}
			}
			return list, err
		}
	},
	"what is gone is not reported": func(b *broken, _ *storetest.Subject) {
		b.record = func(ends []journal.End) ([]journal.Recorded, error) {
			list, err := b.database.Record(context.Background(), ends)
			for i := range list {
				list[i].Gone = false
			}
			return list, err
		}
	},
	"results in another order": func(b *broken, _ *storetest.Subject) {
		b.record = func(ends []journal.End) ([]journal.Recorded, error) {
			list, err := b.database.Record(context.Background(), ends)
			slices.Reverse(list)
			return list[:len(list)-len(list)/3], err
		}
	},
	"does not wait": onEnded(func(r *row, _ journal.End, _ row, _ *journal.Recorded) { r.due = time.Time{} }),
	"waits too long": onEnded(func(r *row, e journal.End, _ row, _ *journal.Recorded) {
		if e.Wait > 0 {
			r.due = r.due.Add(time.Hour)
		}
	}),
	"a give-back is a change": onEnded(func(r *row, e journal.End, _ row, _ *journal.Recorded) {
		if e.GivenBack {
			r.entry.Changed = r.entry.Changed.Add(time.Hour)
		}
	}),
	"a give-back of an unknown outcome does not wait": onEnded(func(r *row, e journal.End, _ row, _ *journal.Recorded) {
		if e.GivenBack && r.entry.Rests() {
			r.due = time.Time{}
		}
	}),
	"keeps the params of done":  onEnded(func(r *row, _ journal.End, was row, _ *journal.Recorded) { r.entry.Sealed = was.entry.Sealed }),
	"drops the params of a run": onEnded(func(r *row, _ journal.End, _ row, _ *journal.Recorded) { r.entry.Sealed = nil }),
	"stores times by the clock of the process": onEnded(func(r *row, _ journal.End, _ row, _ *journal.Recorded) {
		r.entry = r.entry.Shift(time.Now(), time.Now().Add(-time.Hour))
	}),
	"loses TransactionID": loses(func(e *journal.Entry) { e.TransactionID = "" }),
	"loses CorrelationID": loses(func(e *journal.Entry) { e.CorrelationID = "" }),
	"loses Code":          loses(func(e *journal.Entry) { e.Code = "" }),
	"loses Review":        loses(func(e *journal.Entry) { e.Review = "" }),
	"loses Attempts":      loses(func(e *journal.Entry) { e.Attempts = 0 }),
	"loses Runs":          loses(func(e *journal.Entry) { e.Runs = 0 }),
	"loses Began":         loses(func(e *journal.Entry) { e.Began = time.Time{} }),
	"loses FirstSent":     loses(func(e *journal.Entry) { e.FirstSent = time.Time{} }),
	"loses LastSent":      loses(func(e *journal.Entry) { e.LastSent = time.Time{} }),
	"loses NotBefore":     loses(func(e *journal.Entry) { e.NotBefore = time.Time{} }),

	"decides about no payment": func(b *broken, _ *storetest.Subject) {
		b.decide = func(id prepaid.RequestID, decision decision) error {
			if b.rows[id] == nil {
				return nil
			}
			return b.database.Decide(context.Background(), id, decision)
		}
	},
	"decides while a worker sends": func(b *broken, _ *storetest.Subject) {
		b.decide = func(id prepaid.RequestID, decision decision) error {
			if r := b.rows[id]; r != nil {
				r.sends = time.Time{}
			}
			return b.database.Decide(context.Background(), id, decision)
		}
	},
	"a decision in vain frees the payment": func(b *broken, _ *storetest.Subject) {
		b.decide = func(id prepaid.RequestID, decision decision) error {
			err := b.database.Decide(context.Background(), id, decision)
			if errors.Is(err, journal.ErrUnderWay) {
				b.rows[id].due = time.Time{}
			}
			return err
		}
	},
	"stores a decision that failed": func(b *broken, _ *storetest.Subject) {
		b.decide = func(id prepaid.RequestID, decision decision) error {
			var failed error
			err := b.database.Decide(context.Background(), id, func(e journal.Entry, now time.Time) (journal.Entry, error) {
				e, failed = decision(e, now)
				return e, nil
			})
			return cmpOr(err, failed)
		}
	},
	"a decision keeps the fence": onDecided(func(_ *broken, r *row, was row) { r.fence = was.fence }),
	"a retry is not due":         onDecided(func(b *broken, r *row, _ row) { r.due = b.now().Add(time.Hour) }),
	"a retry ignores NotBefore":  onDecided(func(b *broken, r *row, _ row) { r.due = b.now() }),
	"a retry waits as before":    onDecided(func(_ *broken, r *row, was row) { r.due = was.due }),
	"a decision is not noted":    onDecided(func(_ *broken, r *row, _ row) { r.entry.Resolved = false }),
	"a decision drops NotBefore": onDecided(func(_ *broken, r *row, _ row) { r.entry.NotBefore = time.Time{} }),

	"nothing rests":           onResting(func(*broken, *journal.Resting) *journal.Resting { return nil }),
	"rests without account":   onResting(func(_ *broken, r *journal.Resting) *journal.Resting { r.Account = ""; return r }),
	"rests without age":       onResting(func(_ *broken, r *journal.Resting) *journal.Resting { r.Age = 0; return r }),
	"a wait by another clock": onResting(func(_ *broken, r *journal.Resting) *journal.Resting { r.Wait += time.Hour; return r }),
	"reports the last that rests": onResting(func(b *broken, _ *journal.Resting) *journal.Resting {
		list := b.due(func(r *row) bool { return r.entry.Rests() })
		last := list[len(list)-1]
		return &journal.Resting{Account: last.entry.AccountID, Due: last.due, Wait: last.due.Sub(b.now())}
	}),
	"reports what is admitted": func(b *broken, _ *storetest.Subject) {
		b.resting = func(time.Time) (*journal.Resting, error) {
			return b.database.Resting(context.Background(), time.Time{})
		}
	},
}

func cmpOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("broken: %w", err)
		}
	}
	return nil
}

func loses(f func(e *journal.Entry)) func(b *broken, s *storetest.Subject) {
	return onEnded(func(r *row, _ journal.End, _ row, _ *journal.Recorded) { f(&r.entry) })
}

func (b *broken) eachDue(f func(r *row)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.rows {
		if r.entry.Due() {
			f(r)
		}
	}
}
