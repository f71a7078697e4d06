package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// simulate is one of the five calls of the simulator.
type simulate func(context.Context, prepaid.SimulateParams) (*prepaid.SimulationResult, error)

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

func TestE2ESimulateTransact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		change   func(*prepaid.SimulateParams)
		code     prepaid.TransactionType
		balance  string
		category string
	}{
		{"purchase", func(*prepaid.SimulateParams) {}, prepaid.TransactionTypePurchaseAuthorisation, "90.00", "5411"},
		{"withdrawal", func(p *prepaid.SimulateParams) {
			p.Type, p.MerchantCategoryCode = prepaid.SimulatedTypeWithdrawal, "6011"
		}, prepaid.TransactionTypeATMCashAuthorisation, "90.00", "6011"},
		{"credit", func(p *prepaid.SimulateParams) { p.Type = prepaid.SimulatedTypePOSCredit }, prepaid.TransactionTypePOSCredit, "110.00", "5411"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			id := s.seed("100.00")
			params := purchase(id, "10.00")
			c.change(&params)
			result, err := s.client.Simulation.Transact(t.Context(), params)
			require.NoError(t, err)
			made := s.last(id)
			require.Equal(t, &prepaid.SimulationResult{
				Success: true, Message: "Approved", AuthorizationID: result.AuthorizationID, TransactionReference: string(made.ID),
			}, result)
			require.NotEmpty(t, result.AuthorizationID)
			require.Equal(t, []string{string(c.code), "QUICKMART", "T0000001", "100001", c.category, "Sydney"}, []string{
				made.Type, made.CardAcceptorID, made.TerminalID, made.AcquirerID, made.MerchantCategoryCode, made.Reference,
			})
			s.holds(id, c.balance)
		})
	}
}

// A transaction that the simulated network declines is a result: nothing was booked, and there is no error.
func TestE2ESimulationDeclines(t *testing.T) {
	t.Parallel()
	seed := func(account prepaidtest.SeedAccount) func(*stage) prepaid.AccountID {
		return func(s *stage) prepaid.AccountID { return s.AddAccount(account) }
	}
	rich := seed(prepaidtest.SeedAccount{Balance: "100.00"})
	same := func(*prepaid.SimulateParams) {}
	for _, c := range []struct {
		message string
		account func(*stage) prepaid.AccountID
		change  func(*prepaid.SimulateParams)
	}{
		{"Invalid account", func(*stage) prepaid.AccountID { return "nobody" }, same},
		{"Account closed", seed(prepaidtest.SeedAccount{Status: "closed"}), same},
		{"Account not active", seed(prepaidtest.SeedAccount{Status: "pre_active"}), same},
		{"Plastic not enabled", seed(prepaidtest.SeedAccount{PlasticDisabled: true}), same},
		{"Insufficient funds", rich, func(p *prepaid.SimulateParams) { p.Amount = prepaid.MustAmount("100.01") }},
		{"A withdrawal needs an ATM merchant category", rich, func(p *prepaid.SimulateParams) { p.Type = prepaid.SimulatedTypeWithdrawal }},
		{"Declined by policy", rich, func(p *prepaid.SimulateParams) { p.MerchantCategoryCode = "7995" }},
	} {
		t.Run(c.message, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			change := prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"7995"}}
			require.NoError(t, s.client.Policy.ChangeCategories(t.Context(), company, change))
			params := purchase(c.account(s), "10.00")
			c.change(&params)
			result, err := s.client.Simulation.Transact(t.Context(), params)
			require.NoError(t, err)
			require.Equal(t, &prepaid.SimulationResult{Message: c.message}, result)
		})
	}
}

func TestE2ESimulateAdviseReverseAndClear(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id, ctx := s.seed("100.00"), t.Context()
	params := purchase(id, "10.00")
	made, err := s.client.Simulation.Transact(ctx, params)
	require.NoError(t, err)
	related := about(params, made.AuthorizationID)

	related.Amount = prepaid.MustAmount("15.00")
	result, err := s.client.Simulation.Advise(ctx, related)
	require.NoError(t, err)
	require.Equal(t, &prepaid.SimulationResult{Success: true, Message: "Approved", AuthorizationID: made.AuthorizationID}, result)
	s.holds(id, "85.00")

	related.Amount = prepaid.MustAmount("5.00")
	result, err = s.client.Simulation.Reverse(ctx, related)
	require.NoError(t, err)
	require.Equal(t, &prepaid.SimulationResult{Success: true, Message: "Approved", AuthorizationID: made.AuthorizationID}, result)
	s.holds(id, "90.00")

	clearing := clearingOf(params, made.AuthorizationID)
	result, err = s.client.Simulation.Clear(ctx, clearing)
	require.NoError(t, err)
	require.Equal(t, &prepaid.SimulationResult{Success: true, Message: "Accepted"}, result)
	s.holds(id, "90.00")

	result, err = s.client.Simulation.ReverseClear(ctx, clearing)
	require.NoError(t, err)
	require.Equal(t, &prepaid.SimulationResult{Success: true, Message: "Accepted"}, result)
	s.holds(id, "100.00")

	var types []prepaid.TransactionType
	for item, err := range s.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		require.NoError(t, err)
		types = append(types, item.Type)
	}
	require.Equal(t, []prepaid.TransactionType{
		prepaid.TransactionTypeLoad, prepaid.TransactionTypePurchaseAuthorisation,
		prepaid.TransactionTypePurchaseAuthorisationReversal, prepaid.TransactionTypePurchaseAuthorisation, // advice
		prepaid.TransactionTypePurchaseAuthorisationReversal,
		prepaid.TransactionTypeClearingCreditBack, prepaid.TransactionTypeClearing, prepaid.TransactionTypeClearingReversal,
	}, types)
}

