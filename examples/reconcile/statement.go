package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
)

const (
	pageSize = 500 // the service may apply another
	readings = 3   // per account that changes while it is read
)

// statement is the activity of one account within the window. Its size is the same for any number of transactions.
type statement struct {
	id       prepaid.AccountID
	opening  prepaid.Amount // before the window, as reported by the service
	credits  prepaid.Amount
	debits   prepaid.Amount // negative
	fees     prepaid.Amount // negative if fees were charged
	closing  prepaid.Amount // after the window, as reported by the service
	items    int
	currency string
	again    int    // readings discarded because the account changed
	problem  string // empty if the account reconciles
	unread   bool   // no field but problem is set
}

// unexplained is the closing balance minus everything else: the result should be zero.
func (s *statement) unexplained() (prepaid.Amount, error) {
	rest := s.closing
	for _, part := range []prepaid.Amount{s.opening, s.credits, s.debits, s.fees} {
		var err error
		if rest, err = rest.Sub(part); err != nil {
			return rest, err
		}
	}
	return rest, nil
}

// movement returns the effect of a transaction on the balance in two parts: the fee is charged in addition. The
// reference does not say so. If that is wrong, the first transaction with a fee does not reconcile: then change
// this function.
func movement(t *prepaid.Transaction) (amount, fee prepaid.Amount) {
	return t.Amount, t.FeeAmount.Neg()
}

// reader reads accounts one by one.
type reader struct {
	accounts *prepaid.AccountsService
	days     window
	rows     *rowFile
}

// errMoved: the readings are of different moments.
var errMoved = errors.New("the account changed while it was read")

// read creates the statement of an account, and writes its rows. If the account changes during the reading, the reading is
// discarded and repeated. An account that the service refuses to return is a problem of that account; every other error ends
// the run.
func (r *reader) read(ctx context.Context, id prepaid.AccountID) (*statement, error) {
	mark, err := r.rows.mark()
	if err != nil {
		return nil, err
	}
	unread := &statement{id: id, unread: true}
	for ; unread.again < readings; unread.again++ {
		s := &statement{id: id, again: unread.again}
		err := r.readOnce(ctx, s)
		if err == nil {
			return s, nil
		}
		if err := r.rows.rewind(mark); err != nil {
			return nil, err
		}
		switch {
		case errors.Is(err, errMoved), errors.Is(err, prepaid.ErrListIncomplete):
		case ctx.Err() == nil && prepaid.OutcomeOf(err) == prepaid.OutcomeRejected:
			unread.problem = "cannot be read: " + err.Error()
			return unread, nil
		default:
			return nil, err
		}
	}
	unread.problem = fmt.Sprintf("changed during each of %d readings, or not all of its transactions are listed", readings)
	return unread, nil
}

// readOnce reads opening balance, transactions and closing balance, in this order, and then counts. If nothing happened
// meanwhile, the count equals the transactions read plus those after the window.
func (r *reader) readOnce(ctx context.Context, s *statement) (err error) {
	if s.opening, err = r.openingBalance(ctx, s.id); err != nil {
		return err
	}
	check := checker{statement: s, balance: s.opening}
	params := prepaid.ListTransactionsParams{
		From: r.days.from(), Before: r.days.end(), Paging: prepaid.Paging{Size: pageSize, Prefetch: 2},
	}
	for t, err := range r.accounts.Transactions(ctx, s.id, params) {
		if err == nil {
			err = errors.Join(check.next(t), r.rows.write(t))
		}
		if err != nil {
			return err
		}
	}
	later, closing, err := r.closingBalance(ctx, s.id)
	if err != nil {
		return err
	}
	all, _, err := r.first(ctx, s.id, prepaid.ListTransactionsParams{From: r.days.from()})
	if err != nil {
		return err
	}
	if s.items+later != all {
		return errMoved
	}
	s.closing = closing
	check.finish()
	return nil
}

