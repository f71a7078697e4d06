package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cardprograms/prepaid/journal"
)

// temporary is the suffix of a summary that is being written. It is renamed when complete.
const temporary = ".tmp"

// The final states of a row.
const (
	statePaid     = "paid"
	stateRejected = "rejected"
	stateChanged  = "changed"
	stateEarlier  = "earlier"  // the service returned another payment, made earlier under the same key
	stateUnseen   = "not seen" // reported as paid, and in no history yet: that proves nothing
	stateNotSent  = "not sent"
	stateUnknown  = "unknown"
)

// codeResolved marks a row whose outcome was recorded by a person, not by the service.
const codeResolved = "resolved"

func states() []string {
	return []string{statePaid, stateRejected, stateChanged, stateEarlier, stateUnseen, stateNotSent, stateUnknown}
}

// result is the outcome of all rows, by state.
type result map[string]*journal.Total

// exitCode is 0 if all are paid, 1 if the rest is refused for good, 3 if running again may pay more.
func (r result) exitCode() int {
	switch {
	case r[stateUnseen].Count+r[stateNotSent].Count+r[stateUnknown].Count > 0:
		return exitUnfinished
	case r[stateRejected].Count+r[stateChanged].Count+r[stateEarlier].Count > 0:
		return exitRefused
	}
	return exitPaid
}

// standing returns the state of a row, with what the service returned for it. The journal alone decides: what it did
// not record has not happened.
func (p *payer) standing(row payment) (state, code string, e journal.Entry) {
	id := p.job.requestID(row)
	e, known := p.journal.Get(id)
	switch {
	case p.isMarked(p.elsewhere, id):
		return stateEarlier, "", e
	case p.isMarked(p.unseen, id):
		return stateUnseen, "", e
	case p.isMarked(p.changed, id) && isUnknown(e): // with its old content it may have been paid
		return stateUnknown, stateChanged, e
	case p.isMarked(p.changed, id):
		return stateChanged, "", e
	case !known || e.State == journal.StateNotSent:
		return stateNotSent, "", e
	case isUnknown(e):
		return stateUnknown, "", e
	case e.State == journal.StateDone && e.Resolved:
		return statePaid, codeResolved, e
	case e.State == journal.StateDone:
		return statePaid, "", e
	case e.Resolved:
		return stateRejected, codeResolved, e
	case e.Code == "" && e.CorrelationID != "":
		return stateRejected, "transfer_failed", e // a 200 that says that nothing moved
	}
	return stateRejected, string(e.Code), e
}

// writeSummary writes a line for each row and the totals, completely or not at all, and returns the totals.
func (p *payer) writeSummary(file *pendingFile) (result, error) {
	r := make(result)
	err := file.replace(func(w io.Writer) error {
		out := csv.NewWriter(w)
		_ = out.Write([]string{"line", "key", "amount", "state", "transaction_id", "code", "correlation_id", "request_id"})
		if err := p.tally(r, func(row payment, state, code string, e journal.Entry) {
			_ = out.Write([]string{
				strconv.Itoa(row.line), row.key, row.amount.String(), state, string(e.TransactionID), code, e.CorrelationID,
				string(p.job.requestID(row)),
			})
		}); err != nil {
			return err
		}
		for _, state := range states() {
			_ = out.Write([]string{"total", strconv.Itoa(r[state].Count), r[state].Sum.String(), state, "", "", "", ""})
		}
		out.Flush()
		return out.Error() // of all the writes before
	})
	return r, err
}

// tally adds up the states of the rows, and checks that they add up to the file.
func (p *payer) tally(r result, each func(row payment, state, code string, e journal.Entry)) error {
	for _, state := range states() {
		r[state] = new(journal.Total)
	}
	p.resolved = 0
	for row, err := range p.list.payments() {
		if err != nil {
			return err
		}
		state, code, e := p.standing(row)
		if state == statePaid && e.Resolved {
			p.resolved++
		}
		if err := addTo(r[state], row.amount); err != nil {
			return err
		}
		each(row, state, code, e)
	}
	var all journal.Total
	for _, total := range r {
		sum, err := all.Sum.Add(total.Sum)
		if err != nil {
			return err
		}
		all.Count, all.Sum = all.Count+total.Count, sum
	}
	if all != p.list.total {
		return errors.New("the result does not add up to the file")
	}
	return nil
}

// pendingFile is a file being written: its name refers to the old content or the complete new content, whenever the
// process dies. Leftovers of a killed process are overwritten: the journal's lock excludes a second writer.
type pendingFile struct {
	*os.File

	path string
	kept bool
}

// createFile opens the file under its temporary name. It fails if the file could not be renamed later.
func createFile(path string) (*pendingFile, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory", path)
	}
	file, err := os.OpenFile(path+temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &pendingFile{File: file, path: path}, nil
}

// discard removes the file, unless it was kept.
func (f *pendingFile) discard() {
	if !f.kept {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

// replace writes the file and renames it.
func (f *pendingFile) replace(write func(io.Writer) error) error {
	buffer := bufio.NewWriter(f)
	err := write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	f.kept = true
	if directory, err := os.Open(filepath.Dir(f.path)); err == nil {
		_ = directory.Sync() // if impossible, a power cut may bring back the old one
		_ = directory.Close()
	}
	return nil
}
