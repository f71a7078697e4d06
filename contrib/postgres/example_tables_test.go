package prepaidpg_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/webhook"
)

// Give the files to your own migration tool.
func ExampleMigrations() {
	for _, m := range prepaidpg.Migrations() {
		fmt.Println(m.Version, m.Name)
	}
	// Output:
	// 1 0001_payments.sql
	// 2 0002_server.sql
	// 3 0003_sendable.sql
}

// Request a payroll in one transaction, and report which lines to correct.
func ExampleStore_EnqueueBatch() {
	// lines yields the payments of a file, or an error.
	request := func(ctx context.Context, pool *pgxpool.Pool, store *prepaidpg.Store, lines iter.Seq2[journal.Payment, error]) error {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			added, err := store.EnqueueBatch(ctx, tx, lines)
			fmt.Println(added, "new payments")
			return err
		})
		if refused, ok := errors.AsType[*prepaidpg.BatchError](err); ok {
			for _, fault := range refused.Faults {
				fmt.Println("line", fault.Index+1, fault.Err)
			}
		}
		return err
	}
	_ = request
}

// Each night, move payments that were settled more than 90 days ago out of the workers' table.
func ExampleStore_Archive() {
	archive := func(ctx context.Context, store *prepaidpg.Store) error {
		moved, err := store.Archive(ctx, time.Now().AddDate(0, 0, -90))
		fmt.Println(moved, "payments archived")
		return err
	}
	_ = archive
}

// Book a message and mark it as handled in one transaction, so that it is booked exactly once.
func ExampleClaims_DoneTx() {
	receiver := func(pool *pgxpool.Pool, verifier webhook.Verifier) (*webhook.Handler, error) {
		claims, err := prepaidpg.NewClaims(pool, "", webhook.ClaimOptions{})
		if err != nil {
			return nil, err
		}
		return webhook.NewHandler(webhook.Config{
			Verifier: verifier, Claims: claims,
			OnTransaction: func(ctx context.Context, m *prepaid.Message) error {
				err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, "insert into to_read (message) values ($1)", m.ID); err != nil {
						return err
					}
					return claims.DoneTx(ctx, tx, webhook.ClaimID(m))
				})
				if errors.Is(err, webhook.ErrClaimLost) {
					return nil // already booked
				}
				return err
			},
		})
	}
	_ = receiver
}

// Options are checked at once; Postgres need not run yet.
func ExampleNewClaims() {
	_, err := prepaidpg.NewClaims(nil, "", webhook.ClaimOptions{Keep: -time.Hour})
	fmt.Println(err)
	// Output: prepaid: invalid input: pool is required; keep must be at least 1 ms
}