// openingBalance returns the balance after the last transaction before the window; zero if there is none.
func (r *reader) openingBalance(ctx context.Context, id prepaid.AccountID) (prepaid.Amount, error) {
	params := prepaid.ListTransactionsParams{Before: r.days.from(), Paging: prepaid.Paging{Size: 1}}
	page, err := r.accounts.TransactionsPage(ctx, id, params)
	if err != nil {
		return prepaid.Amount{}, err
	}
	// Pages start with the oldest. A page with only transactions at the window's exact start is empty: the service
	// counts them, and Before excludes them.
	for params.Paging.Page = page.TotalPages; params.Paging.Page > 1; params.Paging.Page-- {
		last, err := r.accounts.TransactionsPage(ctx, id, params)
		if err != nil {
			return prepaid.Amount{}, err
		}
		if n := len(last.Items); n > 0 {
			return last.Items[n-1].RunningBalance, nil
		}
	}
	if n := len(page.Items); n > 0 {
		return page.Items[n-1].RunningBalance, nil
	}
	return prepaid.Amount{}, nil
}

// closingBalance returns the balance before the first transaction after the window or, if there is none, the account's
// current balance. later is the number of transactions after the window.
func (r *reader) closingBalance(ctx context.Context, id prepaid.AccountID) (later int, closing prepaid.Amount, err error) {
	later, first, err := r.first(ctx, id, prepaid.ListTransactionsParams{From: r.days.end()})
	if err != nil {
		return 0, closing, err
	}
	if first == nil {
		account, err := r.accounts.Summary(ctx, id)
		if err != nil {
			return 0, closing, err
		}
		return later, account.Balance, nil
	}
	amount, fee := movement(first)
	if closing, err = first.RunningBalance.Sub(amount); err == nil {
		closing, err = closing.Sub(fee)
	}
	return later, closing, err
}

// first returns the number of transactions, and the first of them.
func (r *reader) first(ctx context.Context, id prepaid.AccountID, params prepaid.ListTransactionsParams) (int, *prepaid.Transaction, error) {
	params.Paging = prepaid.Paging{Size: 1}
	page, err := r.accounts.TransactionsPage(ctx, id, params)
	if err != nil || len(page.Items) == 0 {
		return 0, nil, err
	}
	return page.TotalItems, &page.Items[0], nil
}

// checker follows a statement from one transaction to the next.
type checker struct {
	*statement

	balance prepaid.Amount // as last reported by the service
	at      time.Time
}

// next adds a transaction. The first error found is the statement's problem: it may cause later ones.
func (c *checker) next(t *prepaid.Transaction) error {
	amount, fee := movement(t)
	sum := &c.credits
	if amount.Sign() < 0 {
		sum = &c.debits
	}
	var err [4]error
	var expected prepaid.Amount
	*sum, err[0] = sum.Add(amount)
	c.fees, err[1] = c.fees.Add(fee)
	expected, err[2] = c.balance.Add(amount)
	expected, err[3] = expected.Add(fee)
	if err := errors.Join(err[:]...); err != nil {
		return err
	}
	if c.items == 0 {
		c.currency = t.AmountCurrency
	}
	switch {
	case c.problem != "":
	case t.OccurredAt.Before(c.at):
		c.problem = fmt.Sprintf("transaction %s is listed after a later one", t.ID)
	case t.AmountCurrency != c.currency || t.RunningBalanceCurrency != c.currency || t.FeeAmountCurrency != c.currency:
		c.problem = fmt.Sprintf("transaction %s is in another currency", t.ID)
	case t.RunningBalance != expected:
		c.problem = fmt.Sprintf("%s with transaction %s", offBy(t.RunningBalance, expected), t.ID)
	}
	c.items++
	c.balance, c.at = t.RunningBalance, t.OccurredAt
	return nil
}

// finish compares the result of the transactions with the closing balance.
func (c *checker) finish() {
	if c.problem == "" && c.balance != c.closing {
		c.problem = offBy(c.closing, c.balance) + " after the last transaction"
	}
}

func offBy(got, want prepaid.Amount) string {
	off, err := got.Sub(want)
	if err != nil {
		return "the balance is far off"
	}
	if off.Sign() > 0 {
		return "the balance is " + off.String() + " too high"
	}
	return "the balance is " + off.Abs().String() + " too low"
}
