package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/cardprograms/prepaid/journal"
)

// temporary is the suffix of a summary that is being written. A complete summary is renamed.
const temporary = ".tmp"

// The states of a row.
const (
	statePaid     = "paid"
	stateRejected = "rejected"
	stateEarlier  = "earlier"  // the service returned another payment, made earlier under the same key
	stateUnseen   = "not seen" // reported as paid, but not in the history yet: this proves nothing
	stateNotSent  = "not sent"
	stateUnknown  = "unknown"
)

func states() []string {
	return []string{statePaid, stateRejected, stateEarlier, stateUnseen, stateNotSent, stateUnknown}
}

// result is the outcome of all rows, by state.
type result map[string]journal.Total

// stateOf returns the state of an entry. Only the journal decides: an event that is not recorded does not count.
func stateOf(e journal.Entry) string {
	switch e.State {
	case journal.StateDone:
		return statePaid
	case journal.StateRejected:
		return stateRejected
	case journal.StateUnknown, journal.StateIntended:
		return stateUnknown
	}
	return stateNotSent
}

// code returns the reason for the state of a row.
func code(e journal.Entry) string {
	switch {
	case e.Resolved:
		return "resolved" // a person, not the service, decided
	case e.State == journal.StateRejected && e.Code == "" && e.CorrelationID != "":
		return "transfer_failed" // a response with status 200 that reports that no money moved
	}
	return string(e.Code)
}

// result adds up the rows by state. It writes a line for each row and for each total.
func (d *disbursement) result(to io.Writer) (result, error) {
	r := make(result)
	out := csv.NewWriter(to)
	_ = out.Write([]string{"line", "key", "amount", "state", "transaction_id", "code", "correlation_id", "request_id"})
	for _, row := range d.list.rows {
		id := d.job.requestID(row)
		e, _ := d.journal.Get(id)
		state := cmp.Or(d.marks[id], stateOf(e))
		total := r[state]
		if err := addTo(&total, row.amount); err != nil {
			return nil, err
		}
		r[state] = total
		_ = out.Write([]string{
			strconv.Itoa(row.line), row.key, row.amount.String(), state, string(e.TransactionID), code(e), e.CorrelationID, string(id),
		})
	}
	for _, state := range states() {
		_ = out.Write([]string{"total", strconv.Itoa(r[state].Count), r[state].Sum.String(), state, "", "", "", ""})
	}
	out.Flush()
	return r, errors.Join(d.journal.Err(), out.Error()) // errors of earlier reads and writes
}

// replaceFile writes a file. Whenever the process dies, the file has the old or the complete new content.
// It overwrites the leftovers of a killed process: the lock of the journal excludes a second writer.
func replaceFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path+temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
