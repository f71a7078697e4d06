// Package right has nothing to report.
package right

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

type order struct {
	ID        string
	From, To  prepaid.AccountID
	Amount    prepaid.Amount
	RequestID prepaid.RequestID
}

type store interface {
	Save(ctx context.Context, order string, params prepaid.TransferParams) error
	Paid(ctx context.Context, order string) (bool, error)
	Next(ctx context.Context) (*order, error)
}

// One call.
func once(ctx context.Context, c *prepaid.Client, o order) error {
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
	})
	return err
}

// A loop over payments, each stored before the call.
func stored(ctx context.Context, c *prepaid.Client, s store, orders []order) error {
	for _, o := range orders {
		params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
		if err := s.Save(ctx, o.ID, params); err != nil {
			return err
		}
		if _, err := c.Accounts.Transfer(ctx, o.From, params); err != nil {
			slog.Error("not paid", "order", o.ID, "err", err)
			continue
		}
	}
	return nil
}

// One that ends with the first payment.
func first(ctx context.Context, c *prepaid.Client, orders []order) error {
	for _, o := range orders {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if err == nil {
			return nil
		}
	}
	return errors.New("none")
}

// The ID is made before the loop.
func before(ctx context.Context, c *prepaid.Client, o order) (err error) {
	id := prepaid.NewRequestID()
	for range 3 {
		_, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To})
		if err == nil {
			return nil
		}
	}
	return err
}

// A loop over payments, with attempts that have the ID of the first.
func inner(ctx context.Context, c *prepaid.Client, orders []order) error {
	for _, o := range orders {
		params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
		for attempt := 0; attempt < 3; attempt++ {
			if _, err := c.Accounts.Transfer(ctx, o.From, params); err == nil {
				break
			}
			time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		}
	}
	return nil
}

// Only the first attempt makes it.
func lazy(ctx context.Context, c *prepaid.Client, o *order) (err error) {
	var id prepaid.RequestID
	for range 3 {
		if id == "" {
			id = prepaid.NewRequestID()
		}
		if _, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To}); err == nil {
			return nil
		}
	}
	return err
}

func lazyField(ctx context.Context, c *prepaid.Client, o *order) (err error) {
	for range 3 {
		if o.RequestID == "" {
			o.RequestID = prepaid.NewRequestID()
		}
		if _, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: o.RequestID, Amount: o.Amount, DestinationAccountID: o.To}); err == nil {
			return nil
		}
	}
	return err
}

func atFirst(ctx context.Context, c *prepaid.Client, o *order) (err error) {
	var id prepaid.RequestID
	for attempt := 0; attempt < 3; attempt++ {
		if attempt == 0 {
			id = prepaid.NewRequestID()
		}
		if _, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To}); err == nil {
			return nil
		}
	}
	return err
}

// The ID comes from the business, and the day.
func derived(ctx context.Context, c *prepaid.Client, o order, payday prepaid.Date) (err error) {
	for range 3 {
		id := prepaid.DeriveRequestID(payday, "payroll", o.ID)
		if _, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To}); err == nil {
			return nil
		}
	}
	return err
}

// A new ID after proof that the first one moved nothing.
func rejected(ctx context.Context, c *prepaid.Client, o order) error {
	for {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
			time.Sleep(time.Hour)
			continue
		}
		return err
	}
}

func refused(err error) bool {
	call, ok := errors.AsType[*prepaid.CallError](err)
	return ok && (call.Outcome == prepaid.OutcomeRejected || call.Outcome == prepaid.OutcomeNotProcessed)
}

func rejectedByFunction(ctx context.Context, c *prepaid.Client, o order) error {
	for {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if refused(err) {
			continue
		}
		return err
	}
}

func failed(ctx context.Context, c *prepaid.Client, o order) error {
	for {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if !errors.Is(err, prepaid.ErrTransferFailed) {
			return err
		}
		params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
		if _, err := c.Accounts.Transfer(ctx, o.From, params); prepaid.OutcomeOf(err) != prepaid.OutcomeUnknown && err != nil {
			params.RequestID = prepaid.NewRequestID()
			_, err = c.Accounts.Transfer(ctx, o.From, params)
			return err
		}
	}
}

// What another package says of the error may be the proof.
type judge interface{ MayRepeat(err error) bool }

func judged(ctx context.Context, c *prepaid.Client, j judge, o order) error {
	for {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if !j.MayRepeat(err) {
			return err
		}
	}
}

