// Package payments pays for callers that it does not know.
package payments

import (
	"context"

	"github.com/cardprograms/prepaid"

	"made/factory"
)

type Service struct {
	config prepaid.Config
	client *prepaid.Client
}

func (s *Service) Pay(ctx context.Context, params prepaid.TransferParams) error { // want Pay:"uses clients"
	client, err := prepaid.NewClient(s.config) // want `a client is made for each call of Pay: each client fetches a token.*#client$`
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.Accounts.Transfer(ctx, "float", params)
	return err
}

func Refund[P any](ctx context.Context, id prepaid.AccountID, note P) error {
	client, err := factory.New() // want `a client is made for each call of Refund`
	if err != nil {
		return err
	}
	_, err = client.Funding.Refund(ctx, prepaid.RefundFundingParams{AccountID: id})
	return err
}

// With its settings as a parameter: the caller knows how often it is called.
func Once(ctx context.Context, config prepaid.Config, params prepaid.TransferParams) error { // want Once:"makes a client for each call"
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	_, err = client.Accounts.Transfer(ctx, "float", params)
	return err
}

// All are paid by one client.
func All(ctx context.Context, config prepaid.Config, payments []prepaid.TransferParams) error { // want All:"makes a client for each call"
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	for _, p := range payments {
		if _, err := client.Accounts.Transfer(ctx, "float", p); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) lazy(ctx context.Context, params prepaid.TransferParams) error { // want lazy:"uses clients"
	if s.client == nil {
		client, err := prepaid.NewClient(s.config)
		if err != nil {
			return err
		}
		s.client = client
	}
	_, err := s.client.Accounts.Transfer(ctx, "float", params)
	return err
}
