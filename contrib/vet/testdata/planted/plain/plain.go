// Package plain: plain functions.
package plain

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/google/uuid"
)

func params(order string, amount prepaid.Amount) prepaid.TransferParams {
	return prepaid.TransferParams{Amount: amount, DestinationAccountID: "EA2", SourceReference: order, DestinationReference: order}
}

type order struct {
	ID     string
	Amount prepaid.Amount
}

func GoodPayAll(ctx context.Context, c *prepaid.Client, orders []order) error {
	var errs []error
	for _, o := range orders {
		p := params(o.ID, o.Amount)
		p.RequestID = prepaid.NewRequestID()
		if _, err := c.Accounts.Transfer(ctx, "EA1", p); err != nil {
			errs = append(errs, fmt.Errorf("order %s: %w", o.ID, err))
			continue
		}
	}
	return errors.Join(errs...)
}

func BadClockID(ctx context.Context, c *prepaid.Client, o order) error {
	p := params(o.ID, o.Amount)
	id := fmt.Sprintf("%s-%d", o.ID, time.Now().UnixNano())
	p.RequestID = prepaid.RequestID(id) // want: requestid
	_, err := c.Accounts.Transfer(ctx, "EA1", p)
	return err
}

func BadUUID(ctx context.Context, c *prepaid.Client, o order) error {
	p := params(o.ID, o.Amount)
	p.RequestID = prepaid.RequestID(uuid.New().String()) // want: requestid
	_, err := c.Accounts.Transfer(ctx, "EA1", p)
	return err
}

func BadRead(ctx context.Context, c *prepaid.Client, o order) error {
	p := params(o.ID, o.Amount)
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return err
	}
	p.RequestID = prepaid.RequestID(hex.EncodeToString(b[:])) // want: requestid
	_, err := c.Accounts.Transfer(ctx, "EA1", p)
	return err
}

func GoodDerived(ctx context.Context, c *prepaid.Client, o order, day prepaid.Date) error {
	p := params(o.ID, o.Amount)
	p.RequestID = prepaid.DeriveRequestID(day, "order", o.ID)
	start := time.Now()
	_, err := c.Accounts.Transfer(ctx, "EA1", p)
	log.Printf("paid %s in %s: %v", p.RequestID, time.Since(start), err)
	return err
}

func BadToday(ctx context.Context, c *prepaid.Client, o order) error {
	p := params(o.ID, o.Amount)
	p.RequestID = prepaid.RequestID("order-" + o.ID + "-" + time.Now().Format("2006-01-02")) // want: requestid
	_, err := c.Accounts.Transfer(ctx, "EA1", p)
	return err
}

func BadDrop(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) string {
	result, _ := c.Accounts.Transfer(ctx, "EA1", p) // want: outcome
	if result == nil {
		return ""
	}
	return string(result.TransactionID)
}

func BadCompared(ctx context.Context, c *prepaid.Client, p prepaid.DirectEntryOutParams) bool {
	_, err := c.Accounts.DirectEntryOut(ctx, "EA1", p) // want: outcome
	if err != nil {
		log.Println("payout failed")
		return false
	}
	return true
}

func GoodCompared(ctx context.Context, c *prepaid.Client, p prepaid.DirectEntryOutParams) bool {
	_, err := c.Accounts.DirectEntryOut(ctx, "EA1", p)
	if err != nil {
		log.Println("payout failed", err)
		return false
	}
	return true
}

func BadOverwritten(ctx context.Context, c *prepaid.Client, a, b prepaid.TransferParams) error {
	_, err := c.Accounts.Transfer(ctx, "EA1", a) // want: outcome
	_, err = c.Accounts.Transfer(ctx, "EA1", b)
	return err
}

// Reads only the ID of the result, which a decline does not have.
func BadRedeemID(ctx context.Context, c *prepaid.Client, p prepaid.RedeemFundingParams) (prepaid.TransactionID, error) {
	r, err := c.Funding.Redeem(ctx, p) // want: funding
	if err != nil {
		return "", err
	}
	return r.TransactionID, nil
}

func GoodRedeemSwitch(ctx context.Context, c *prepaid.Client, p prepaid.RedeemFundingParams) (prepaid.TransactionID, error) {
	r, err := c.Funding.Redeem(ctx, p)
	if err != nil {
		return "", err
	}
	switch r.Outcome {
	case prepaid.FundingOutcomeApproved:
		return r.TransactionID, nil
	default:
		return "", errors.New("declined")
	}
}

func BadRows(report *prepaid.ReportReader) (n int) {
	for range report.Rows() { // want: iterator
		n++
	}
	return n
}

func BadSum(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) (sum prepaid.Amount, _ error) {
	for t, err := range c.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) { // want: iterator
		if err != nil {
			continue
		}
		if sum, err = sum.Add(t.Amount); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func BadLargest(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) (largest *prepaid.Transaction) {
	for t, err := range c.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) { // want: iterator
		if err == nil && t.Reference != "" {
			largest = t
		}
	}
	return largest
}

func GoodHistory(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) (all []*prepaid.Transaction, failed error) {
	for t, err := range c.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			failed = err
			break
		}
		all = append(all, t)
	}
	return all, failed
}

func BadPaid(ctx context.Context, c *prepaid.Client, id prepaid.AccountID, reference string) (bool, error) {
	for t, err := range c.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) { // want: iterator
		if err != nil {
			log.Println("no history")
			return false, nil
		}
		if t.Reference == reference {
			return true, nil
		}
	}
	return false, nil
}

func GoodPaid(ctx context.Context, c *prepaid.Client, id prepaid.AccountID, reference string) (paid, complete bool) {
	for t, err := range c.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		if err != nil {
			return paid, false
		}
		paid = paid || t.Reference == reference
	}
	return paid, true
}
