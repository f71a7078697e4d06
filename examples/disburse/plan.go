package main

import (
	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// plan compares the file with the journal before anything is sent.
type plan struct {
	paid     journal.Total // by earlier runs: not sent again
	unknown  journal.Total // may have been paid: sent again under the same request ID, which prevents a second payment
	rejected journal.Total // refused by earlier runs: tried again only with -retry-refused
	fresh    journal.Total // never sent, or certainly not processed
	lost     journal.Total // paid or unknown, and not in the file
	left     prepaid.Amount
	resumed  bool // the journal has entries
}

// makePlan compares each row with the payment that the journal has under its key, and adds changed rows to l.faults.
func makePlan(job *job, l *list, j *journal.Journal) (pl plan, err error) {
	here := make(map[prepaid.RequestID]bool)
	for _, row := range l.rows {
		id := job.requestID(row)
		here[id] = true
		e, known := j.Get(id)
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
		if err := addTo(total, row.amount); err != nil {
			return pl, err
		}
		again, err := journal.NewEntry(prepaid.Secret{}, job.float, job.params(row))
		if err == nil && known {
			err = e.Match(again)
		}
		if err != nil {
			l.fault(row.line, err.Error())
		}
	}
	for e := range j.All() {
		pl.resumed = true
		if !here[e.RequestID] && (e.State == journal.StateDone || isUnknown(e)) {
			if err := addTo(&pl.lost, e.Amount); err != nil {
				return pl, err
			}
		}
	}
	if err := j.Err(); err != nil { // the journal was not read to the end
		return pl, err
	}
	if pl.left, err = l.total.Sum.Sub(pl.paid.Sum); err == nil && !job.retryRefused {
		pl.left, err = pl.left.Sub(pl.rejected.Sum)
	}
	return pl, err
}

func isUnknown(e journal.Entry) bool {
	return e.State == journal.StateUnknown || e.State == journal.StateIntended
}
