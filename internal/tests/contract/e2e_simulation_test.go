package contract

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// simulateStep is one of the five calls of the simulator.
type simulateStep func(context.Context, prepaid.SimulateParams) (*prepaid.SimulationResult, error)

// purchase has every field that Transact takes.
func purchase(id prepaid.AccountID, amount string) prepaid.SimulateParams {
	return prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount(amount),
		AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: "5411",
		BankName: "Example Bank", Location: "Sydney", LocationCode: "AU", CurrencyCode: "036",
	}
}

// about is a purchase as Advise and Reverse take it, with every field.
func about(params prepaid.SimulateParams, authorization string) prepaid.SimulateParams {
	params.AuthorizationID = authorization
	return params
}

// clearingOf is a purchase as Clear and ReverseClear take it, with every field.
func clearingOf(params prepaid.SimulateParams, authorization string) prepaid.SimulateParams {
	params = about(params, authorization)
	params.BankName, params.Location, params.LocationCode, params.CurrencyCode = "", "", "", ""
	return params
}

// A transaction needs only the fields that the client requires, and later calls work without the others.
func TestE2ESimulationOfTheLeast(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		id, ctx := s.seed("100.00"), t.Context()
		params := prepaid.SimulateParams{Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount("10.00")}
		made, err := s.client.Simulation.Transact(ctx, params)
		require.NoError(t, err)
		require.True(t, made.Success, made.Message)
		params.AuthorizationID = made.AuthorizationID
		for name, call := range map[string]simulateStep{"advise": s.client.Simulation.Advise, "clear": s.client.Simulation.Clear} {
			result, err := call(ctx, params)
			require.NoError(t, err, name)
			require.True(t, result.Success, "%s: %s", name, result.Message)
		}
		withdrawal := prepaid.SimulateParams{
			Type: prepaid.SimulatedTypeWithdrawal, AccountID: id, Amount: prepaid.MustAmount("10.00"), MerchantCategoryCode: "6011",
		}
		made, err = s.client.Simulation.Transact(ctx, withdrawal)
		require.NoError(t, err)
		require.True(t, made.Success, made.Message)
	})
}
