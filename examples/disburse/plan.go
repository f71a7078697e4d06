package main

import (
	"context"
	"errors"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// plan compares the file with the journal before anything is sent.
type plan struct {
	paid     journal.Total // by earlier runs: not sent again
	unknown  journal.Total // may have been paid: sent again under the same request ID, so that nobody is paid twice
	rejected journal.Total // refused by earlier runs: tried again with -retry-refused only
	fresh    journal.Total // never sent, or certainly not processed
	lost     journal.Total // paid or unknown, and not in the file
	left     prepaid.Amount
	resumed  bool // the journal has entries
}

// makePlan compares each row with the journal and passes every changed row to report.
func makePlan(l *list, j *journal.Journal, report func(error)) (pl plan, faults int, err error) {
	for p, err := range l.payments() {
		if err != nil {
			return pl, faults, err
		}
		e, known := j.Get(l.job.requestID(p))
		if changed := changes(l, j, p, e, known); changed != nil {
			report(changed)
			faults++
			continue
		}
		total := &pl.fresh
		switch {
		case !known:
		case e.State == journal.StateDone:
			total = &pl.paid
		case isUnknown(e):
			total = &pl.unknown
		case e.State == journal.StateRejected:
			total = &pl.rejected
		}
		if err := addTo(total, p.amount); err != nil {
			return pl, faults, err
		}
	}
	for e := range j.All() {
		pl.resumed = true
		if _, here := l.rows[e.RequestID]; !here && (e.State == journal.StateDone || isUnknown(e)) {
			if err := addTo(&pl.lost, e.Amount); err != nil {
				return pl, faults, err
			}
		}
	}
	if err := j.Err(); err != nil { // it could not be read to its end
		return pl, faults, err
	}
	if pl.left, err = l.total.Sum.Sub(pl.paid.Sum); err == nil && !l.job.retryRefused {
		pl.left, err = pl.left.Sub(pl.rejected.Sum)
	}
	return pl, faults, err
}

// changes compares a row with the payment recorded under its key. The journal compares what it only has as a digest:
// here for a payment that is done, for any other before it is sent.
func changes(l *list, j *journal.Journal, p payment, e journal.Entry, known bool) *rowError {
	wrong := &rowError{line: p.line}
	const rule = "differs from what was first sent under this key"
	if known && e.AccountID != l.job.float {
		wrong.add("float account", rule)
	}
	if known && e.Amount != p.amount {
		wrong.add("amount", rule)
	}
	if len(wrong.faults) == 0 && known && e.State == journal.StateDone {
		_, err := j.Transfer(context.Background(), noSender{}, l.job.float, l.job.params(p))
		if changed, ok := errors.AsType[*journal.ChangedError](err); ok {
			wrong.add(changedFields(changed), rule)
		}
	}
	if len(wrong.faults) == 0 {
		return nil
	}
	return wrong
}

// changedFields names the columns.
func changedFields(changed *journal.ChangedError) string {
	return strings.NewReplacer("destination", "account_id", "params", "reference").Replace(strings.Join(changed.Fields, ", "))
}

func isUnknown(e journal.Entry) bool {
	return e.State == journal.StateUnknown || e.State == journal.StateIntended
}

// noSender is the sender while nothing may be sent.
type noSender struct{ journal.Sender }

// Transfer sends nothing and returns an error.
func (noSender) Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return nil, &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: errors.New("nothing is sent here")}
}
