package journalfile

import (
	"cmp"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/journal"
)

// operationOpen is the operation of a record that is no payment. Open adds one if an earlier process died during payments: it can have
// sent them until this process got the lock. The record is written at once, so that the wait does not begin again when the file is
// opened again.
const operationOpen = "journalfile.Open"

// openingRecord has the form of an entry: an earlier version of this package takes it for a withdrawn payment, and opens the file.
func openingRecord(now time.Time) journal.Entry {
	return journal.Entry{RequestID: operationOpen, Operation: operationOpen, State: journal.StateWithdrawn, Changed: now}
}

// openings are the records of Open, in the order of the file and of their times.
type openings []opening

type opening struct {
	at   int64 // where the record begins in the file
	time time.Time
}

// add adds an opening. If the clock was set back, earlier openings get its time: a wait must not become longer.
func (o openings) add(at int64, now time.Time) openings {
	for i := len(o) - 1; i >= 0 && o[i].time.After(now); i-- {
		o[i].time = now
	}
	return append(o, opening{at, now})
}

// bound returns the entry that is recorded at an offset as bounded by the first opening after it, and reports whether that changed it.
func (o openings) bound(e journal.Entry, at int64) (journal.Entry, bool) {
	i, _ := slices.BinarySearchFunc(o, at, func(o opening, at int64) int { return cmp.Compare(o.at, at) })
	if i == len(o) {
		return e, false
	}
	return bounded(e, o[i].time)
}

// bounded corrects the last time at which e can have been sent, and reports whether it had to: a missing time becomes
// now, and so does a future time (a clock was set back). No run of e may be in progress.
func bounded(e journal.Entry, now time.Time) (journal.Entry, bool) {
	switch {
	case e.State.Open() && (e.NotBefore.IsZero() || e.LastSent.IsZero()):
		return e.Died(now, e.Rest), true
	case e.Rests() && e.SentUntil().After(now):
		return e.Died(now, max(e.NotBefore.Sub(e.LastSent), 0)), true
	}
	return e, false
}
