package prepaid

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func transferFixtures() []fixtureCase {
	return append(cardTransferFixtures(), directEntryFixtures()...)
}

func cardTransferFixtures() []fixtureCase {
	transfer := func(params TransferParams) fixtureCall[*TransferResult] {
		return fixtureOf("Accounts.Transfer", func(ctx context.Context, client *Client) (*TransferResult, error) {
			return client.Accounts.Transfer(ctx, fixtureID, params)
		})
	}
	params := TransferParams{
		RequestID: "payroll-2026-11-20-emp-7", Amount: MustAmount("1000"),
		SourceReference: "Payroll November", DestinationReference: "Wages", DestinationAccountID: "EA-700100201",
		Type: TransferTypeLoad, InitiatorUsername: "ops-user",
	}
	load := transfer(params)
	params.Amount, params.Type, params.InitiatorUsername = MustAmount("0.01"), TransferTypeCardToCard, ""
	cases := append(load.usual(exampleInvalidToken, OutcomeUnknown),
		load.gives("200", &TransferResult{
			TransactionID: "9007199254740993", CorrelationID: "corr-9101", RequestID: params.RequestID,
		}),
		transfer(params).gives("200-card-to-card", &TransferResult{
			TransactionID: "8800004001", CorrelationID: "corr-9102", RequestID: params.RequestID,
		}),
		load.refused("400", exampleInvalidFields, ErrBadRequest, OutcomeRejected),
		load.throttled(),
	)
	for _, spelling := range []string{"absent", "zero"} {
		cases = append(cases, load.fails("200-unknown-"+spelling, OutcomeUnknown, func(t *testing.T, _ *fixture, err error) {
			_, ok := errors.AsType[*DecodeError](err)
			require.True(t, ok)
			require.NotErrorIs(t, err, ErrTransferFailed)
		}))
	}
	for _, spelling := range []string{"null", "empty"} {
		cases = append(cases, load.fails("200-failed-"+spelling, OutcomeRejected, func(t *testing.T, _ *fixture, err error) {
			require.ErrorIs(t, err, ErrTransferFailed)
			failed, ok := errors.AsType[*TransferFailedError](err)
			require.True(t, ok)
			require.Equal(t, "corr-9103", failed.CorrelationID)
			call, ok := errors.AsType[*CallError](err)
			require.True(t, ok)
			require.Equal(t, "corr-9103", call.CorrelationID)
			require.Equal(t, params.RequestID, call.RequestID)
			require.Equal(t, fixtureID, call.AccountID)
		}))
	}
	return cases
}

func directEntryFixtures() []fixtureCase {
	pay := func(params DirectEntryOutParams) fixtureCall[*TransferResult] {
		return fixtureOf("Accounts.DirectEntryOut", func(ctx context.Context, client *Client) (*TransferResult, error) {
			return client.Accounts.DirectEntryOut(ctx, fixtureID, params)
		})
	}
	params := DirectEntryOutParams{
		RequestID: "payout-2026-11-20-0001", Amount: MustAmount("25.5"),
		SourceReference: "Payout 1", DestinationReference: "Refund of deposit",
		Destination: BankAccount{BSB: "802985", AccountNumber: "00123456", AccountName: "Canary-Mira Testname"},
		BSB:         "802-986", InitiatingUserID: "ops-3",
	}
	every := pay(params)
	params.InitiatingUserID = ""
	return append(every.usual(exampleInvalidToken, OutcomeUnknown),
		every.gives("200", &TransferResult{TransactionID: "8800003001", CorrelationID: "corr-9001", RequestID: params.RequestID}),
		pay(params).gives("200-numbers-as-strings", &TransferResult{
			TransactionID: "8800003002", CorrelationID: "corr-9002", RequestID: params.RequestID,
		}),
		every.refused("400", exampleInvalidFields, ErrBadRequest, OutcomeRejected),
		every.throttled(),
	)
}
