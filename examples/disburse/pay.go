package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// rounds is how often the file is read: for new payments, then for unknown ones, each after its wait, and last for
// those still unknown and, if requested, refused ones: no number of refusals keeps an unknown outcome from being
// settled.
const rounds = 3

var (
	errInterrupted = errors.New("interrupted, no further payment was started")
	errTooMany     = errors.New("stopped: too many payments in a row failed")
)

// payer pays the rows of a list.
type payer struct {
	job     *job
	list    *list
	journal *journal.Journal
	sender  journal.Sender
	began   time.Time
	grace   time.Duration // for running payments after an interruption
	booking time.Duration // by which a history may be late
	onPaid  func()
	onRead  func() // a transaction of a history
	onRound func(round int)
	report  func(error)

	streak atomic.Int64 // failed payments since the last successful one

	mu        sync.Mutex
	changed   map[prepaid.RequestID]bool // differ from what was first sent
	elsewhere map[prepaid.RequestID]bool // the service returned another payment than the row's
	unseen    map[prepaid.RequestID]bool // reported as paid, and in no history yet
	trouble   error                      // error of the last failed payment

	resolved int // payments recorded as paid by a person; counted by tally
}

// pay sends the due payments until all are settled, ctx ends, or an error forbids to continue, which it returns. It
// waits for running payments: the journal records how they ended.
func (p *payer) pay(ctx context.Context) error {
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
		case <-sending.Done():
			return
		}
		p.report(fmt.Errorf("interrupted: waiting for running payments, at most %s", p.grace))
		select {
		case <-time.After(p.grace):
			cut() // what it cuts off is recorded as unknown
		case <-sending.Done():
		}
	})
	defer watch.Wait()
	defer cut()
	for round := range rounds {
		p.onRound(round)
		taking, stop := context.WithCancelCause(ctx)
		due, err := p.round(taking, sending, round, stop)
		cause := context.Cause(taking)
		stop(nil)
		switch {
		case ctx.Err() != nil:
			return errInterrupted
		case err != nil || cause != nil:
			return errors.Join(cause, err)
		case due == 0 && round > 0 && !p.job.retryRefused:
			return nil
		}
	}
	return nil
}

// round reads the file once and returns how many payments were due.
func (p *payer) round(taking, sending context.Context, round int, stop context.CancelCauseFunc) (due int, err error) {
	queue := make(chan payment)
	var workers sync.WaitGroup
	for range p.job.workers {
		workers.Go(func() {
			for next := range queue {
				if p.rest(taking, next) {
					p.payOne(sending, next, stop)
				}
			}
		})
	}
	defer workers.Wait()
	defer close(queue)
	for next, err := range p.list.payments() {
		if err != nil {
			return due, err
		}
		if !p.due(next, round) {
			continue
		}
		due++
		select {
		case queue <- next:
		case <-taking.Done():
		}
		if taking.Err() != nil {
			return due, nil
		}
	}
	return due, nil
}

// due reports whether a row belongs to this round. Unknown outcomes come after new payments, since the journal makes
// them wait. What an earlier run saw refused comes last, once, and only if requested.
func (p *payer) due(next payment, round int) bool {
	id := p.job.requestID(next)
	e, known := p.journal.Get(id)
	switch {
	case !known:
		return true
	case p.isMarked(p.changed, id):
		return false
	case isUnknown(e):
		return round > 0
	case e.State == journal.StateRejected:
		return p.job.retryRefused && round == rounds-1 && e.Changed.Before(p.began)
	}
	return e.State == journal.StateNotSent
}

// rest waits until the journal would send a payment of unknown outcome, and returns false if the run was stopped
// meanwhile: the journal itself would wait with the context of running payments.
func (p *payer) rest(taking context.Context, next payment) bool {
	at := p.journal.NotBefore(p.sender, p.job.requestID(next))
	return sleep(taking, time.Until(at)) && taking.Err() == nil
}

func (p *payer) payOne(ctx context.Context, next payment, stop context.CancelCauseFunc) {
	params := p.job.params(next)
	before, _ := p.journal.Get(params.RequestID)
	_, err := p.journal.Transfer(ctx, p.sender, p.job.float, params)
	if err == nil {
		p.streak.Store(0)
		p.onPaid()
		return
	}
	p.mu.Lock()
	p.trouble = err
	p.mu.Unlock()
	if errors.Is(err, journal.ErrNotRecorded) { // nothing more can be sent safely
		stop(err)
		return
	}
	if changed, ok := errors.AsType[*journal.ChangedError](err); ok {
		p.mark(p.changed, params.RequestID)
		wrong := &rowError{line: next.line}
		wrong.add(changedFields(changed), "differs from what was first sent under this key; not sent")
		p.report(wrong)
	}
	if before.State == journal.StateRejected && prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		return // nothing new
	}
	if p.streak.Add(1) >= int64(p.job.stopAfter) {
		stop(fmt.Errorf("%w (-stop-after %d)", errTooMany, p.job.stopAfter))
	}
}

func (p *payer) mark(rows map[prepaid.RequestID]bool, id prepaid.RequestID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows[id] = true
}

func (p *payer) isMarked(rows map[prepaid.RequestID]bool, id prepaid.RequestID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rows[id]
}
