// Package pay wraps the client.
package pay

import (
	"context"

	"github.com/cardprograms/prepaid"
)

type Service struct{ Client *prepaid.Client }

func (s *Service) Pay(ctx context.Context, from prepaid.AccountID, params prepaid.TransferParams) error {
	_, err := s.Client.Accounts.Transfer(ctx, from, params)
	return err
}