// Without a matching authorisation an advice and a forced-post clearing are booked, and a reversal is not.
func TestE2ESimulateWithoutAuthorisation(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id, ctx := s.seed("100.00"), t.Context()
	params := about(purchase(id, "10.00"), "000000000000")

	result, err := s.client.Simulation.Reverse(ctx, params)
	require.NoError(t, err)
	require.Equal(t, &prepaid.SimulationResult{Message: "There is no matching purchase authorisation"}, result)
	s.holds(id, "100.00")

	result, err = s.client.Simulation.Advise(ctx, params)
	require.NoError(t, err)
	require.True(t, result.Success)
	require.Equal(t, string(prepaid.TransactionTypePurchaseAuthorisation), s.last(id).Type)
	s.holds(id, "90.00")

	result, err = s.client.Simulation.Clear(ctx, clearingOf(params, "000000000000"))
	require.NoError(t, err)
	require.True(t, result.Success)
	s.holds(id, "80.00")
	require.Equal(t, string(prepaid.TransactionTypeClearing), s.last(id).Type)
}

// transaction_type must be that of the authorisation.
func TestE2ESimulateTypeMustMatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id, ctx := s.seed("100.00"), t.Context()
	params := purchase(id, "10.00")
	made, err := s.client.Simulation.Transact(ctx, params)
	require.NoError(t, err)
	params.Type = prepaid.SimulatedTypePOSCredit
	want := &prepaid.SimulationResult{Message: "The transaction type is not that of the authorisation"}
	for name, call := range map[string]func() (*prepaid.SimulationResult, error){
		"reverse": func() (*prepaid.SimulationResult, error) {
			return s.client.Simulation.Reverse(ctx, about(params, made.AuthorizationID))
		},
		"clear": func() (*prepaid.SimulationResult, error) {
			return s.client.Simulation.Clear(ctx, clearingOf(params, made.AuthorizationID))
		},
		"reverse clear": func() (*prepaid.SimulationResult, error) {
			return s.client.Simulation.ReverseClear(ctx, clearingOf(params, made.AuthorizationID))
		},
	} {
		result, err := call()
		require.NoError(t, err, name)
		require.Equal(t, want, result, name)
	}
	s.holds(id, "90.00")
}

// A clearing takes its time: nothing is booked before.
func TestE2ESimulateClearIsAsynchronous(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{SimulationDelay: time.Minute})
	id := s.seed("100.00")
	_, err := s.client.Simulation.Clear(t.Context(), clearingOf(purchase(id, "10.00"), ""))
	require.NoError(t, err)
	s.holds(id, "100.00")
	s.Advance(time.Minute)
	s.holds(id, "90.00")
}

// A value that the service refuses is refused before it is sent, by field name.
func TestE2ESimulateValidation(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	_, err := s.client.Simulation.Transact(t.Context(), about(purchase("a", "10.00"), "000000000000"))
	invalid(t, err, "authorization_id")
	_, err = s.client.Simulation.Clear(t.Context(), about(purchase("a", "10.00"), "000000000000"))
	invalid(t, err, "bank_name", "location", "location_code", "currency_code")
	_, err = s.client.Simulation.Reverse(t.Context(), prepaid.SimulateParams{Type: "purchase"})
	invalid(t, err, "transaction_type", "account_id", "amount")
	require.Empty(t, s.Requests())
}

// The simulator belongs to the test environment: the client refuses it elsewhere, and so does the service.
func TestE2ESimulateInProduction(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{Production: true})
	params := purchase(s.seed("100.00"), "10.00")
	config := s.Config()
	config.TestEnvironment = true // a mistake
	client := harness.NewClient(t, config)
	_, err := client.Simulation.Transact(t.Context(), params)
	require.ErrorIs(t, refused(t, err, 404, "not_found"), prepaid.ErrNotFound)

	before := len(s.Requests())
	for _, call := range []simulate{
		s.client.Simulation.Transact, s.client.Simulation.Advise, s.client.Simulation.Reverse, s.client.Simulation.Clear,
		s.client.Simulation.ReverseClear,
	} {
		_, err := call(t.Context(), params)
		require.ErrorContains(t, err, "rejected: invalid input: config.test_environment")
	}
	require.Len(t, s.Requests(), before)
}

// A transaction needs only the fields that the client requires, and later calls work without the others.
func TestE2ESimulationOfTheLeast(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id, ctx := s.seed("100.00"), t.Context()
	params := prepaid.SimulateParams{Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount("10.00")}
	made, err := s.client.Simulation.Transact(ctx, params)
	require.NoError(t, err)
	require.True(t, made.Success, made.Message)
	params.AuthorizationID = made.AuthorizationID
	for name, call := range map[string]simulate{"advise": s.client.Simulation.Advise, "clear": s.client.Simulation.Clear} {
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
}
