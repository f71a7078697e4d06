package journalfile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// key is a request ID in the index: half of its SHA-256. No two IDs are expected to have equal keys; reading the record
// would detect them.
type key [sha256.Size / 2]byte

func keyOf(id prepaid.RequestID) key {
	sum := sha256.Sum256([]byte(id))
	return key(sum[:])
}

// place is where the current record of a payment is. It is small and has no pointers: there may be millions.
type place struct {
	at     int64
	length int32 // with its line feed
	state  int8  // its index in States
}

type located struct {
	key
	place
}

func locate(at int64, line []byte, e *journal.Entry) located {
	return located{keyOf(e.RequestID), place{at, int32(len(line)), int8(slices.Index(journal.States(), e.State))}} //nolint:gosec // both fit
}

// Get returns the entry of a request ID. If its record cannot be read, or the Journal is closed, the entry has only
// RequestID and State, and [Journal.Err] returns the reason.
func (j *Journal) Get(id prepaid.RequestID) (journal.Entry, bool) {
	e, known, _ := j.find(id)
	return e, known
}

// All iterates over the payments that exist when it is called, in the order of their records in the file. The loop gets each entry
// in its current form. If a record cannot be read, or the Journal is closed, the loop ends early: check [Journal.Err] then.
func (j *Journal) All() iter.Seq[journal.Entry] { return j.each(anyState, anyState) }

// Pending iterates over the entries still to be sent, see [journal.State.Pending]: run them again, or use [Journal.Resume]. A rejected
// payment is not pending, but another run sends it: call [Journal.Withdraw] if you pay some other way. Otherwise Pending is
// like [Journal.All].
func (j *Journal) Pending() iter.Seq[journal.Entry] {
	return j.each(journal.State.Pending, journal.State.Pending)
}

// Stats returns the current totals. Payments dropped by Compact are not counted.
//
// Errors: [prepaid.ErrAmountRange] if a sum has too many digits; the counts are correct nevertheless. Any other error
// is that of [Journal.Err]: the totals may be incomplete.
func (j *Journal) Stats() (journal.Stats, error) {
	var stats journal.Stats
	var failed error
	for e := range j.All() {
		total := stats.Of(e.State)
		total.Count++
		if sum, err := total.Sum.Add(e.Amount); err == nil {
			total.Sum = sum
		} else {
			failed = err
		}
	}
	return stats, cmp.Or(failed, j.Err())
}

func anyState(journal.State) bool { return true }

// each iterates over entries by two filters of states: wanted is applied at the call, still when the loop reaches the entry.
func (j *Journal) each(wanted, still func(journal.State) bool) iter.Seq[journal.Entry] {
	j.mu.Lock()
	all := make([]located, 0, len(j.index)) // does not grow: garbage would double the memory
	for k, p := range j.index {
		if wanted(journal.States()[p.state]) {
			all = append(all, located{k, p})
		}
	}
	j.mu.Unlock()
	slices.SortFunc(all, func(a, b located) int { return cmp.Compare(a.at, b.at) })
	return func(yield func(journal.Entry) bool) {
		for _, l := range all {
			e, known, err := j.read(l.key, "")
			if err != nil || known && still(e.State) && !yield(e) {
				return
			}
		}
	}
}

// find is Get with an error. If there is an error, the entry proves nothing.
func (j *Journal) find(id prepaid.RequestID) (journal.Entry, bool, error) {
	return j.read(keyOf(id), id)
}

// read returns the entry of a key. Unless id is empty, the record must be that of id. After an error nothing more is recorded or sent.
func (j *Journal) read(k key, id prepaid.RequestID) (e journal.Entry, known bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, known := j.index[k]
	if !known {
		return journal.Entry{}, false, nil
	}
	line := make([]byte, p.length)
	if !j.closed {
		_, err = j.file.ReadAt(line, p.at)
	} else {
		err = j.failed
	}
	ok := decode(bytes.TrimSuffix(line, []byte("\n")), &e)
	if (err == nil || errors.Is(err, io.EOF)) && (!ok || locate(p.at, line, &e) != located{k, p} || id != "" && e.RequestID != id) {
		err = &CorruptError{Offset: p.at} // the record has changed since it was read or written
	}
	if err != nil {
		return journal.Entry{RequestID: id, State: journal.States()[p.state]}, true, j.fail(err)
	}
	e, _ = j.opened.bound(e, p.at)
	return e, true, nil
}
