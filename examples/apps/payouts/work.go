package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid/journal"
)

const (
	updateOrder   = `update orders set state = $2 where request_id = $1`
	insertPosting = `insert into postings (request_id, account_id, amount, transaction_id)
select request_id, account_id, amount, $2 from orders where request_id = $1 on conflict do nothing`
)

// settled writes the outcome of a payment to the books, in the transaction that records the outcome. After a failure the
// store calls settled again: repeats are safe.
func settled(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
	updated, err := tx.Exec(ctx, updateOrder, e.RequestID, e.State)
	switch {
	case err != nil:
		return err
	case updated.RowsAffected() == 0:
		return errors.New("a payment without an order")
	case e.State == journal.StateDone:
		_, err = tx.Exec(ctx, insertPosting, e.RequestID, e.TransactionID)
	}
	return err
}
