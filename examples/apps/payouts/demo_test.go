package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// newStage prepares a demonstration on an emulator of its own.
func newStage(t *testing.T, postgres *pgtest.Server) *demo {
	t.Helper()
	d, err := newDemo(t.Context(), postgres.URL())
	require.NoError(t, err)
	d.patience = 8 * time.Minute // on a busy machine, requests time out, and the store waits after many attempts
	t.Cleanup(func() { require.NoError(t, d.close()) })
	return d
}

func (d *demo) differences(t *testing.T) string {
	t.Helper()
	c, err := d.compare(t.Context())
	require.NoError(t, err)
	return strings.Join(c.differences, "\n")
}

// requireDifferences changes all compared data, one item after the other.
func (d *demo) requireDifferences(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := d.pool.Exec(ctx, statement, args...)
		require.NoError(t, err)
	}
	require.Empty(t, d.differences(t))

	const first, eighth = "000001", "000008"
	var request prepaid.RequestID
	require.NoError(t, d.pool.QueryRow(ctx, "select request_id from orders where id = $1", first).Scan(&request))
	payee := d.customers.payees[1]

	exec("update orders set state = 'rejected' where id = $1", first)
	require.Contains(t, d.differences(t), "order "+first+" is rejected in the books, and its payment is done")
	require.Contains(t, d.differences(t), "money moved for order "+first+", which is rejected")
	exec("update orders set state = 'done' where id = $1", first)

	exec("update postings set amount = amount + 0.01 where request_id = $1", request)
	require.Contains(t, d.differences(t), "the posting of order "+first+" is ")
	exec("update postings set amount = amount - 0.01 where request_id = $1", request)

	exec("update postings set account_id = 'another' where request_id = $1", request)
	require.Contains(t, d.differences(t), "the posting of order "+first+" is 0.00")
	exec("update postings set account_id = $2 where request_id = $1", request, payee)

	exec("update orders set amount = amount + 1 where id = $1", first)
	require.Contains(t, d.differences(t), "order "+first+" differs from what the customer posted")
	exec("update orders set amount = amount - 1 where id = $1", first)

	exec("update orders set id = 'another' where id = $1", first)
	require.Contains(t, d.differences(t), "order "+first+" was accepted and does not exist")
	require.Contains(t, d.differences(t), "money moved for order "+first+", which does not exist")
	require.Contains(t, d.differences(t), "order another was paid by the books, and no money moved")
	exec("update orders set id = $1 where id = 'another'", first)

	d.customers.refused[eighth] = true
	require.Contains(t, d.differences(t), "order "+eighth+" was rolled back and exists")
	delete(d.customers.refused, eighth)

	exec("insert into orders (id, account_id, amount, request_id, state) values ('left out', $1, 1, 'left out', 'ordered')", payee)
	require.Contains(t, d.differences(t), "order left out has no payment")
	exec("delete from orders where id = 'left out'")

	exec("delete from postings where request_id = $1", request)
	exec("update orders set request_id = 'other' where id = $1", first)
	require.Contains(t, d.differences(t), "payment "+string(request)+" has no order")
	exec("update orders set request_id = $2 where id = $1", first, request)
	require.Contains(t, d.differences(t), "the posting of order "+first+" is 0.00")
	exec("insert into postings (request_id, account_id, amount, transaction_id) select request_id, account_id, amount, '1' from orders where id = $1", first)
	require.Contains(t, d.differences(t), "order "+first+" is done in the books, and its payment is done", "in another transaction")

	client, err := prepaid.NewClient(d.config)
	require.NoError(t, err)
	d.emulator.Decide(nil)
	_, err = client.Accounts.Transfer(ctx, d.float, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(1), DestinationAccountID: payee, Type: prepaid.TransferTypeLoad,
		SourceReference: sourceReference(first), DestinationReference: "x",
	})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.Contains(t, d.differences(t), "order "+first+" was paid 2 times")
	require.Contains(t, d.differences(t), "0.01 moved for order "+first)

	c, err := d.compare(ctx)
	require.NoError(t, err)
	var out bytes.Buffer
	require.ErrorIs(t, c.print(&out), errDifferent)
	require.Contains(t, out.String(), "difference  order "+first+" was paid 2 times\n")
	require.NotContains(t, out.String(), "proven ")
}

// A failing hook prevents no payment and is reported.
func TestHookThatFails(t *testing.T) {
	t.Parallel()
	d := newStage(t, pgtest.Start(t, pgtest.Options{}))
	_, err := d.pool.Exec(t.Context(), "alter table postings add check (amount < 0)")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if s, err := d.store.Stats(ctx); err == nil && s.Unsettled == 9 {
				cancel()
			}
			sleep(ctx, 10*time.Millisecond)
		}
	}()
	require.ErrorIs(t, d.run(ctx, 10, io.Discard), context.Canceled)
	require.Contains(t, d.differences(t), "is ordered in the books, and its payment is done")
	c, err := d.compare(t.Context())
	require.NoError(t, err)
	require.Equal(t, 9, c.moved.Count)
}

// One transfer in ten fails, and nothing else.
func TestFaults(t *testing.T) {
	t.Parallel()
	failed := 0
	for n := range 400 {
		f := fault(t.Context(), prepaidtest.Arrival{Operation: "POST /accounts/{id}/transfer", Ordinal: n})
		if f != (prepaidtest.Fault{}) && !strings.HasPrefix(f.String(), "delay") {
			failed++
		}
	}
	require.Equal(t, 40, failed)
	require.Equal(t, prepaidtest.Fault{}, fault(t.Context(), prepaidtest.Arrival{Operation: "GET /accounts/{id}", Ordinal: 7}))
}
