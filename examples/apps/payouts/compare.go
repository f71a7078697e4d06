package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// errDifferent means that the comparison found differences.
var errDifferent = errors.New("orders, payments and accounts differ")

// comparison compares the orders with the responses to customers, the payments and the history of the float account.
// It uses no counter of this program.
type comparison struct {
	*demo

	booked         map[string]*booked // orders, by ID
	paid, rejected journal.Total
	moved          journal.Total // money that left the float account for orders
	differences    []string
}

// booked is an order with its posting.
type booked struct {
	id          string
	account     prepaid.AccountID
	amount      prepaid.Amount
	requestID   prepaid.RequestID
	state       journal.State
	posted      prepaid.Amount // zero without a posting
	transaction prepaid.TransactionID
	moved       int // transactions in the history of the float account
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// compare waits until the emulator handles no more requests, then compares everything.
func (d *demo) compare(ctx context.Context) (*comparison, error) {
	if err := d.emulator.WaitIdle(ctx); err != nil {
		return nil, err
	}
	c := &comparison{demo: d, booked: make(map[string]*booked)}
	if err := c.readOrders(ctx); err != nil {
		return nil, err
	}
	c.compareCustomers()
	if err := c.comparePayments(ctx); err != nil {
		return nil, err
	}
	return c, c.compareHistory(ctx)
}

func (c *comparison) readOrders(ctx context.Context) error {
	rows, err := c.pool.Query(ctx, `select o.id, o.account_id, o.amount::text, o.request_id, o.state,
		coalesce(p.amount, 0)::text, coalesce(p.transaction_id, '') from orders o left join postings p using (request_id, account_id)`)
	if err != nil {
		return err
	}
	var o booked
	_, err = pgx.ForEachRow(rows, []any{&o.id, &o.account, &o.amount, &o.requestID, &o.state, &o.posted, &o.transaction}, func() error {
		c.booked[o.id] = new(o)
		return nil
	})
	return err
}

// compareCustomers finds orders that contradict the response to the customer.
func (c *comparison) compareCustomers() {
	for id, posted := range c.customers.accepted {
		switch o := c.booked[id]; {
		case o == nil:
			c.differ("order %s was accepted and does not exist", id)
		case o.account != posted.AccountID || o.amount != posted.Amount:
			c.differ("order %s differs from what the customer posted", id)
		}
	}
	for id := range c.customers.refused {
		if c.booked[id] != nil {
			c.differ("order %s was rolled back and exists", id)
		}
	}
}

// comparePayments compares each order and its posting with the payment in the store.
func (c *comparison) comparePayments(ctx context.Context) error {
	byRequest := make(map[prepaid.RequestID]*booked)
	for _, o := range c.booked {
		byRequest[o.requestID] = o
	}
	for e, err := range c.store.All(ctx) {
		if err != nil {
			return err
		}
		o := byRequest[e.RequestID]
		delete(byRequest, e.RequestID)
		if o == nil {
			c.differ("payment %s has no order", e.RequestID)
			continue
		}
		if o.state != e.State || o.amount != e.Amount || o.transaction != e.TransactionID {
			c.differ("order %s is %s in the books, and its payment is %s", o.id, o.state, e.State)
		}
		want, total := prepaid.Amount{}, &c.rejected
		switch e.State {
		case journal.StateDone:
			want, total = e.Amount, &c.paid
		case journal.StateRejected:
		default:
			c.differ("the payment of order %s is %s", o.id, e.State)
			continue
		}
		if o.posted != want {
			c.differ("the posting of order %s is %s and must be %s", o.id, o.posted, want)
		}
		if err := add(total, e.Amount); err != nil {
			return err
		}
	}
	for _, o := range byRequest {
		c.differ("order %s has no payment", o.id)
	}
	return nil
}

// compareHistory searches the history of the float account for each order.
func (c *comparison) compareHistory(ctx context.Context) error {
	client, err := prepaid.NewClient(c.config)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // never fails
	for item, err := range client.Accounts.Transactions(ctx, c.float, prepaid.ListTransactionsParams{
		From: c.began.Add(-time.Hour), Paging: prepaid.Paging{Size: 500}, // an hour more: clocks differ
	}) {
		if err != nil {
			return fmt.Errorf("the history of the float account: %w", err)
		}
		id, ours := strings.CutPrefix(item.Reference, sourceReference(""))
		if !ours {
			continue
		}
		o := c.booked[id]
		if o == nil {
			c.differ("money moved for order %s, which does not exist", id)
			continue
		}
		o.moved++
		if item.Amount.Abs() != o.amount {
			c.differ("%s moved for order %s, whose amount is %s", item.Amount.Abs(), id, o.amount)
		}
		if err := add(&c.moved, item.Amount.Abs()); err != nil {
			return err
		}
	}
	for id, o := range c.booked {
		switch {
		case o.moved == 0 && o.state == journal.StateDone:
			c.differ("order %s was paid by the books, and no money moved", id)
		case o.moved > 1:
			c.differ("order %s was paid %d times", id, o.moved)
		case o.moved == 1 && o.state != journal.StateDone:
			c.differ("money moved for order %s, which is %s", id, o.state)
		}
	}
	return nil
}

func add(t *journal.Total, amount prepaid.Amount) (err error) {
	t.Count++
	t.Sum, err = t.Sum.Add(amount)
	return err
}

// print prints the result, and returns errDifferent if there are differences.
func (c *comparison) print(out io.Writer) error {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-11s "+format+"\n", append([]any{name}, args...)...)
	}
	row("customers", "%d orders accepted, %d refused and rolled back, %d posted again",
		len(c.customers.accepted), len(c.customers.refused), c.customers.again.Load())
	row("books", "%d orders: %d paid, together %s; %d rejected", len(c.booked), c.paid.Count, c.paid.Sum, c.rejected.Count)
	row("service", "%d payments out of the float account, together %s", c.moved.Count, c.moved.Sum)
	for _, difference := range c.differences {
		row("difference", "%s", difference)
	}
	if len(c.differences) > 0 {
		return errDifferent
	}
	row("proven", "each order is paid once, none is left out, none that was rolled back is paid; the books agree")
	return nil
}
