package contract

import (
	"context"

	"github.com/cardprograms/prepaid"
)

type simulate func(*prepaid.SimulationService, context.Context, prepaid.SimulateParams) (*prepaid.SimulationResult, error)

func simulationFixture(operation string, call simulate, params prepaid.SimulateParams) fixtureCall[*prepaid.SimulationResult] {
	return fixtureOf(operation, func(ctx context.Context, client *prepaid.Client) (*prepaid.SimulationResult, error) {
		return call(client.Simulation, ctx, params)
	})
}

func simulationFixtures() []Case {
	closed := prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: fixtureID, Amount: prepaid.MustAmount("25.50"),
		AcquirerID: "560001", MerchantID: "000000003210987", TerminalID: "T0000042", MerchantCategoryCode: "0742",
	}
	located := closed
	located.BankName, located.Location, located.LocationCode, located.CurrencyCode = "Example Bank", "Sydney", "AU-NSW", "036"
	later := located
	later.AuthorizationID, closed.AuthorizationID = "auth-7001", "auth-7001"

	transact := simulationFixture("Simulation.Transact", (*prepaid.SimulationService).Transact, located)
	withdraw := simulationFixture("Simulation.Transact", (*prepaid.SimulationService).Transact, prepaid.SimulateParams{
		Type: prepaid.SimulatedTypeWithdrawal, AccountID: fixtureID, Amount: prepaid.Cents(4000), MerchantCategoryCode: "6011",
	})
	credit := simulationFixture("Simulation.Transact", (*prepaid.SimulationService).Transact, prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePOSCredit, AccountID: fixtureID, Amount: prepaid.Cents(100),
	})
	cases := append(transact.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		transact.gives("200", &prepaid.SimulationResult{
			Success: true, Message: "Approved", AuthorizationID: "auth-7001", TransactionReference: "ref-5001",
		}),
		withdraw.gives("200-withdrawal", &prepaid.SimulationResult{
			Success: true, Message: "Approved", AuthorizationID: "auth-7002", TransactionReference: "ref-5002",
		}),
		credit.gives("200-refused", &prepaid.SimulationResult{Message: "Account closed", TransactionReference: "ref-5003"}),
		transact.throttled(),
	)
	for _, related := range []struct {
		operation     string
		call          simulate
		params        prepaid.SimulateParams
		authorization string
	}{
		{"Simulation.Advise", (*prepaid.SimulationService).Advise, later, "auth-7001"},
		{"Simulation.Reverse", (*prepaid.SimulationService).Reverse, later, "auth-7001"},
		{"Simulation.Clear", (*prepaid.SimulationService).Clear, closed, ""},
		{"Simulation.ReverseClear", (*prepaid.SimulationService).ReverseClear, closed, ""},
	} {
		call := simulationFixture(related.operation, related.call, related.params)
		cases = append(cases, call.usual(exampleInvalidToken, prepaid.OutcomeUnknown)...)
		cases = append(cases,
			call.gives("200", &prepaid.SimulationResult{Success: true, Message: "Approved", AuthorizationID: related.authorization}),
			call.gives("200-refused", &prepaid.SimulationResult{Message: "Invalid account"}),
		)
	}
	return cases
}
