package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// redemption has every field.
func redemption(id prepaid.AccountID, amount string) prepaid.RedeemFundingParams {
	return prepaid.RedeemFundingParams{
		Amount: prepaid.MustAmount(amount), AccountID: id, Exception: prepaid.FundingExceptionNone,
		MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001, ClearingAdjustment: true, Currency: "036",
		CardAcceptorID: "QUICKMART", CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T0000001", AcquirerID: "100001",
	}
}

// reversal undoes a redemption.
func reversal(of prepaid.RedeemFundingParams, parent prepaid.TransactionID) prepaid.ReverseFundingParams {
	return prepaid.ReverseFundingParams{
		AccountID: of.AccountID, OriginatingTransaction: of.OriginatingTransaction, CorrelationID: of.CorrelationID,
		ParentTransactionID: parent, ClearingAdjustment: true,
	}
}

// refund has every field but the parent.
func refund(id prepaid.AccountID, amount string) prepaid.RefundFundingParams {
	return prepaid.RefundFundingParams{
		Amount: prepaid.MustAmount(amount), AccountID: id, MerchantNameLocation: "QUICKMART SYDNEY AU",
		OriginatingTransaction: 900001, Currency: "036", CardAcceptorID: "QUICKMART", CorrelationID: "order-7",
		MerchantCategoryCode: "5411", TerminalID: "T0000001", AcquirerID: "100001",
	}
}

func TestE2EFundingRedeemed(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("100.00")
	for _, exception := range []prepaid.FundingException{
		prepaid.FundingExceptionNone, prepaid.FundingExceptionRestrictionsNotSatisfiable, prepaid.FundingExceptionExhausted,
	} {
		params := redemption(id, "10.00")
		params.Exception = exception
		result, err := s.client.Funding.Redeem(t.Context(), params)
		require.NoError(t, err)
		require.True(t, result.Approved())
		made := s.last(id)
		require.Equal(t, &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeApproved, TransactionID: made.ID}, result)
		require.Equal(t, []string{"-10.00", "QUICKMART", "T0000001", "100001", "5411", "QUICKMART SYDNEY AU"}, []string{
			made.Amount, made.CardAcceptorID, made.TerminalID, made.AcquirerID, made.MerchantCategoryCode, made.Reference,
		})
	}
	s.holds(id, "70.00")
	require.JSONEq(t, `{"amount":10.00,"account_id":"`+string(id)+`","funding_exception":"funding_exhausted",
		"merchant_name_location":"QUICKMART SYDNEY AU","originating_transaction":900001,"clearing_adjustment":true,"currency":"036",
		"card_acceptor_id":"QUICKMART","correlation_id":"order-7","merchant_category":"5411","terminal_id":"T0000001",
		"acquirer_id":"100001"}`, s.sent("POST /funding/redemptions"))
}

// A decline is a result and no error: nothing moved.
func TestE2EFundingDeclined(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	poor := s.seed("5.00")
	inactive := s.AddAccount(prepaidtest.SeedAccount{Balance: "100.00", Status: "inactive"})
	for name, call := range map[string]func() (*prepaid.FundingResult, error){
		"too little": func() (*prepaid.FundingResult, error) {
			return s.client.Funding.Redeem(t.Context(), redemption(poor, "5.01"))
		},
		"inactive": func() (*prepaid.FundingResult, error) {
			return s.client.Funding.Redeem(t.Context(), redemption(inactive, "1.00"))
		},
		"nobody": func() (*prepaid.FundingResult, error) {
			return s.client.Funding.Redeem(t.Context(), redemption("nobody", "1.00"))
		},
		"never redeemed": func() (*prepaid.FundingResult, error) {
			return s.client.Funding.Reverse(t.Context(), reversal(redemption(poor, "1.00"), "1"))
		},
		"refund to nobody": func() (*prepaid.FundingResult, error) {
			return s.client.Funding.Refund(t.Context(), refund("nobody", "1.00"))
		},
	} {
		result, err := call()
		require.NoError(t, err, name)
		require.Equal(t, &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeDeclined}, result, name)
		require.False(t, result.Approved(), name)
	}
	s.holds(poor, "5.00")
	s.holds(inactive, "100.00")
}

