package journalfile

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
)

// PayAll makes each payment of a list once, as [Journal.Transfer] and [Journal.DirectEntryOut] do. The number of payments
// in progress is at most concurrency; less than 1 means 1. After a crash, run the whole list again with the same params.
// Payments that rest ([journal.Entry.Rests]) are sent last, and a payment that waits for its repeat gives its place to another: even a
// program that is restarted every few seconds completes a list. If many payments in a row have no known outcome, no new one begins until
// one of them has, or all have waited.
//
// The loop gets each payment of the list once, when the payment ends, with its recorded entry and the error that
// [Journal.Transfer] would return; nil means done, now or by an earlier run. An entry in [journal.StateQueued] is not recorded:
// the payment was never sent. To stop, leave the loop: no further payment is sent, and PayAll waits for those in
// progress. The end of ctx also cuts off the payments in progress: their outcomes are then unknown until the next run.
// ctx needs no deadline, which would be for the whole list: each payment ends by itself. The loop gets the remaining payments with the error
// of ctx. So that Ctrl+C lets them finish, end the list when the context of [os/signal.NotifyContext] is done, and pass
// [context.WithoutCancel] of it: see examples/apps/disburse. A payment that waits for its repeat is in progress too. While payments wait for
// their repeat or for the rate limit, the loop may get nothing for 40 s to 130 s: [prepaid.Trace].Waiting, added to ctx by
// [prepaid.WithTrace], reports such waits. Another goroutine reads the list while payments are sent: after a panic in the list, the loop
// gets an error with the zero Entry, and misses the rest of the list.
func (j *Journal) PayAll(ctx context.Context, sender journal.Sender, concurrency int, payments iter.Seq[journal.Payment]) iter.Seq2[journal.Entry, error] {
	return j.settle(ctx, sender, concurrency, func(yield func(task) bool) {
		for p := range payments {
			fresh, _ := journal.NewEntry(j.options.DigestKey, p.Account, p.Params) // pay reports an error
			e, _, _ := j.find(fresh.RequestID)
			send := func(ctx context.Context) error { _, err := j.pay(ctx, sender, p.Account, p.Params); return err }
			if !yield(task{Entry: fresh, recorded: e, send: send}) {
				return
			}
		}
	})
}

// Resume sends all payments that are pending when the loop begins, without your list: the journal must have been opened with the
// [Options].Seal and DigestKey with which it was written. All else is as in [Journal.PayAll].
//
// In addition to the errors of [Journal.Transfer], the loop gets:
//
//   - [journal.ErrNoParams], [journal.ErrKey] or [journal.ErrSealed]: the params cannot be opened. Run your list again, or
//     resolve the payment.
//   - [journal.ErrWindow] or [prepaid.ErrRequestIDReused]: a person must decide, see [journal.Entry.NeedsPerson].
//   - [journal.ErrState]: another call resolved the payment meanwhile; [journal.ErrNoPayment] if Compact also dropped it.
//   - The error of ctx, if it ended before the payment was sent.
//   - [journal.ErrNotRecorded], once and with the zero Entry: the journal could not be read, see [Journal.Err]. The loop misses payments.
//
// With these errors nothing was sent; [prepaid.OutcomeOf] reports the known outcome of earlier runs.
func (j *Journal) Resume(ctx context.Context, sender journal.Sender, concurrency int) iter.Seq2[journal.Entry, error] {
	return j.settle(ctx, sender, concurrency, func(yield func(task) bool) {
		for e := range j.each(journal.State.Pending, anyState) {
			send := func(ctx context.Context) error { return j.resume(ctx, sender, e) }
			if !yield(task{Entry: e, recorded: e, send: send}) {
				return
			}
		}
		if err := j.Err(); err != nil {
			yield(task{send: func(context.Context) error { return fmt.Errorf("%w: %w", journal.ErrNotRecorded, err) }})
		}
	})
}

