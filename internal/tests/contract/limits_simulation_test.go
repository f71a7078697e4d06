package contract

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

type simulateCall = func(context.Context, *prepaid.Client, prepaid.SimulateParams) error

func simulateCalls() map[string]simulateCall {
	calls := map[string]simulateCall{}
	for _, name := range []string{"Transact", "Advise", "Reverse", "Clear", "ReverseClear"} {
		calls[name] = method[prepaid.SimulateParams]("Simulation." + name)
	}
	return calls
}

func validSimulate() prepaid.SimulateParams {
	return prepaid.SimulateParams{Type: prepaid.SimulatedTypePurchase, AccountID: "eaid", Amount: prepaid.Cents(1)}
}

// Section 2.15 with section 4.6: the fields that all five take, and those that only some do.
func TestValidationSimulation(t *testing.T) {
	t.Parallel()
	type P = prepaid.SimulateParams
	kind := func(p *P) *prepaid.SimulatedType { return &p.Type }
	rows := []limit[P]{
		form("2.15", "transaction_type", "is required", kind, "", "Purchase"),
		form("2.15", "transaction_type", "must be one of Purchase, Withdrawal, PosCredit", kind, "pURCHASE", "PosCredit"),
		form("2.15", "transaction_type", "must be one of Purchase, Withdrawal, PosCredit", kind, "POSCREDIT", "Purchase"),
		needed("2.15", "account_id", func(p *P) *prepaid.AccountID { return &p.AccountID }),
	}
	rows = append(rows, amountMeant("2.15", func(p *P) *prepaid.Amount { return &p.Amount }, func(p *P) *bool { return &p.ZeroAmount })...)
	rows = append(rows, mccLimits("2.15", "mcc", func(p *P) *prepaid.MCC { return &p.MerchantCategoryCode })[1:]...)
	foreign := func(field string, at func(*P) *string) limit[P] {
		return limit[P]{ref: "2.15", field: field, rule: "is not accepted by this operation", shown: "q7Zx", bad: put(at, "q7Zx"), good: put(at, "")}
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
			full.AcquirerID, full.MerchantID, full.TerminalID, full.MerchantCategoryCode = harness.WideText(99), harness.WideText(99), harness.WideText(99), "0000"
			if name == "Clear" || name == "ReverseClear" {
				mine = append(mine[:len(mine):len(mine)], located...)
			} else {
				full.BankName, full.Location, full.LocationCode, full.CurrencyCode = harness.WideText(99), harness.WideText(99), harness.WideText(99), harness.WideText(99)
			}
			if name == "Transact" {
				mine = append(mine[:len(mine):len(mine)], authorized, limit[P]{
					ref: "4.6", field: "mcc", rule: "is required",
					bad:  func(p *P) { p.Type = prepaid.SimulatedTypeWithdrawal },
					good: func(p *P) { p.Type, p.MerchantCategoryCode = prepaid.SimulatedTypeWithdrawal, "6011" },
				})
			} else {
				full.AuthorizationID = harness.WideText(99)
				withdrawal := validSimulate()
				withdrawal.Type = prepaid.SimulatedTypeWithdrawal
				sends(t, "a withdrawal without mcc", func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, withdrawal) })
			}
			requireLimits(t, validSimulate, call, mine...)
			sends(t, "everything it takes", func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, full) })
			full.Amount = prepaid.MustAmount("-9.17")
			sent := sends(t, "below zero", func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, full) })
			require.Contains(t, sent.body, `"amount":-9.17,`)
		})
	}
	requireRefusal(t, sendsNothing(t, harness.Calling("Simulation.Transact", P{
		AcquirerID: "\xff", MerchantID: "\xff", TerminalID: "\xff", MerchantCategoryCode: "x", BankName: "\xff", Location: "\xff",
		LocationCode: "\xff", CurrencyCode: "\xff", AuthorizationID: "x",
	})), "", fields("transaction_type", "account_id", "amount", "acquirer_id", "merchant_id", "terminal_id",
		"mcc", "bank_name", "location", "location_code", "currency_code", "authorization_id")...)
}
