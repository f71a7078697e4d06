package prepaid

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

type simulateCall = func(context.Context, *Client, SimulateParams) error

func simulateCalls() map[string]simulateCall {
	result := func(_ *SimulationResult, err error) error { return err }
	return map[string]simulateCall{
		"Transact": func(ctx context.Context, c *Client, p SimulateParams) error {
			return result(c.Simulation.Transact(ctx, p))
		},
		"Advise": func(ctx context.Context, c *Client, p SimulateParams) error {
			return result(c.Simulation.Advise(ctx, p))
		},
		"Reverse": func(ctx context.Context, c *Client, p SimulateParams) error {
			return result(c.Simulation.Reverse(ctx, p))
		},
		"Clear": func(ctx context.Context, c *Client, p SimulateParams) error {
			return result(c.Simulation.Clear(ctx, p))
		},
		"ReverseClear": func(ctx context.Context, c *Client, p SimulateParams) error {
			return result(c.Simulation.ReverseClear(ctx, p))
		},
	}
}

func validSimulate() SimulateParams {
	return SimulateParams{Type: SimulatedTypePurchase, AccountID: "eaid", Amount: Cents(1)}
}

// Section 2.15 with section 4.6: what all five take, and what only some do.
func TestValidationSimulation(t *testing.T) {
	t.Parallel()
	type P = SimulateParams
	kind := func(p *P) *SimulatedType { return &p.Type }
	rows := []limit[P]{
		form("2.15", "transaction_type", "is required", kind, "", "Purchase"),
		form("2.15", "transaction_type", "must be one of Purchase, Withdrawal, PosCredit", kind, "pURCHASE", "PosCredit"),
		form("2.15", "transaction_type", "must be one of Purchase, Withdrawal, PosCredit", kind, "POSCREDIT", "Purchase"),
		needed("2.15", "account_id", func(p *P) *AccountID { return &p.AccountID }),
		{
			ref: "4.6", field: "mcc", rule: "is required",
			bad:  func(p *P) { p.Type = SimulatedTypeWithdrawal },
			good: func(p *P) { p.Type, p.MerchantCategoryCode = SimulatedTypeWithdrawal, "6011" },
		},
	}
	rows = append(rows, amountMeant("2.15", func(p *P) *Amount { return &p.Amount }, func(p *P) *bool { return &p.ZeroAmount })...)
	rows = append(rows, mccLimits("2.15", "mcc", func(p *P) *MCC { return &p.MerchantCategoryCode })[1:]...)
	foreign := func(field string, at func(*P) *string) limit[P] {
		return limit[P]{ref: "2.15", field: field, rule: "is not taken by this operation", shown: "q7Zx", bad: put(at, "q7Zx"), good: put(at, "")}
	}
	located := []limit[P]{
		foreign("bank_name", func(p *P) *string { return &p.BankName }),
		foreign("location", func(p *P) *string { return &p.Location }),
		foreign("location_code", func(p *P) *string { return &p.LocationCode }),
		foreign("currency_code", func(p *P) *string { return &p.CurrencyCode }),
	}
	authorized := foreign("authorization_id", func(p *P) *string { return &p.AuthorizationID })
	for name, call := range simulateCalls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine, full := rows, validSimulate()
			full.AcquirerID, full.MerchantID, full.TerminalID, full.MerchantCategoryCode = odd(99), odd(99), odd(99), "0000"
			if name == "Clear" || name == "ReverseClear" {
				mine = append(mine[:len(mine):len(mine)], located...)
			} else {
				full.BankName, full.Location, full.LocationCode, full.CurrencyCode = odd(99), odd(99), odd(99), odd(99)
			}
			if name == "Transact" {
				mine = append(mine[:len(mine):len(mine)], authorized)
			} else {
				full.AuthorizationID = odd(99)
			}
			refused(t, validSimulate, call, mine...)
			sends(t, "everything it takes", func(ctx context.Context, c *Client) error { return call(ctx, c, full) })
			full.Amount = MustAmount("-9.17")
			sent := sends(t, "below zero", func(ctx context.Context, c *Client) error { return call(ctx, c, full) })
			require.Contains(t, sent.body, `"amount":-9.17,`)
		})
	}
	requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *Client) error {
		_, err := c.Simulation.Transact(ctx, P{
			AcquirerID: "\xff", MerchantID: "\xff", TerminalID: "\xff", MerchantCategoryCode: "x", BankName: "\xff", Location: "\xff",
			LocationCode: "\xff", CurrencyCode: "\xff", AuthorizationID: "x",
		})
		return err
	}), "", fault{"transaction_type", ""}, fault{"account_id", ""}, fault{"amount", ""}, fault{"acquirer_id", ""},
		fault{"merchant_id", ""}, fault{"terminal_id", ""}, fault{"mcc", ""}, fault{"bank_name", ""}, fault{"location", ""},
		fault{"location_code", ""}, fault{"currency_code", ""}, fault{"authorization_id", ""})
}

// Section 8: the simulator is available only in the test environment. Even a faulty request says so.
func TestValidationSimulationInProduction(t *testing.T) {
	t.Parallel()
	config := limitConfig()
	config.Environment = EnvironmentProduction
	config.Transport = roundTripFunc(func(*http.Request) (*http.Response, error) {
		t.Error("a request left")
		return nil, errors.New("no request may leave")
	})
	client, err := NewClient(config)
	require.NoError(t, err)
	defer client.Close()
	for name, call := range simulateCalls() {
		for _, params := range []SimulateParams{validSimulate(), {}} {
			err := call(t.Context(), client, params)
			require.ErrorIs(t, err, ErrTestOnly, name)
			require.Equal(t, OutcomeRejected, OutcomeOf(err), name)
		}
	}
}
