// Package timed makes request IDs from the time and random values.
package timed

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"math/rand"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/cardprograms/prepaid"
)

type order struct {
	ID       string
	From, To prepaid.AccountID
	Amount   prepaid.Amount
}

func direct(ctx context.Context, c *prepaid.Client, o order) error {
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.RequestID(uuid.NewString()), // want `request ID made from a random value \(uuid.NewString\): a run that repeats the payment`
		Amount:    o.Amount, DestinationAccountID: o.To,
	})
	return err
}

func unixNano(ctx context.Context, c *prepaid.Client, o order) error {
	id := fmt.Sprintf("pay-%s-%d", o.ID, time.Now().UnixNano())
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.RequestID(id), // want `request ID made from the time \(time.Now\)`
		Amount:    o.Amount, DestinationAccountID: o.To,
	})
	return err
}

func stamp(now time.Time) string { return now.UTC().Format("20060102T150405.000") }

func local(c *prepaid.Client, w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	var params prepaid.TransferParams
	params.RequestID = prepaid.RequestID("web-" + stamp(start)) // want `made from the time`
	if _, err := c.Accounts.Transfer(r.Context(), "float", params); err != nil {
		http.Error(w, string(params.RequestID), http.StatusBadGateway)
	}
}

func token() string {
	var b [16]byte
	_, _ = crand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func helper(ctx context.Context, c *prepaid.Client, o order) error {
	params := prepaid.DirectEntryOutParams{RequestID: prepaid.RequestID(token()), Amount: o.Amount} // want `made from a random value \(timed.token\)`
	_, err := c.Accounts.DirectEntryOut(ctx, o.From, params)
	return err
}

type service struct {
	client *prepaid.Client
	random *rand.Rand
}

func (s *service) newID() prepaid.RequestID {
	return prepaid.RequestID("tx" + strconv.Itoa(s.random.Intn(1_000_000))) // want `made from a random value \(Intn\)`
}

func (s *service) pay(ctx context.Context, o order) error {
	_, err := s.client.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: s.newID(), Amount: o.Amount, DestinationAccountID: o.To,
	})
	return err
}

func text(ctx context.Context, c *prepaid.Client, o order) error {
	id := prepaid.RequestID(crand.Text()) // want `made from a random value \(rand.Text\)`
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To})
	return err
}

func toID[T ~string](s T) prepaid.RequestID { return prepaid.RequestID(s) }

func generic(ctx context.Context, c *prepaid.Client, o order) error {
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: toID(uuid.New().String()), Amount: o.Amount, DestinationAccountID: o.To, // want `made from a random value \(uuid.New\)`
	})
	return err
}

var newKey = uuid.NewString

func variable(ctx context.Context, c *prepaid.Client, o order, next func() string) error {
	make := uuid.NewString
	id := prepaid.RequestID(make()) // want `made from a random value \(uuid.NewString\)`
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To})
	return err
}

func must(ctx context.Context, c *prepaid.Client, o order) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	_, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.RequestID(id.String()), Amount: o.Amount, DestinationAccountID: o.To, // want `made from a random value \(uuid.NewV7\)`
	})
	return err
}

// The same for the same order.
func derived(ctx context.Context, c *prepaid.Client, o order) error {
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.RequestID(uuid.NewSHA1(uuid.Nil, []byte(o.ID)).String()), Amount: o.Amount, DestinationAccountID: o.To,
	})
	return err
}

// Next to something that differs from payment to payment.
func ofForm(c *prepaid.Client, w http.ResponseWriter, r *http.Request) {
	id := prepaid.RequestID(fmt.Sprintf("%s-%d", r.FormValue("order"), time.Now().UnixNano())) // want `made from the time`
	if _, err := c.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{RequestID: id}); err != nil {
		http.Error(w, string(id), http.StatusBadGateway)
	}
}

func ofQueue(ctx context.Context, c *prepaid.Client, day prepaid.Date, orders <-chan order) error {
	o := <-orders
	id := prepaid.DeriveRequestID(day, o.ID, uuid.NewString()) // want `made from a random value`
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id})
	return err
}

// What the service returns is its own.
func ofService(ctx context.Context, c *prepaid.Client, o order) error {
	list := prepaid.ListTransactionsParams{From: time.Now().Add(-time.Hour)}
	page, err := c.Accounts.TransactionsPage(ctx, o.From, list)
	if err != nil {
		return err
	}
	_, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: prepaid.RequestID(page.Items[0].ID)})
	return err
}
