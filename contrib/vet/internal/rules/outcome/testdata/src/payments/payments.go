// Package payments wraps the SDK for other packages.
package payments

import (
	"context"
	"fmt"

	"github.com/cardprograms/prepaid"
)

type Order struct {
	ID     prepaid.RequestID
	Amount prepaid.Amount
}

type Service struct{ Client *prepaid.Client }

func (s *Service) Pay(ctx context.Context, order Order) error {
	if err := s.send(ctx, order); err != nil {
		return fmt.Errorf("order: %w", err)
	}
	return nil
}

func (s *Service) send(ctx context.Context, order Order) error {
	params := prepaid.TransferParams{Amount: order.Amount}
	params.RequestID = order.ID
	_, err := s.Client.Accounts.Transfer(ctx, "a", params)
	return err
}

type Balance struct{ Amount prepaid.Amount }
