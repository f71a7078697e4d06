package contract

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func fundingFixtures() []Case {
	return concat(redeemFixtures(), reverseFixtures(), refundFixtures())
}

func redeemFixtures() []Case {
	redeem := func(exception prepaid.FundingException, adjustment bool) fixtureCall[*prepaid.FundingResult] {
		return fixtureOf("Funding.Redeem", func(ctx context.Context, client *prepaid.Client) (*prepaid.FundingResult, error) {
			return client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{
				Amount: prepaid.MustAmount("25.50"), AccountID: fixtureID, Exception: exception,
				MerchantNameLocation: "CORNER STORE SYDNEY NSW AU", OriginatingTransaction: 9007199254740993,
				ClearingAdjustment: adjustment, Currency: "036", CardAcceptorID: "000000003210987", CorrelationID: "caller-1001",
				MerchantCategoryCode: "0742", TerminalID: "T0000042", AcquirerID: "560001",
			})
		})
	}
	plain := redeem(prepaid.FundingExceptionNone, false)
	return append(plain.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		plain.gives("200-approved", &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeApproved, TransactionID: "9007199254740995"}),
		redeem(prepaid.FundingExceptionExhausted, true).gives("200-declined", &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeDeclined}),
		redeem(prepaid.FundingExceptionRestrictionsNotSatisfiable, false).fails("200-unknown-outcome", prepaid.OutcomeUnknown,
			func(t *testing.T, _ *Fixture, err error) { // not "declined": the money may have moved
				require.ErrorAs(t, err, new(*prepaid.DecodeError))
			}),
		plain.throttled(),
	)
}

func reverseFixtures() []Case {
	reverse := func(transaction int64, adjustment bool) fixtureCall[*prepaid.FundingResult] {
		return fixtureOf("Funding.Reverse", func(ctx context.Context, client *prepaid.Client) (*prepaid.FundingResult, error) {
			return client.Funding.Reverse(ctx, prepaid.ReverseFundingParams{
				AccountID: fixtureID, OriginatingTransaction: transaction, CorrelationID: "caller-1002",
				ParentTransactionID: "9007199254740995", ClearingAdjustment: adjustment,
			})
		})
	}
	return append(reverse(70001, true).usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		reverse(70001, true).gives("200-approved", &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeApproved, TransactionID: "8800005004"}),
		reverse(70001, false).gives("200-declined", &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeDeclined}),
	)
}

func refundFixtures() []Case {
	refund := func(parent prepaid.TransactionID) fixtureCall[*prepaid.FundingResult] {
		return fixtureOf("Funding.Refund", func(ctx context.Context, client *prepaid.Client) (*prepaid.FundingResult, error) {
			return client.Funding.Refund(ctx, prepaid.RefundFundingParams{
				Amount: prepaid.MustAmount("25.50"), AccountID: fixtureID, ParentTransactionID: parent,
				MerchantNameLocation: "CORNER STORE SYDNEY NSW AU", OriginatingTransaction: 70002, Currency: "036",
				CardAcceptorID: "000000003210987", CorrelationID: "caller-1003", MerchantCategoryCode: "5411",
				TerminalID: "T0000042", AcquirerID: "560001",
			})
		})
	}
	every := refund("9007199254740995")
	return append(every.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		every.gives("200-approved", &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeApproved, TransactionID: "8800005005"}),
		refund("").gives("200-declined", &prepaid.FundingResult{Outcome: prepaid.FundingOutcomeDeclined}),
	)
}
