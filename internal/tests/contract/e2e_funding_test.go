package contract

import (
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
			onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
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
		})
	}
}

func (s *stage) redeemAgain(id prepaid.AccountID, amount string) {
	s.t.Helper()
	_, err := s.client.Funding.Redeem(s.t.Context(), redemption(id, amount))
	require.NoError(s.t, err)
}
