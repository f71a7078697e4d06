package journal

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/pause"
)

// Resume sends all payments that are pending when the loop begins, without your list: the journal must have been opened with the
// [Options].Seal and DigestKey with which it was written. At most concurrency payments are in progress at a time; less than 1 means 1.
// One that must rest is sent when it may be, and holds up no other.
//
// The loop gets each payment once, in the order in which they end: its entry as it is recorded then, and its error as that of
// [Journal.Transfer]; nil means done. In addition to those:
//
//   - [ErrNoParams], [ErrKey] or [ErrSealed]: the params cannot be opened. Run your list again, or resolve the payment.
//   - [ErrWindow] or [prepaid.ErrRequestIDReused]: a person must decide, see [Entry.NeedsPerson].
//   - [ErrState]: another call settled the payment meanwhile, as rejected or withdrawn. [ErrNoPayment]: and Compact dropped it.
//   - The error of ctx, if it ended before the payment was sent.
//
// None of these has sent anything; [prepaid.OutcomeOf] reports what is known of earlier runs. If you leave the loop, no further
// payment is sent, and those in progress are waited for.
func (j *Journal) Resume(ctx context.Context, sender Sender, concurrency int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		looping, leave := context.WithCancel(ctx)
		due, results := make(chan pending), make(chan pending)
		var all sync.WaitGroup
		all.Go(func() {
			defer close(due)
			for _, p := range j.pendingByTime(sender) {
				_ = pause.For(looping, time.Until(p.at)) // if there is not enough time, the run reports it
				due <- p
			}
		})
		for range max(concurrency, 1) {
			all.Go(func() {
				for p := range due {
					if looping.Err() != nil && ctx.Err() == nil {
						continue // the loop was left
					}
					p.err = j.resume(ctx, sender, p)
					if now, known := j.Get(p.RequestID); known {
						p.Entry = now
					}
					results <- p
				}
			})
		}
		go func() { all.Wait(); close(results) }()
		defer func() { // also if the body of the loop panics
			leave()
			for range results { // until all have ended
			}
		}()
		for p := range results {
			if !yield(p.Entry, p.err) {
				return
			}
		}
	}
}

// pending is a payment that Resume sends, and what became of it.
type pending struct {
	Entry

	at  time.Time // when it may be sent
	err error
}

// pendingByTime returns the pending payments in the order in which they may be sent.
func (j *Journal) pendingByTime(sender Sender) []pending {
	var all []pending
	for e := range j.Pending() {
		all = append(all, pending{Entry: e, at: e.Earliest(sender, time.Now(), j.opened)})
	}
	slices.SortStableFunc(all, func(a, b pending) int { return a.at.Compare(b.at) })
	return all
}

// resume sends one payment from its sealed params.
func (j *Journal) resume(ctx context.Context, sender Sender, p pending) error {
	if err := ctx.Err(); err != nil {
		return p.notBegun(p.at, err)
	}
	leave, err := j.enter(ctx, p.RequestID)
	if err != nil {
		return p.notBegun(p.at, err)
	}
	defer leave()
	e, known := j.Get(p.RequestID)
	switch why := e.NeedsPerson(time.Now()); {
	case !known: // settled by another call, and dropped by Compact
		return p.failure(prepaid.OutcomeUnknown, ErrNoPayment)
	case e.State == StateDone:
		return nil
	case !e.State.Pending():
		return e.failure(prepaid.OutcomeRejected, &StateError{State: e.State, Event: EventBegin})
	case why != nil:
		return tooOld(e, e, why)
	}
	params, err := e.Open(j.options.Seal, j.options.DigestKey, e.Sealed)
	if err != nil {
		return e.notBegun(p.at, err)
	}
	_, err = j.run(ctx, sender, e, params)
	return err
}
