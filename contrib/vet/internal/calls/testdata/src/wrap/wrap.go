// Package wrap has functions that pay what they are given, and others. // want package:"uses the SDK"
package wrap

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

type Order struct {
	ID      prepaid.RequestID
	Account prepaid.AccountID
	Params  prepaid.TransferParams
}

type Service struct {
	client *prepaid.Client
	next   Order
	failed map[prepaid.RequestID]error
}

func ByParams(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error { // want ByParams:`kind 1, key 2 "RequestID", error 0, result -1$`
	_, err := client.Accounts.Transfer(ctx, "a", params)
	return err
}

func ByID(ctx context.Context, client *prepaid.Client, id prepaid.RequestID) (*prepaid.TransferResult, error) { // want ByID:`kind 1, key 2 "", error 1, result 0`
	params := prepaid.TransferParams{RequestID: id}
	result, err := client.Accounts.Transfer(ctx, "a", params)
	if err != nil {
		return nil, fmt.Errorf("pay %s: %w", id, err)
	}
	return result, nil
}

func (s *Service) Pay(ctx context.Context, order Order) error { // want Pay:`kind 1, key 1 "ID", error 0`
	var params prepaid.TransferParams
	params.Amount = order.Params.Amount
	params.RequestID = order.ID
	_, err := s.client.Accounts.Transfer(ctx, order.Account, params)
	return errors.Join(err)
}

func (s *Service) Nested(ctx context.Context, order *Order) error { // want Nested:`kind 1, key 1 "Params.RequestID", error 0`
	_, err := s.client.Accounts.Transfer(ctx, order.Account, order.Params)
	return err
}

func (s *Service) Value(ctx context.Context, order Order) error { // want Value:`kind 1, key 1 "Params.RequestID", error 0`
	return s.Nested(ctx, &order)
}

// The receiver has what is paid, and the caller gives no request ID.
func (s *Service) Next(ctx context.Context) error { // want Next:`kind 1, key -1 "", error 0`
	return s.Pay(ctx, s.next)
}

func OwnID(ctx context.Context, client *prepaid.Client, amount prepaid.Amount) error { // want OwnID:`kind 1, key -1 "", error 0`
	return ByParams(ctx, client, prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: amount})
}

func Recorded(ctx context.Context, s *Service, params prepaid.TransferParams) error { // want Recorded:`kind 1, key 2 "RequestID", error 0, result -1, recorded`
	err := ByParams(ctx, s.client, params)
	s.failed[params.RequestID] = err
	return err
}

func Asked(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error { // want Asked:`kind 1, key 2 "RequestID", error 0, result -1$`
	err := ByParams(ctx, client, params)
	if errors.Is(err, prepaid.ErrTransferFailed) || prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		return fmt.Errorf("rejected: %w", err)
	}
	return err
}

func Generic[P prepaid.PaymentParams](ctx context.Context, s journal.Sender, params P) error { // want Generic:`kind 1, key 2 "RequestID", error 0`
	_, err := journal.Run{}.Send(ctx, s, params)
	return err
}

func Funded(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) { // want Funded:`kind 2, key -1 "", error 1, result 0`
	return client.Funding.Redeem(ctx, params)
}

func Either(ctx context.Context, client *prepaid.Client, order Order, other prepaid.RequestID, first bool) error { // want Either:`kind 1, key -1 ""`
	params := order.Params
	if !first {
		params.RequestID = other
	}
	return ByParams(ctx, client, params)
}

// Handled returns another error, and what became of the payment is for itself to know.
func Handled(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	if err := ByParams(ctx, client, params); err != nil {
		log.Print(err)
		return errors.New("failed")
	}
	return nil
}

// Own pays nothing that it was given.
func Own(ctx context.Context, client *prepaid.Client) error {
	_, err := client.Accounts.Transfer(ctx, "a", prepaid.TransferParams{RequestID: prepaid.NewRequestID()})
	return err
}

func Checked(ctx context.Context, params prepaid.TransferParams) error { return params.Validate() }
