package main

import (
	"fmt"
	"io"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// plan compares each row with the payment that the journal has under the row's key, before anything is sent. It returns
// the states of the rows, and refuses changed and missing rows.
func (d *disbursement) plan() (result, error) {
	here := make(map[prepaid.RequestID]bool)
	for _, row := range d.list.rows {
		params := d.job.params(row)
		here[params.RequestID] = true
		again, err := journal.NewEntry(prepaid.Secret{}, d.job.float, params)
		if e, known := d.journal.Get(params.RequestID); err == nil && known {
			err = e.Match(again)
		}
		if err != nil {
			d.list.fault(row.line, err.Error())
		}
	}
	if err := d.refuse("changed rows: %d; a corrected row needs a new key"); err != nil {
		return nil, err
	}
	var lost journal.Total
	for e := range d.journal.All() {
		d.resumed = true
		if state := stateOf(e); !here[e.RequestID] && (state == statePaid || state == stateUnknown) {
			if err := addTo(&lost, e.Amount); err != nil {
				return nil, err
			}
		}
	}
	if lost.Count > 0 {
		return nil, fmt.Errorf("%w: the journal has %d payments of %s that may have been made and are not in the file: "+
			"another run, date, environment or file, or rows were removed", errRefused, lost.Count, lost.Sum)
	}
	return d.result(io.Discard)
}
