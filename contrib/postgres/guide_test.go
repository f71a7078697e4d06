package prepaidpg

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// The queries of the guide are valid on the tables of this version.
func TestGuideQueries(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	queries := guideQueries(t)
	require.NotEmpty(t, queries)
	for _, query := range queries {
		var arguments []any
		if strings.Contains(query, "$1") {
			arguments = append(arguments, "order 7")
		}
		_, err := pool.Exec(t.Context(), query, arguments...)
		require.NoError(t, err, query)
	}
}

// guideQueries returns the SQL of the guide.
func guideQueries(t *testing.T) (queries []string) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/payments-at-scale.md")
	require.NoError(t, err)
	for _, found := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		queries = append(queries, found[1])
	}
	return queries
}

// guideQuery returns the guide's query that begins with start.
func guideQuery(t *testing.T, start string) string {
	t.Helper()
	queries := guideQueries(t)
	i := slices.IndexFunc(queries, func(query string) bool { return strings.HasPrefix(query, start) })
	require.GreaterOrEqual(t, i, 0, start)
	return queries[i]
}

// The limits of the guide bind each payment that is enqueued, also by a role that may not change the sums.
func TestGuideLimits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	find := func(start string) string { return guideQuery(t, start) }
	role := "shop_" + strings.ToLower(rand.Text())
	s.exec(find("create table orders") + "create role " + role + "; grant select, insert, update (state) on orders to " + role + "; grant usage on schema prepaid to " + role +
		"; grant all on all tables in schema prepaid to " + role + "; grant usage on all sequences in schema prepaid to " + role)
	t.Cleanup(func() {
		_, err := s.pool.Exec(context.WithoutCancel(t.Context()), "drop owned by "+role+"; drop role "+role)
		require.NoError(t, err)
	})
	order := func(payee prepaid.AccountID, amount string, ids ...string) error {
		return pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "set local role "+role)
			if err == nil {
				_, err = s.EnqueueBatch(t.Context(), tx, func(yield func(journal.Payment, error) bool) {
					for _, id := range ids {
						p := transfer(id)
						p.DestinationAccountID, p.Amount = payee, prepaid.MustAmount(amount)
						yield(journal.Payment{Account: "EA1", Params: p}, nil)
					}
				})
			}
			if err == nil {
				_, err = tx.Exec(t.Context(), "insert into orders (id, account_id, amount) select unnest($1::text[]), $2, $3 on conflict do nothing", ids, payee, amount)
			}
			if err == nil { // as Settled in the README does
				_, err = tx.Exec(t.Context(), "update orders set state = 'done' where request_id = $1", "other")
			}
			return err
		})
	}
	refused := func(err error) {
		t.Helper()
		found, _ := errors.AsType[*pgconn.PgError](err)
		require.NotNil(t, found, err)
		require.Equal(t, "23514", found.Code)
	}

	refused(order("EA2", "500.01", "large"))
	_, err := s.Get(t.Context(), transfer("large").RequestID)
	require.ErrorIs(t, err, journal.ErrNoPayment)
	results := make(chan error)
	for i := range 8 {
		go func() { results <- order("EA2", "500", strconv.Itoa(i)) }()
	}
	taken := 0
	for range 8 {
		if err := <-results; err != nil {
			refused(err)
			continue
		}
		taken++
	}
	require.Equal(t, 4, taken)
	refused(order("EA3", "500", "a", "b", "c", "d", "e"))
	for range 2 { // known orders do not count again
		require.NoError(t, order("EA3", "500", "a", "b", "c", "d"))
	}
	refused(order("EA3", "0.01", "f"))
	require.NoError(t, pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), find("update payee_days"), transfer("a").RequestID)
		return errors.Join(err, s.Withdraw(t.Context(), tx, transfer("a").RequestID))
	}))
	require.NoError(t, order("EA3", "500", "g"))
}
