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

// temporary is the end of the name under which a summary is written. It takes its own name when it is whole.
const temporary = ".tmp"

// How a row stands in the end.
const (
	statePaid     = "paid"
	stateRejected = "rejected"
	stateChanged  = "changed"
	stateEarlier  = "earlier"  // the service returned another payment, made under the same key before
	stateUnseen   = "not seen" // reported as paid, and in no history yet: that proves nothing
	stateNotSent  = "not sent"
	stateInDoubt  = "in doubt"
)

// codeResolved stands where a person said what became of a payment, and not the service.
const codeResolved = "resolved"

func states() []string {
	return []string{statePaid, stateRejected, stateChanged, stateEarlier, stateUnseen, stateNotSent, stateInDoubt}
}

// result is what became of the rows, by state.
type result map[string]*journal.Total

// exitCode is 0 when all are paid, 1 when the rest is refused for good, 3 when running again may pay more.
func (r result) exitCode() int {
	switch {
	case r[stateUnseen].Count+r[stateNotSent].Count+r[stateInDoubt].Count > 0:
		return exitUnfinished
	case r[stateRejected].Count+r[stateChanged].Count+r[stateEarlier].Count > 0:
		return exitRefused
	}
	return exitPaid
}

// standing is the state of a row, with what the service said of it. The journal alone decides: what was not recorded
// there has not happened.
func (p *payer) standing(row payment) (state, code string, e journal.Entry) {
	id := p.job.requestID(row)
	e, known := p.journal.Get(id)
	switch {
	case p.isMarked(p.elsewhere, id):
		return stateEarlier, "", e
	case p.isMarked(p.unseen, id):
		return stateUnseen, "", e
	case p.isMarked(p.changed, id) && inDoubt(e): // as it was, it may have been paid
		return stateInDoubt, stateChanged, e
	case p.isMarked(p.changed, id):
		return stateChanged, "", e
	case !known || e.State == journal.StateNotSent:
		return stateNotSent, "", e
	case inDoubt(e):
		return stateInDoubt, "", e
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

// writeSummary writes a line for each row and the totals, all of it or nothing, and returns the totals.
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

// tally adds up how the rows stand, and checks that they add up to the file.
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

// pendingFile is a file that is to be written: its name stands for the old content or the whole new one, whenever the
// process dies. What a killed one left is overwritten: the journal's lock keeps a second writer away.
type pendingFile struct {
	*os.File

	path string
	kept bool
}

// createFile opens the file under its temporary name. It fails where the file cannot take its own name later.
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

// replace writes the file and gives it its name.
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
		_ = directory.Sync() // where it cannot be done, a power cut may bring back the old one
		_ = directory.Close()
	}
	return nil
}