func TestE2EFundingReversed(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("100.00")
	params := redemption(id, "25.50")
	made, err := s.client.Funding.Redeem(t.Context(), params)
	require.NoError(t, err)

	result, err := s.client.Funding.Reverse(t.Context(), reversal(params, made.TransactionID))
	require.NoError(t, err)
	require.True(t, result.Approved())
	require.Equal(t, s.last(id).ID, result.TransactionID)
	require.Equal(t, made.TransactionID, s.last(id).ParentID)
	s.holds(id, "100.00")
	require.JSONEq(t, `{"account_id":"`+string(id)+`","originating_transaction":900001,"correlation_id":"order-7",
		"parent_transaction_id":`+string(made.TransactionID)+`,"clearing_adjustment":true}`, s.sent("POST /funding/reversals"))

	again, err := s.client.Funding.Reverse(t.Context(), reversal(params, made.TransactionID))
	require.NoError(t, err)
	require.Equal(t, prepaid.FundingOutcomeDeclined, again.Outcome)
	s.holds(id, "100.00")
}

func TestE2EFundingRefunded(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("100.00")
	made, err := s.client.Funding.Redeem(t.Context(), redemption(id, "30.00"))
	require.NoError(t, err)

	params := refund(id, "20.00")
	params.ParentTransactionID = made.TransactionID
	result, err := s.client.Funding.Refund(t.Context(), params)
	require.NoError(t, err)
	require.True(t, result.Approved())
	require.Equal(t, []any{result.TransactionID, made.TransactionID, "20.00"}, []any{s.last(id).ID, s.last(id).ParentID, s.last(id).Amount})
	s.holds(id, "90.00")
	require.Contains(t, s.sent("POST /funding/refunds"), `"parent_transaction_id":`+string(made.TransactionID))

	more, err := s.client.Funding.Refund(t.Context(), params) // 20 of the 10 that are left
	require.NoError(t, err)
	require.Equal(t, prepaid.FundingOutcomeDeclined, more.Outcome)

	alone, err := s.client.Funding.Refund(t.Context(), refund(id, "1.25"))
	require.NoError(t, err)
	require.True(t, alone.Approved())
	require.NotContains(t, s.sent("POST /funding/refunds"), "parent_transaction_id")
	s.holds(id, "91.25")
}

// After a lost response the outcome is unknown and nothing is sent again; the history shows a movement.
func TestE2EFundingUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		fault   prepaidtest.Fault
		seen    error
		balance string
	}{
		{"response lost", prepaidtest.CommitThenDrop(), nil, "74.50"},
		{"response truncated", prepaidtest.Truncate(), nil, "74.50"},
		{"request lost", prepaidtest.DropBeforeCommit(), prepaid.ErrNotSeen, "100.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			id := s.seed("100.00")
			s.Inject("POST /funding/redemptions", c.fault)
			result, err := s.client.Funding.Redeem(t.Context(), redemption(id, "25.50"))
			require.Nil(t, result)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
			require.Len(t, s.statuses("POST /funding/redemptions"), 1)
			s.holds(id, c.balance)

			query := prepaid.FindMovementParams{
				AccountID: id, Amount: prepaid.MustAmount("25.50"), CardAcceptorID: "QUICKMART", TerminalID: "T0000001",
				Types: []prepaid.TransactionType{"3010"}, Reference: "QUICKMART SYDNEY AU", VisibleWithin: 1,
			}.Around(err)
			finding, err := s.client.Accounts.FindMovement(t.Context(), query)
			require.ErrorIs(t, err, c.seen)
			if c.seen == nil {
				require.Equal(t, s.last(id).ID, finding.Transactions[0].ID)
				s.redeemAgain(id, "25.50")
				finding, err = s.client.Accounts.FindMovement(t.Context(), query)
				require.ErrorIs(t, err, prepaid.ErrAmbiguous)
				require.Len(t, finding.Transactions, 2)
			}
		})
	}
}

func (s *stage) redeemAgain(id prepaid.AccountID, amount string) {
	s.t.Helper()
	_, err := s.client.Funding.Redeem(s.t.Context(), redemption(id, amount))
	require.NoError(s.t, err)
}

func TestE2EFundingValidation(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	fields := []string{"merchant_name_location", "originating_transaction", "currency", "card_acceptor_id", "correlation_id", "merchant_category", "terminal_id", "acquirer_id"}
	for _, c := range []struct {
		call func(context.Context) error
		want []string
	}{
		{func(ctx context.Context) error {
			return done(s.client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{}))
		},
			append([]string{"amount", "account_id", "funding_exception"}, fields...)},
		{func(ctx context.Context) error {
			return done(s.client.Funding.Refund(ctx, prepaid.RefundFundingParams{}))
		},
			append([]string{"amount", "account_id"}, fields...)},
		{func(ctx context.Context) error {
			return done(s.client.Funding.Reverse(ctx, prepaid.ReverseFundingParams{}))
		},
			[]string{"account_id", "originating_transaction", "correlation_id", "parent_transaction_id"}},
	} {
		invalid(t, c.call(t.Context()), c.want...)
	}
	require.Empty(t, s.Requests())
}
