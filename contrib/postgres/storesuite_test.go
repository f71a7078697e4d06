package prepaidpg

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/storetest"
)

// A process that dies leaves only its commits.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t testing.TB) storetest.Subject {
		pool := newPool(t)
		open := func(t testing.TB) journal.Store {
			s, err := Open(t.Context(), pool, Options{DigestKey: storetest.DigestKey(), Seal: storetest.Seal()})
			require.NoError(t, err)
			return s
		}
		s := open(t).(*Store)
		return storetest.Subject{
			Store: s,
			Enqueue: func(t testing.TB, account prepaid.AccountID, params prepaid.TransferParams) {
				require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, account, params) }))
			},
			Get: func(t testing.TB, id prepaid.RequestID) journal.Entry {
				e, err := s.Get(t.Context(), id)
				require.NoError(t, err)
				return e
			},
			Restart: open,
			Remove: func(t testing.TB, id prepaid.RequestID) {
				_, err := pool.Exec(t.Context(), "delete from prepaid.payments where request_id = $1", id)
				require.NoError(t, err)
			},
		}
	})
}
