package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// prove searches the history of the float account for each payment that the service reported as made. For a known request
// ID the service returns the cached response, whatever the params are. So if the journal is new, lost or swapped, that response
// may belong to an earlier payment with another amount or payee. The source reference has a hash of amount and payee.
//
// prove marks a row as stateEarlier if the history shows an earlier payment instead. It marks a row as stateUnseen if the history
// shows neither payment: this does not prove that no money moved.
func (d *disbursement) prove(ctx context.Context) error {
	open := make(map[string]payment)                // by source reference
	byID := make(map[prepaid.TransactionID]payment) // by the reported ID
	for _, row := range d.list.rows {
		e, _ := d.journal.Get(d.job.requestID(row))
		if e.State != journal.StateDone || e.Resolved { // an outcome that a person has resolved is final
			continue
		}
		open[d.job.sourceReference(row)], byID[e.TransactionID] = row, row
	}
	// If the journal was lost, an earlier payment is at most as old as its request ID may be. The additional day is for clocks that differ.
	from := d.job.date.Time(time.UTC).Add(-dayEarliest - 24*time.Hour)
	for look := range 2 {
		if len(open) == 0 {
			return nil
		}
		if look > 0 && !sleep(ctx, d.booking) { // the history may be late
			return errInterrupted
		}
		for item, err := range d.client.Accounts.Transactions(ctx, d.job.float, prepaid.ListTransactionsParams{
			From: from, Paging: prepaid.Paging{Size: 500, Prefetch: 1},
		}) {
			if err != nil {
				return fmt.Errorf("the history of the float account: %w", err)
			}
			d.compare(item, open, byID[item.ID])
		}
	}
	for _, row := range open {
		d.marks[d.job.requestID(row)] = stateUnseen
	}
	return nil
}

// compare finds the row of a history item and removes the row from open. reported is the row for which the service reported the
// item's ID.
func (d *disbursement) compare(item *prepaid.Transaction, open map[string]payment, reported payment) {
	if row, ok := open[item.Reference]; ok && item.Amount.Abs() == row.amount {
		delete(open, item.Reference)
		return
	}
	reference := d.job.sourceReference(reported)
	hash, own := strings.CutPrefix(item.Reference, d.job.ownReferences(reported))
	// A reference that the service truncated or rewrote does not identify a payment.
	own = own && item.Reference != reference && len(item.Reference) == len(reference) && strings.Trim(hash, "0123456789abcdef") == ""
	if _, ok := open[reference]; ok && own {
		delete(open, reference)
		d.marks[d.job.requestID(reported)] = stateEarlier
		fmt.Fprintf(d.errOut, "line %d: the service returned transaction %s, an earlier payment under this key with another amount or account\n",
			reported.line, item.ID)
	}
}
