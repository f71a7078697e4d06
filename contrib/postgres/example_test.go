package prepaidpg_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
)

// Open the store in every process, with keys from your secret store.
func ExampleOpen() {
	open := func(ctx context.Context, pool *pgxpool.Pool, digestKey prepaid.Secret, sealKey []byte) (*prepaidpg.Store, error) {
		if err := prepaidpg.Migrate(ctx, pool, ""); err != nil {
			return nil, err
		}
		aead, err := journal.NewAEAD(sealKey)
		if err != nil {
			return nil, err
		}
		return prepaidpg.Open(ctx, pool, prepaidpg.Options{DigestKey: digestKey, Seal: aead})
	}
	_ = open
}

// Write an order and request its payment in one transaction.
func ExampleStore_Enqueue() {
	type order struct {
		ID      string
		Day     prepaid.Date
		Amount  prepaid.Amount
		Account prepaid.AccountID
	}
	accept := func(ctx context.Context, pool *pgxpool.Pool, store *prepaidpg.Store, float prepaid.AccountID, order order) error {
		id := prepaid.DeriveRequestID(order.Day, "payout", order.ID)
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "insert into orders (id, request_id, state) values ($1, $2, 'open')", order.ID, id)
			if err != nil {
				return err
			}
			return store.Enqueue(ctx, tx, float, prepaid.TransferParams{
				RequestID: id, Amount: order.Amount,
				SourceReference: "PAYOUT", DestinationReference: "PAYOUT", DestinationAccountID: order.Account,
				Type: prepaid.TransferTypeLoad, // from a float account; zero means card to card
			})
		})
	}
	_ = accept
}

// Send payments until ctx ends, as after SIGTERM, and update the orders.
func ExampleStore_Run() {
	work := func(ctx context.Context, store *prepaidpg.Store, client *prepaid.Client) error {
		return store.Run(ctx, client.Accounts, prepaidpg.Workers{
			Grace: 20 * time.Second, // less than what the system grants after SIGTERM
			Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
				state := string(e.State)
				if e.Review != "" {
					state = "review"
				}
				_, err := tx.Exec(ctx, "update orders set state = $2 where request_id = $1", e.RequestID, state)
				return err
			},
		})
	}
	_ = work
}

// List the payments for which a person must decide, and record the decision with the books.
func ExampleStore_Resolve() {
	review := func(ctx context.Context, store *prepaidpg.Store) error {
		for e, err := range store.Waiting(ctx) {
			if err != nil {
				return err
			}
			fmt.Println(e.RequestID, e.AccountID, e.Amount, e.Review, "sent between", e.FirstSent, "and", e.LastSent)
		}
		return nil
	}
	decide := func(ctx context.Context, pool *pgxpool.Pool, store *prepaidpg.Store, id prepaid.RequestID, found prepaid.TransactionID) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if err := store.Resolve(ctx, tx, id, journal.Moved(found)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "update orders set state = 'done' where request_id = $1", id)
			return err
		})
	}
	_, _ = review, decide
}

// Report the payments that need attention, a few times a minute.
func ExampleStore_Stats() {
	report := func(ctx context.Context, store *prepaidpg.Store) error {
		stats, err := store.Stats(ctx)
		if err != nil {
			return err
		}
		fmt.Println(stats.Queued.Count, stats.Unknown.Count, stats.Waiting, stats.Unsettled, stats.OldestQueued, stats.OldestUnknown)
		return nil
	}
	_ = report
}
