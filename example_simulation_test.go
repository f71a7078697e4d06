package prepaid_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// purchase describes a purchase of 30.00 in a shop.
func purchase(id prepaid.AccountID) prepaid.SimulateParams {
	return prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount("30.00"),
		AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: "5411",
	}
}

// authorised makes a purchase, and returns its params with the ID of the authorisation.
func authorised(client *prepaid.Client, params prepaid.SimulateParams) prepaid.SimulateParams {
	result, err := client.Simulation.Transact(context.Background(), params)
	check(err)
	params.AuthorizationID = result.AuthorizationID
	return params
}

// In production every simulator call fails before anything is sent.
func ExampleSimulationService_Transact_production() {
	srv := emulator(prepaidtest.Options{Production: true})
	defer srv.Close()

	_, err := srv.Client().Simulation.Transact(context.Background(), prepaid.SimulateParams{})
	refused, _ := errors.AsType[*prepaid.ValidationError](err)
	fmt.Println(refused.Faults[0], prepaid.OutcomeOf(err), len(srv.Requests()), "requests sent")
	// Output: config.test_environment must be true: the simulator exists only in the test environment rejected 0 requests sent
}

// A cancelled purchase. Reversing a purchase that was never authorised gives a result, not an error.
func ExampleSimulationService_Reverse() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	cancelled, other := authorised(client, purchase(id)), purchase(id)
	other.AuthorizationID = "000000000000"
	for _, params := range []prepaid.SimulateParams{cancelled, other} {
		reversed, err := client.Simulation.Reverse(context.Background(), params)
		check(err)
		fmt.Println(reversed.Success, reversed.Message, srv.Balance(id))
	}
	// Output:
	// true Approved 100.00
	// false There is no matching purchase authorisation 100.00
}

// The simulator makes card activity in the test environment. Wait 30 to 90 seconds between related calls there.
func ExampleSimulationService_Transact() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	for _, amount := range []string{"30.00", "300.00"} {
		result, err := client.Simulation.Transact(context.Background(), prepaid.SimulateParams{
			Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount(amount),
			AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: "5411",
		})
		check(err)
		fmt.Println(result.Success, result.Message, srv.Balance(id))
	}
	// Output:
	// true Approved 70.00
	// false Insufficient funds 70.00
}
