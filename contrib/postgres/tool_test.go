package prepaidpg_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Two sessions of an assistant call the tool over and over, while the response to the payment is lost.
func TestToolPaysOnce(t *testing.T) {
	t.Parallel()
	x, srv := newBench(t, pgtest.Start(t, pgtest.Options{})), prepaidtest.NewServer(t, prepaidtest.Options{})
	float, user := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	_, err := x.pool.Exec(t.Context(), "drop table orders; create table orders (id text, day date, account_id text, amount numeric)")
	require.NoError(t, err)
	_, err = x.pool.Exec(t.Context(), "insert into orders values ('7', $1, $2, 25.50), ('8', $1, $2, 80)", prepaid.DateOf(time.Now().UTC()), user)
	require.NoError(t, err)
	for order, user := range map[string]prepaid.AccountID{"9": user, "7": "EA1"} { // no order, another user's
		_, err = payOrder(t.Context(), x.pool, x.store, float, user, order)
		require.ErrorIs(t, err, pgx.ErrNoRows)
	}

	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	ctx, stop := context.WithCancel(t.Context())
	worked, ended := make(chan error, 1), make(chan string, 2)
	until := func(order string) {
		state, err := "in progress", error(nil)
		for state == "in progress" && err == nil && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
			state, err = payOrder(ctx, x.pool, x.store, float, user, order)
		}
		ended <- state
	}
	go until("7")
	go until("7")
	go func() { worked <- x.store.Run(ctx, srv.Client().Accounts, prepaidpg.Workers{}) }()
	require.Equal(t, "paid", <-ended)
	require.Equal(t, "paid", <-ended)
	until("8") // for more than the balance
	require.Equal(t, "refused", <-ended)
	stop()
	require.NoError(t, <-worked)
	require.Equal(t, "25.50", srv.Balance(user))
}
