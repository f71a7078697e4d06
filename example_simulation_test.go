package prepaid_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// printHistory prints the transactions that the simulator has booked.
func printHistory(srv *prepaidtest.Server, id prepaid.AccountID) {
	for _, tx := range srv.Transactions(id) {
		fmt.Println(tx.Type, tx.Amount, tx.RunningBalance)
	}
}

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
	// Output: {config.test_environment must be true: the simulator exists only in the test environment} rejected 0 requests sent
}

// A hotel authorised 30 and charges 42: the authorisation is reversed and replaced by the new amount.
func ExampleSimulationService_Advise() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	stay := authorised(client, purchase(id))
	stay.Amount = prepaid.MustAmount("42.00")
	advised, err := client.Simulation.Advise(context.Background(), stay)
	check(err)
	fmt.Println(advised.Success, advised.Message)
	printHistory(srv, id)
	// Output:
	// true Approved
	// 2950 100.00 100.00
	// 1118 -30.00 70.00
	// 1120 30.00 100.00
	// 1118 -42.00 58.00
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

// Clearing settles an authorisation. It takes effect some time after its response.
func ExampleSimulationService_Clear() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	cleared, err := client.Simulation.Clear(context.Background(), authorised(client, purchase(id)))
	check(err)
	fmt.Println(cleared.Success, cleared.Message)
	printHistory(srv, id)
	// Output:
	// true Accepted
	// 2950 100.00 100.00
	// 1118 -30.00 70.00
	// 1117 30.00 100.00
	// 1115 -30.00 70.00
}

// A clearing made by mistake, such as a forced post without an authorisation, is reversed.
func ExampleSimulationService_ReverseClear() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	posting := purchase(id)
	posting.AuthorizationID = "000000000007"
	for _, step := range []func(context.Context, prepaid.SimulateParams) (*prepaid.SimulationResult, error){
		client.Simulation.Clear, client.Simulation.ReverseClear,
	} {
		result, err := step(context.Background(), posting)
		check(err)
		fmt.Println(result.Success, srv.Balance(id))
	}
	printHistory(srv, id)
	// Output:
	// true 70.00
	// true 100.00
	// 2950 100.00 100.00
	// 1115 -30.00 70.00
	// 1125 30.00 100.00
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
