// Package wrapper has functions that pay.
package wrapper

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/cardprograms/prepaid"
)

type Order struct {
	ID       string
	From, To prepaid.AccountID
	Amount   prepaid.Amount
}

type Service struct {
	client *prepaid.Client
	store  interface {
		Save(ctx context.Context, order string, params prepaid.TransferParams) error
	}
}

// Pay makes an ID in each call.
func (s *Service) Pay(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, o.From, Params(o))
	if err != nil {
		return fmt.Errorf("pay: %w", err)
	}
	return nil
}

// Try says whether it has paid.
func (s *Service) Try(ctx context.Context, o Order) bool {
	return s.Pay(ctx, o) == nil
}

// Params has an ID of its own.
func Params(o Order) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
}

// PayAs takes the ID.
func (s *Service) PayAs(ctx context.Context, id prepaid.RequestID, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To})
	return err
}

// PayKey takes a text.
func (s *Service) PayKey(ctx context.Context, key string, o Order) error {
	return s.PayAs(ctx, prepaid.RequestID(key), o)
}

// PayOnce stores the order under its own number first, which it cannot do twice.
func (s *Service) PayOnce(ctx context.Context, o Order) error {
	params := Params(o)
	if err := s.store.Save(ctx, o.ID, params); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, o.From, params)
	return err
}

// Fallback pays in two ways at most.
func Fallback(ctx context.Context, c *prepaid.Client, o Order) error {
	return send(ctx, c, o, prepaid.RequestID(uuid.NewString())) // want `made from a random value`
}

func send(ctx context.Context, c *prepaid.Client, o Order, id prepaid.RequestID) error {
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To})
	return err
}
