// Package service: methods of a service struct, as in most backends.
package service

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/cardprograms/prepaid"
	"github.com/cenkalti/backoff/v5"
)

type PayoutService struct {
	client *prepaid.Client
	log    *slog.Logger
	db     *sql.DB
	source prepaid.AccountID
}

type Payout struct {
	ID     string
	To     prepaid.AccountID
	Amount prepaid.Amount
	Key    prepaid.RequestID
}

func (s *PayoutService) params(p Payout) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: p.Amount, DestinationAccountID: p.To,
		SourceReference: p.ID, DestinationReference: p.ID,
	}
}

// The ID is made in a helper.
func (s *PayoutService) BadHelper(ctx context.Context, p Payout) error {
	var err error
	for i := range 3 {
		if _, err = s.client.Accounts.Transfer(ctx, s.source, s.params(p)); err == nil { // want: requestid
			return nil
		}
		s.log.Warn("payout failed", "attempt", i, "err", err)
	}
	return err
}

func (s *PayoutService) GoodHelper(ctx context.Context, p Payout) error {
	var err error
	params := s.params(p)
	for i := range 3 {
		if _, err = s.client.Accounts.Transfer(ctx, s.source, params); err == nil {
			return nil
		}
		s.log.Warn("payout failed", "attempt", i, "err", err)
	}
	return err
}

func (s *PayoutService) GoodStoredID(ctx context.Context, p Payout) error {
	params := s.params(p)
	if p.Key == "" {
		p.Key = prepaid.NewRequestID()
		if _, err := s.db.ExecContext(ctx, "update payouts set key=$1 where id=$2", p.Key, p.ID); err != nil {
			return err
		}
	}
	params.RequestID = p.Key
	_, err := s.client.Accounts.Transfer(ctx, s.source, params)
	return err
}

func (s *PayoutService) BadStatus(ctx context.Context, p Payout) error {
	status := "paid"
	if _, err := s.client.Accounts.Transfer(ctx, s.source, prepaid.TransferParams{RequestID: p.Key}); err != nil { // want: outcome
		status = "failed"
	}
	_, err := s.db.ExecContext(ctx, "update payouts set status=$1 where id=$2", status, p.ID)
	return err
}

func (s *PayoutService) GoodStatus(ctx context.Context, p Payout) error {
	_, err := s.client.Accounts.Transfer(ctx, s.source, prepaid.TransferParams{RequestID: p.Key})
	status := prepaid.OutcomeOf(err).String()
	_, err = s.db.ExecContext(ctx, "update payouts set status=$1 where id=$2", status, p.ID)
	return err
}

func (s *PayoutService) BadIssue(ctx context.Context, params prepaid.IssueParams) *prepaid.IssueResult {
	issued, err := s.client.Accounts.Issue(ctx, params) // want: outcome
	if err != nil {
		return nil
	}
	return issued
}

func (s *PayoutService) GoodIssue(ctx context.Context, params prepaid.IssueParams) *prepaid.IssueResult {
	issued, err := s.client.Accounts.Issue(ctx, params)
	if err != nil {
		s.log.ErrorContext(ctx, "issue", "err", err)
		return nil
	}
	return issued
}

func (s *PayoutService) BadCollect(ctx context.Context, id prepaid.AccountID) []*prepaid.Transaction {
	list, _ := prepaid.Collect(s.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}), 1000) // want: iterator
	return list
}

func (s *PayoutService) GoodCollect(ctx context.Context, id prepaid.AccountID) ([]*prepaid.Transaction, error) {
	return prepaid.Collect(s.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}), 1000)
}

func (s *PayoutService) BadBackoff(ctx context.Context, params prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	return backoff.Retry(ctx, func() (*prepaid.FundingResult, error) { // want: retry
		return s.client.Funding.Redeem(ctx, params)
	}, backoff.WithMaxTries(4))
}

func (s *PayoutService) GoodBackoff(ctx context.Context, params prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	return backoff.Retry(ctx, func() (*prepaid.FundingResult, error) {
		r, err := s.client.Funding.Redeem(ctx, params)
		if err != nil && prepaid.OutcomeOf(err) != prepaid.OutcomeNotProcessed {
			return nil, backoff.Permanent(err)
		}
		return r, err
	}, backoff.WithMaxTries(4))
}