type task struct {
	journal.Entry

	recorded journal.Entry
	send     func(context.Context) error
	err      error
}

// settle sends payments, first those that need not wait.
func (j *Journal) settle(ctx context.Context, sender journal.Sender, concurrency int, tasks iter.Seq[task]) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		looping, leave := context.WithCancel(ctx)
		s := &sending{
			journal: j, sender: sender, places: pause.NewPlaces(max(concurrency, 1), nil), results: make(chan task),
			left: func() bool { return looping.Err() != nil && ctx.Err() == nil },
		}
		go func() {
			defer close(s.results)
			if unsafe := guard.Call(func() { s.all(ctx, looping, tasks) }); unsafe != nil {
				s.results <- task{err: fmt.Errorf("journalfile: the list: %w", unsafe)}
			}
		}()
		defer func() { // also if the body of the loop panics
			leave()
			for range s.results { // wait for all
			}
		}()
		for r := range s.results {
			if !yield(r.Entry, r.err) {
				return
			}
		}
	}
}

// sending is the work for one loop over payments.
type sending struct {
	journal *Journal
	sender  journal.Sender
	places  *pause.Places
	running sync.WaitGroup
	results chan task
	left    func() bool // the caller has left the loop
}

// all sends the payments of tasks. looping ends with the loop.
func (s *sending) all(ctx, looping context.Context, tasks iter.Seq[task]) {
	forget := s.journal.remember(ctx, s.sender)
	defer forget()
	defer s.running.Wait()
	var resting []task
	for t := range tasks {
		switch {
		case s.left():
			return
		case t.recorded.Rests():
			resting = append(resting, t)
		default:
			s.start(ctx, looping, t)
		}
	}
	slices.SortStableFunc(resting, func(a, b task) int { return a.recorded.SentUntil().Compare(b.recorded.SentUntil()) })
	for _, t := range resting { // they wait aside
		s.start(ctx, looping, t)
	}
}

// start waits for a place, and begins to send a payment.
func (s *sending) start(ctx, looping context.Context, t task) {
	rests := t.recorded.Rests()
	s.places.Take(!rests)
	s.running.Go(func() {
		defer func() { s.places.Leave(t.err == nil || prepaid.OutcomeOf(t.err) == prepaid.OutcomeRejected) }()
		if rests { // a loop that is left does not wait for it
			_ = guard.Call(func() {
				_ = pause.Aside(s.places.With(looping), func(ctx context.Context) error { return t.recorded.Await(ctx, s.sender) })
			})
		}
		if s.left() {
			return
		}
		if unsafe := guard.Call(func() { t.err = t.send(s.places.With(ctx)) }); unsafe != nil {
			t.err = t.CallError(prepaid.OutcomeUnknown, fmt.Errorf("journalfile: sender: %w", unsafe))
		}
		if now, known, failed := s.journal.find(t.RequestID); known && failed == nil {
			t.Entry = now
		}
		s.results <- t
	})
}

func (j *Journal) resume(ctx context.Context, sender journal.Sender, p journal.Entry) error {
	e, known, leave, err := j.enter(ctx, p.RequestID)
	defer leave()
	switch why := e.NeedsPerson(time.Now()); {
	case err != nil:
		return p.NotSent(sender, err)
	case !known: // another call resolved the payment, and Compact dropped it
		return p.CallError(prepaid.OutcomeUnknown, journal.ErrNoPayment)
	case e.State == journal.StateDone:
		return nil
	case !e.State.Pending():
		return e.CallError(prepaid.OutcomeRejected, &journal.StateError{State: e.State, Event: journal.EventBegin})
	case why != nil:
		return e.NotSent(sender, why)
	}
	params, err := e.Open(j.options.Seal, j.options.DigestKey, e.Sealed)
	if err != nil {
		return e.NotSent(sender, err)
	}
	_, err = j.run(ctx, sender, e, params)
	return err
}
