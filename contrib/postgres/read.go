package prepaidpg

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Get returns the entry of a request ID, also of an archived payment. Its times are Postgres's. A payment that a worker holds is
// intended or unknown.
//
// Errors: [journal.ErrNoPayment], those of the database.
func (s *Store) Get(ctx context.Context, id prepaid.RequestID) (journal.Entry, error) {
	var e journal.Entry
	err := scan(s.pool.QueryRow(ctx, s.sql.Replace(getSQL), id), &e)
	if errors.Is(err, pgx.ErrNoRows) {
		err = journal.ErrNoPayment
	}
	if err != nil {
		return journal.Entry{}, failure("get", err)
	}
	return e, nil
}

// All iterates over all payments in the order of their request IDs, archived ones included. It reads them in pages, so a
// payment that changes meanwhile may be seen before or after that. An error ends it.
func (s *Store) All(ctx context.Context) iter.Seq2[journal.Entry, error] {
	return s.list(ctx, "all", allSQL)
}

// Waiting iterates over the payments for which a person must decide, in the order of their request IDs: sending them again
// would not settle them. [journal.Entry].Review says why. If the outcome is unknown, look at the account's history, then call
// [Store.Resolve]. A rejected one (the client knows another payment under its request ID) is for [Store.Withdraw] or [Store.Retry].
func (s *Store) Waiting(ctx context.Context) iter.Seq2[journal.Entry, error] {
	return s.list(ctx, "waiting", waitingSQL)
}

// page is how many payments one query of an iteration reads.
const page = 500

func (s *Store) list(ctx context.Context, step, query string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		after := prepaid.RequestID("")
		for {
			rows, _ := s.pool.Query(ctx, s.sql.Replace(query), after, page) // CollectRows returns the error
			list, err := pgx.CollectRows(rows, collectEntry)
			if err != nil {
				yield(journal.Entry{}, failure(step, err))
				return
			}
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
				after = e.RequestID
			}
			if len(list) < page {
				return
			}
		}
	}
}
