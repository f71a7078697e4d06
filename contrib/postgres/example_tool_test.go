package prepaidpg_test

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
)

// payOrder pays an order of the user, once, and returns the state of its payment. user is from the session.
func payOrder(ctx context.Context, pool *pgxpool.Pool, store *prepaidpg.Store, float, user prepaid.AccountID, order string) (string, error) {
	params := prepaid.TransferParams{
		Type: prepaid.TransferTypeLoad, SourceReference: "order " + order, DestinationReference: "order " + order,
	}
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		var day prepaid.Date
		row := tx.QueryRow(ctx, "select day, account_id, amount from orders where id = $1 and account_id = $2", order, user)
		if err := row.Scan(&day, &params.DestinationAccountID, &params.Amount); err != nil {
			return err
		}
		params.RequestID = prepaid.DeriveRequestID(day, "order", order)
		return store.Enqueue(ctx, tx, float, params)
	})
	if err != nil {
		return "", err
	}
	e, err := store.Get(ctx, params.RequestID)
	switch {
	case err != nil:
		return "", err
	case e.State == journal.StateDone:
		return "paid", nil
	case e.State.Pending():
		return "in progress", nil // also if unknown: it is no reason to pay some other way
	}
	return "refused", nil
}

// A tool with which an assistant cannot pay twice: its only argument is the ID of an order.
func ExampleStore_Enqueue_tool() {
	_ = payOrder
}
