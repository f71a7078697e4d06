package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

func transferFixtures() []Case {
	return append(cardTransferFixtures(), directEntryFixtures()...)
}

func cardTransferFixtures() []Case {
	transfer := func(params prepaid.TransferParams) fixtureCall[*prepaid.TransferResult] {
		return fixtureWith[*prepaid.TransferResult]("Accounts.Transfer", fixtureID, params)
	}
	params := prepaid.TransferParams{
		RequestID: "payroll-2026-11-20-emp-7", Amount: prepaid.MustAmount("1000"),
		SourceReference: "Payroll November", DestinationReference: "Wages", DestinationAccountID: "EA-700100201",
		Type: prepaid.TransferTypeLoad, InitiatorUsername: "ops-user",
	}
	load := transfer(params)
	params.Amount, params.Type, params.InitiatorUsername = prepaid.MustAmount("0.01"), prepaid.TransferTypeCardToCard, ""
	cases := append(load.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		load.gives("200", &prepaid.TransferResult{
			TransactionID: "9007199254740993", CorrelationID: "corr-9101", RequestID: params.RequestID,
		}),
		transfer(params).gives("200-card-to-card", &prepaid.TransferResult{
			TransactionID: "8800004001", CorrelationID: "corr-9102", RequestID: params.RequestID,
		}),
		load.refused("400", exampleInvalidFields, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		load.throttled(),
	)
	for _, spelling := range []string{"absent", "zero"} {
		cases = append(cases, load.fails("200-unknown-"+spelling, prepaid.OutcomeUnknown, func(t *testing.T, _ *Fixture, err error) {
			require.ErrorAs(t, err, new(*prepaid.DecodeError))
			require.NotErrorIs(t, err, prepaid.ErrTransferFailed)
		}))
	}
	for _, spelling := range []string{"null", "empty"} {
		cases = append(cases, load.fails("200-failed-"+spelling, prepaid.OutcomeRejected, func(t *testing.T, _ *Fixture, err error) {
			require.ErrorIs(t, err, prepaid.ErrTransferFailed)
			require.ErrorContains(t, err, `transfer failed (correlation ID "corr-9103")`)
			call := harness.As[*prepaid.CallError](t, err)
			require.Equal(t, "corr-9103", call.CorrelationID)
			require.Equal(t, params.RequestID, call.RequestID)
			require.Equal(t, fixtureID, call.AccountID)
		}))
	}
	return cases
}

func directEntryFixtures() []Case {
	pay := func(params prepaid.DirectEntryOutParams) fixtureCall[*prepaid.TransferResult] {
		return fixtureWith[*prepaid.TransferResult]("Accounts.DirectEntryOut", fixtureID, params)
	}
	params := prepaid.DirectEntryOutParams{
		RequestID: "payout-2026-11-20-0001", Amount: prepaid.MustAmount("25.5"),
		SourceReference: "Payout 1", DestinationReference: "Refund of deposit",
		Destination: prepaid.BankAccount{BSB: "802985", AccountNumber: "00123456", AccountName: "Canary-Mira Testname"},
		BSB:         "802-986", InitiatingUserID: "ops-3",
	}
	every := pay(params)
	params.InitiatingUserID = ""
	return append(every.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		every.gives("200", &prepaid.TransferResult{TransactionID: "8800003001", CorrelationID: "corr-9001", RequestID: params.RequestID}),
		pay(params).gives("200-numbers-as-strings", &prepaid.TransferResult{
			TransactionID: "8800003002", CorrelationID: "corr-9002", RequestID: params.RequestID,
		}),
		every.refused("400", exampleInvalidFields, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		every.throttled(),
	)
}
