// Package postgres is the public API of the SDK's package as far as the rules need it, without bodies and without pgx.
package postgres

import (
	"context"
	"iter"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Tx stands for pgx.Tx.
type Tx interface{ Commit(context.Context) error }

type (
	Store   struct{ _ int }
	Workers struct{ N int }
	Payment struct {
		Account prepaid.AccountID
		Params  prepaid.PaymentParams
	}
)

func (*Store) Enqueue(context.Context, Tx, prepaid.AccountID, prepaid.PaymentParams) error {
	return nil
}
func (*Store) EnqueueBatch(context.Context, Tx, iter.Seq2[Payment, error]) (int, error) {
	return 0, nil
}
func (*Store) Resolve(context.Context, Tx, prepaid.RequestID, journal.Resolution) error { return nil }
func (*Store) Retry(context.Context, Tx, prepaid.RequestID) error                       { return nil }
func (*Store) Withdraw(context.Context, Tx, prepaid.RequestID) error                    { return nil }
func (*Store) All(context.Context) iter.Seq2[journal.Entry, error]                      { return nil }
func (*Store) Run(context.Context, journal.Sender, Workers) error                       { return nil }
