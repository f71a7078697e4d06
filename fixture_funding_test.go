package prepaid

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func fundingFixtures() []fixtureCase {
	return concat(redeemFixtures(), reverseFixtures(), refundFixtures())
}

func redeemFixtures() []fixtureCase {
	redeem := func(exception FundingException, adjustment bool) fixtureCall[*FundingResult] {
		return fixtureOf("Funding.Redeem", func(ctx context.Context, client *Client) (*FundingResult, error) {
			return client.Funding.Redeem(ctx, RedeemFundingParams{
				Amount: MustAmount("25.50"), AccountID: fixtureID, Exception: exception,
				MerchantNameLocation: "CORNER STORE SYDNEY NSW AU", OriginatingTransaction: 9007199254740993,
				ClearingAdjustment: adjustment, Currency: "036", CardAcceptorID: "000000003210987", CorrelationID: "caller-1001",
				MerchantCategoryCode: "0742", TerminalID: "T0000042", AcquirerID: "560001",
			})
		})
	}
	plain := redeem(FundingExceptionNone, false)
	return append(plain.usual(exampleInvalidToken, OutcomeUnknown),
		plain.gives("200-approved", &FundingResult{Outcome: FundingOutcomeApproved, TransactionID: "9007199254740995"}),
		redeem(FundingExceptionExhausted, true).gives("200-declined", &FundingResult{Outcome: FundingOutcomeDeclined}),
		redeem(FundingExceptionRestrictionsNotSatisfiable, false).fails("200-unknown-outcome", OutcomeUnknown,
			func(t *testing.T, _ *fixture, err error) { // not "declined": the money may be on its way
				_, ok := errors.AsType[*DecodeError](err)
				require.True(t, ok)
			}),
		plain.throttled(),
	)
}

func reverseFixtures() []fixtureCase {
	reverse := func(transaction int64, adjustment bool) fixtureCall[*FundingResult] {
		return fixtureOf("Funding.Reverse", func(ctx context.Context, client *Client) (*FundingResult, error) {
			return client.Funding.Reverse(ctx, ReverseFundingParams{
				AccountID: fixtureID, OriginatingTransaction: transaction, CorrelationID: "caller-1002",
				ParentTransactionID: "9007199254740995", ClearingAdjustment: adjustment,
			})
		})
	}
	return append(reverse(70001, true).usual(exampleInvalidToken, OutcomeUnknown),
		reverse(70001, true).gives("200-approved", &FundingResult{Outcome: FundingOutcomeApproved, TransactionID: "8800005004"}),
		reverse(70001, false).gives("200-declined", &FundingResult{Outcome: FundingOutcomeDeclined}),
	)
}

func refundFixtures() []fixtureCase {
	refund := func(parent TransactionID) fixtureCall[*FundingResult] {
		return fixtureOf("Funding.Refund", func(ctx context.Context, client *Client) (*FundingResult, error) {
			return client.Funding.Refund(ctx, RefundFundingParams{
				Amount: MustAmount("25.50"), AccountID: fixtureID, ParentTransactionID: parent,
				MerchantNameLocation: "CORNER STORE SYDNEY NSW AU", OriginatingTransaction: 70002, Currency: "036",
				CardAcceptorID: "000000003210987", CorrelationID: "caller-1003", MerchantCategoryCode: "5411",
				TerminalID: "T0000042", AcquirerID: "560001",
			})
		})
	}
	every := refund("9007199254740995")
	return append(every.usual(exampleInvalidToken, OutcomeUnknown),
		every.gives("200-approved", &FundingResult{Outcome: FundingOutcomeApproved, TransactionID: "8800005005"}),
		refund("").gives("200-declined", &FundingResult{Outcome: FundingOutcomeDeclined}),
	)
}