// It asks whether the payment is made.
func asks(ctx context.Context, c *prepaid.Client, s store, o order) error {
	for attempt := 0; attempt < 3; attempt++ {
		if attempt > 0 {
			if paid, err := s.Paid(ctx, o.ID); paid || err != nil {
				return err
			}
		}
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if err == nil {
			return nil
		}
	}
	return errors.New("not paid")
}

// Rows, channels and queues are payments.
func rows(ctx context.Context, c *prepaid.Client, db *sql.DB, from prepaid.AccountID) error {
	rows, err := db.QueryContext(ctx, "select to_account, amount from payments")
	if err != nil {
		return err
	}
	defer rows.Close()
	params := prepaid.TransferParams{SourceReference: "pay", DestinationReference: "pay"}
	for rows.Next() {
		params.RequestID = prepaid.NewRequestID()
		if err := rows.Scan(&params.DestinationAccountID, &params.Amount); err != nil {
			return err
		}
		if _, err := c.Accounts.Transfer(ctx, from, params); err == nil {
			return nil
		}
	}
	return rows.Err()
}

func channel(ctx context.Context, c *prepaid.Client, orders <-chan order) error {
	for o := range orders {
		if err := once(ctx, c, o); err == nil {
			return nil
		}
	}
	for {
		o := <-orders
		if err := once(ctx, c, o); err == nil {
			return nil
		}
	}
}

func queue(ctx context.Context, c *prepaid.Client, s store, decoder *json.Decoder) error {
	for {
		o, err := s.Next(ctx)
		if err != nil {
			return err
		}
		if err := once(ctx, c, *o); err == nil {
			return nil
		}
	}
}

func decoded(ctx context.Context, c *prepaid.Client, decoder *json.Decoder) error {
	for {
		var o order
		if err := decoder.Decode(&o); err != nil {
			return err
		}
		if err := once(ctx, c, o); err == nil {
			return nil
		}
	}
}

func indexed(ctx context.Context, c *prepaid.Client, orders []order, byID map[string]order) error {
	for i := 0; i < len(orders); i++ {
		if err := once(ctx, c, orders[i]); err == nil {
			return nil
		}
	}
	for _, o := range byID {
		if err := once(ctx, c, o); err == nil {
			return nil
		}
	}
	return nil
}

func sliced(ctx context.Context, c *prepaid.Client, orders []order) error {
	for len(orders) > 0 {
		o := orders[0]
		orders = orders[1:]
		if err := once(ctx, c, o); err == nil {
			return nil
		}
	}
	return nil
}

type node struct {
	order
	next *node
}

func list(ctx context.Context, c *prepaid.Client, n *node) error {
	for ; n != nil; n = n.next {
		if err := once(ctx, c, n.order); err == nil {
			return nil
		}
	}
	return nil
}

// The same payment many times: a test of load.
func load(ctx context.Context, c *prepaid.Client, o order) {
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			if err := once(ctx, c, o); err != nil {
				slog.Error("load", "err", err)
			}
		})
	}
	for range 100 {
		if err := once(ctx, c, o); err != nil {
			return
		}
	}
	group.Wait()
}

// The ID of a header, or of a row. A text that was stored with the order.
func handler(c *prepaid.Client, s store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var o order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			http.Error(w, "body", http.StatusBadRequest)
			return
		}
		id := r.Header.Get("Idempotency-Key")
		if id == "" {
			id = strconv.FormatUint(rand.Uint64(), 16)
		}
		for range 2 {
			params := prepaid.TransferParams{RequestID: prepaid.RequestID(id), Amount: o.Amount, DestinationAccountID: o.To}
			if _, err := c.Accounts.Transfer(r.Context(), o.From, params); err == nil {
				return
			}
		}
	}
}

func business(ctx context.Context, c *prepaid.Client, db *sql.DB, o order) error {
	o.ID = strconv.FormatUint(rand.Uint64(), 16)
	if _, err := db.ExecContext(ctx, "insert into orders (id) values ($1)", o.ID); err != nil {
		return err
	}
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.RequestID("order-" + o.ID), Amount: o.Amount, DestinationAccountID: o.To,
	})
	return err
}

// A journal knows the ID.
func journaled(ctx context.Context, j *journalfile.Journal, c *prepaid.Client, params prepaid.TransferParams) (err error) {
	for range 3 {
		if _, err = j.Transfer(ctx, c.Accounts, "float", params); err == nil {
			return nil
		}
	}
	return err
}

// Two payments.
func both(ctx context.Context, c *prepaid.Client, o, fee order) error {
	if err := once(ctx, c, o); err != nil {
		return once(ctx, c, fee)
	}
	return nil
}
