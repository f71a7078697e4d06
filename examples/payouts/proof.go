package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// found is what the proof compared.
type found struct {
	orders, taken, refused, again int
	paid, rejected                journal.Total
	moved                         journal.Total // out of the float account, for orders
	accounts                      int           // whose balances were compared
	tally                         string
	took                          time.Duration
	differences                   []string
}

func (f *found) differ(format string, args ...any) {
	f.differences = append(f.differences, fmt.Sprintf(format, args...))
}

// booked is an order as the books have it.
type booked struct {
	id          string
	account     prepaid.AccountID
	amount      prepaid.Amount
	requestID   prepaid.RequestID
	state       journal.State
	transaction prepaid.TransactionID
	recorded    bool // a payment of the store was compared with it
	moved       int  // transactions in the history of the float account
}

// prove compares the orders with the responses to the customers, the payments, the history of the float account and, on the
// emulator, the balance of each account. It uses no counter of this program.
func (d *demo) prove(ctx context.Context) (*found, error) {
	f := &found{took: time.Since(d.began), tally: d.accidents()}
	if err := d.service.quiet(ctx); err != nil {
		return nil, err
	}
	orders, err := d.readOrders(ctx)
	if err != nil {
		return nil, err
	}
	d.compareCustomers(f, orders)
	for _, compare := range []func(context.Context, *found, map[string]*booked) error{d.comparePayments, d.compareHistory, d.compareBooks} {
		if err := compare(ctx, f, orders); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (d *demo) readOrders(ctx context.Context) (map[string]*booked, error) {
	rows, err := d.pool.Query(ctx, `select o.id, o.account_id, o.amount::text, o.request_id, o.state, coalesce(p.transaction_id, '')
		from orders o left join postings p using (request_id)`)
	if err != nil {
		return nil, err
	}
	orders := make(map[string]*booked)
	var o booked
	_, err = pgx.ForEachRow(rows, []any{&o.id, &o.account, &o.amount, &o.requestID, &o.state, &o.transaction}, func() error {
		orders[o.id] = new(o)
		return nil
	})
	return orders, err
}

// compareCustomers looks for orders that are not as the response to the customer said. Orders of earlier runs may exist too.
func (d *demo) compareCustomers(f *found, orders map[string]*booked) {
	f.orders = len(orders)
	f.taken, f.refused, f.again = d.customers.counts()
	for id, posted := range d.customers.accepted {
		switch o := orders[id]; {
		case o == nil:
			f.differ("order %s was accepted and does not exist", id)
		case o.account != posted.AccountID || o.amount != posted.Amount:
			f.differ("order %s differs from what the customer posted", id)
		}
	}
	for id := range d.customers.refused {
		if orders[id] != nil {
			f.differ("order %s was rolled back and exists", id)
		}
	}
}

// comparePayments compares each order with its payment.
func (d *demo) comparePayments(ctx context.Context, f *found, orders map[string]*booked) error {
	byRequest := make(map[prepaid.RequestID]*booked)
	for _, o := range orders {
		byRequest[o.requestID] = o
	}
	for e, err := range d.store.All(ctx) {
		if err != nil {
			return err
		}
		o := byRequest[e.RequestID]
		if o == nil {
			f.differ("payment %s has no order", e.RequestID)
			continue
		}
		o.recorded = true
		if o.state != e.State || o.amount != e.Amount || o.transaction != e.TransactionID {
			f.differ("order %s is %s in the books, and its payment is %s", o.id, o.state, e.State)
		}
		total := &f.paid
		switch e.State {
		case journal.StateDone:
		case journal.StateRejected:
			total = &f.rejected
		default:
			f.differ("the payment of order %s is %s", o.id, e.State)
			continue
		}
		if err := add(total, e.Amount); err != nil {
			return err
		}
	}
	for _, o := range orders {
		if !o.recorded {
			f.differ("order %s has no payment", o.id)
		}
	}
	return nil
}

// compareHistory looks for each order in the history of the float account.
func (d *demo) compareHistory(ctx context.Context, f *found, orders map[string]*booked) error {
	client, err := prepaid.NewClient(d.config)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // never fails
	for item, err := range client.Accounts.Transactions(ctx, d.float, prepaid.ListTransactionsParams{
		From: d.began.Add(-historyMargin), Paging: prepaid.Paging{Size: historyPage},
	}) {
		if err != nil {
			return fmt.Errorf("the history of the float account: %w", err)
		}
		id, ours := strings.CutPrefix(item.Reference, sourceReference(""))
		if !ours || !strings.HasPrefix(id, d.customers.run) {
			continue
		}
		o := orders[id]
		if o == nil {
			f.differ("money moved for order %s, which does not exist", id)
			continue
		}
		o.moved++
		if item.Amount.Abs() != o.amount {
			f.differ("%s moved for order %s, whose amount is %s", item.Amount.Abs(), id, o.amount)
		}
		if err := add(&f.moved, item.Amount.Abs()); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.customers.accepted)) {
		o := orders[id]
		switch {
		case o == nil: // reported above
		case o.moved == 0 && o.state == journal.StateDone:
			f.differ("order %s was paid by the books, and no money moved", id)
		case o.moved > 1:
			f.differ("order %s was paid %s", id, plural(o.moved, "time"))
		case o.moved == 1 && o.state != journal.StateDone:
			f.differ("money moved for order %s, which is %s", id, o.state)
		}
	}
	return nil
}

const (
	historyMargin = time.Hour // clocks differ
	historyPage   = 500
)

// compareBooks adds up the orders of each payee, and compares the sum with the postings and, on the emulator,
// with the account.
func (d *demo) compareBooks(ctx context.Context, f *found, orders map[string]*booked) error {
	sums := make(map[prepaid.AccountID]*journal.Total)
	for _, o := range orders {
		if sums[o.account] == nil {
			sums[o.account] = new(journal.Total)
		}
		if o.state == journal.StateDone {
			if err := add(sums[o.account], o.amount); err != nil {
				return err
			}
		}
	}
	rows, err := d.pool.Query(ctx, `select account_id, coalesce(sum(p.amount), 0)::text from payees left join postings p using (account_id) group by account_id`)
	if err != nil {
		return err
	}
	var payee prepaid.AccountID
	var paid prepaid.Amount
	_, err = pgx.ForEachRow(rows, []any{&payee, &paid}, func() error {
		sum := prepaid.Amount{}
		if total := sums[payee]; total != nil {
			sum = total.Sum
		}
		if sum != paid {
			f.differ("the orders of payee %s add up to %s, its postings to %s", payee, sum, paid)
		}
		d.compareBalance(f, payee, sum)
		return nil
	})
	if err != nil {
		return err
	}
	for _, stranger := range d.service.strangers {
		d.compareBalance(f, stranger, prepaid.Amount{})
	}
	return nil
}

func (d *demo) compareBalance(f *found, account prepaid.AccountID, want prepaid.Amount) {
	if d.service.emulator == nil {
		return // others may use the account
	}
	f.accounts++
	if has := d.service.emulator.Balance(account); has != want.String() {
		f.differ("account %s has %s, its orders add up to %s", account, has, want)
	}
}

func add(t *journal.Total, amount prepaid.Amount) (err error) {
	t.Count++
	t.Sum, err = t.Sum.Add(amount)
	return err
}

// accidents lists what went wrong on purpose.
func (d *demo) accidents() string {
	return fmt.Sprintf("%s, %s, %s of Postgres", plural(int(d.tally.kills.Load()), "kill"),
		plural(int(d.tally.freezes.Load()), "freeze"), plural(int(d.tally.crashes.Load()), "crash"))
}

// print prints what was compared, and returns the exit status.
func (f *found) print(out, errOut io.Writer) (int, error) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-11s "+format+"\n", append([]any{name}, args...)...)
	}
	fmt.Fprintln(out)
	row("accidents", "%s, in %.0f s", f.tally, f.took.Seconds())
	row("customers", "%s accepted, %d refused and rolled back, %d posted again", plural(f.taken, "order"), f.refused, f.again)
	row("books", "%s: %d paid, together %s; %d rejected", plural(f.orders, "order"), f.paid.Count, f.paid.Sum, f.rejected.Count)
	row("service", "%s out of the float account, together %s", plural(f.moved.Count, "payment"), f.moved.Sum)
	if f.accounts > 0 {
		row("balances", "%s compared with the books", plural(f.accounts, "account"))
	}
	for _, difference := range f.differences {
		fmt.Fprintln(errOut, "difference:", difference)
	}
	if len(f.differences) > 0 {
		return exitDifferent, fmt.Errorf("%s between orders, payments and accounts", plural(len(f.differences), "difference"))
	}
	row("proven", "each order is paid once, none is left out, none that was rolled back is paid; the books agree")
	return exitProven, nil
}

// plural formats a number with its noun.
func plural(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "sh"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
