package prepaid

import "context"

type simulate func(*SimulationService, context.Context, SimulateParams) (*SimulationResult, error)

func simulationFixture(operation string, call simulate, params SimulateParams) fixtureCall[*SimulationResult] {
	return fixtureOf(operation, func(ctx context.Context, client *Client) (*SimulationResult, error) {
		return call(client.Simulation, ctx, params)
	})
}

func simulationFixtures() []fixtureCase {
	closed := SimulateParams{
		Type: SimulatedTypePurchase, AccountID: fixtureID, Amount: MustAmount("25.50"),
		AcquirerID: "560001", MerchantID: "000000003210987", TerminalID: "T0000042", MerchantCategoryCode: "0742",
	}
	located := closed
	located.BankName, located.Location, located.LocationCode, located.CurrencyCode = "Example Bank", "Sydney", "AU-NSW", "036"
	later := located
	later.AuthorizationID, closed.AuthorizationID = "auth-7001", "auth-7001"

	transact := simulationFixture("Simulation.Transact", (*SimulationService).Transact, located)
	withdraw := simulationFixture("Simulation.Transact", (*SimulationService).Transact, SimulateParams{
		Type: SimulatedTypeWithdrawal, AccountID: fixtureID, Amount: Cents(4000), MerchantCategoryCode: "6011",
	})
	credit := simulationFixture("Simulation.Transact", (*SimulationService).Transact, SimulateParams{
		Type: SimulatedTypePOSCredit, AccountID: fixtureID, Amount: Cents(100),
	})
	cases := append(transact.usual(exampleInvalidToken, OutcomeUnknown),
		transact.gives("200", &SimulationResult{
			Success: true, Message: "Approved", AuthorizationID: "auth-7001", TransactionReference: "ref-5001",
		}),
		withdraw.gives("200-withdrawal", &SimulationResult{
			Success: true, Message: "Approved", AuthorizationID: "auth-7002", TransactionReference: "ref-5002",
		}),
		credit.gives("200-refused", &SimulationResult{Message: "Account closed", TransactionReference: "ref-5003"}),
		transact.throttled(),
	)
	for _, related := range []struct {
		operation     string
		call          simulate
		params        SimulateParams
		authorization string
	}{
		{"Simulation.Advise", (*SimulationService).Advise, later, "auth-7001"},
		{"Simulation.Reverse", (*SimulationService).Reverse, later, "auth-7001"},
		{"Simulation.Clear", (*SimulationService).Clear, closed, ""},
		{"Simulation.ReverseClear", (*SimulationService).ReverseClear, closed, ""},
	} {
		call := simulationFixture(related.operation, related.call, related.params)
		cases = append(cases, call.usual(exampleInvalidToken, OutcomeUnknown)...)
		cases = append(cases,
			call.gives("200", &SimulationResult{Success: true, Message: "Approved", AuthorizationID: related.authorization}),
			call.gives("200-refused", &SimulationResult{Message: "Invalid account"}),
		)
	}
	return cases
}
