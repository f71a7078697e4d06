package e2e

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// exercise is an operation with a call.
type exercise struct {
	operation string
	prepare   preparation
}

// preparation creates what a call needs and returns the call.
type preparation func(s *hookStage) func(context.Context) error

// pinStep is one of the two calls with an envelope.
type pinStep func(context.Context, prepaid.SealedPINParams) (*prepaid.Response, error)

// done drops the result of a call.
func done[T any](_ T, err error) error { return err }

// onAccount is a call about an account with money on it.
func onAccount(call func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error) preparation {
	return func(s *hookStage) func(context.Context) error {
		id := s.seed("100.00")
		return func(ctx context.Context) error { return call(ctx, s.client, id) }
	}
}

// plain is a call without prerequisites.
func plain(call func(ctx context.Context, c *prepaid.Client) error) preparation {
	return func(s *hookStage) func(context.Context) error {
		return func(ctx context.Context) error { return call(ctx, s.client) }
	}
}

// onHook is a call about a registered hook.
func onHook(call func(ctx context.Context, c *prepaid.Client, id prepaid.HookID) error) preparation {
	return func(s *hookStage) func(context.Context) error {
		id := s.register(false)
		return func(ctx context.Context) error { return call(ctx, s.client, id) }
	}
}

// simulated is a call of the simulator about an earlier purchase.
func simulated(params func(prepaid.SimulateParams, string) prepaid.SimulateParams, call func(*prepaid.SimulationService) simulate) preparation {
	return func(s *hookStage) func(context.Context) error {
		bought := purchase(s.seed("100.00"), "10.00")
		made, err := s.client.Simulation.Transact(s.t.Context(), bought)
		require.NoError(s.t, err)
		return func(ctx context.Context) error {
			return done(call(s.client.Simulation)(ctx, params(bought, made.AuthorizationID)))
		}
	}
}

// sealed is a call with a PIN envelope.
func sealed(call func(*prepaid.PINService) pinStep) preparation {
	return func(s *hookStage) func(context.Context) error {
		params := s.pinChange(s.seed("0"), prepaid.PINKeyOptions{})
		return func(ctx context.Context) error { return done(call(s.client.PIN)(ctx, params)) }
	}
}

const company = prepaidtest.DefaultCompany

// exercises has every operation. Those that take only an ID follow from the table.
func exercises() []exercise {
	all := slices.Concat(tokenAndReportExercises(), policyExercises(), accountExercises(), moneyExercises(), otherExercises())
	for _, o := range operations.All() {
		if harness.OnlyID(o.Name, prepaid.AccountID(""), company, prepaid.HookID("")) != nil {
			all = append(all, exercise{o.Method + " " + o.Path, func(s *hookStage) func(context.Context) error {
				id := harness.OnlyID(o.Name, s.seed("100.00"), company, s.register(false))
				return func(ctx context.Context) error { return done(harness.Call(ctx, s.client, o.Name, id)) }
			}})
		}
	}
	return all
}

func tokenAndReportExercises() []exercise {
	return []exercise{
		{"POST /token", func(s *hookStage) func(context.Context) error {
			client := s.Client() // has no token yet
			return func(ctx context.Context) error { return done(client.Token(ctx)) }
		}},
		{"GET /reporting/templates/{templatename}", plain(func(ctx context.Context, c *prepaid.Client) error {
			return done(c.Reporting.Start(ctx, prepaidtest.DailySettlement, prepaid.StartReportParams{}))
		})},
		{"GET /reporting/templates/{templatename}/reports/{reportid}", func(s *hookStage) func(context.Context) error {
			run, err := s.client.Reporting.Start(s.t.Context(), prepaidtest.DailySettlement, prepaid.StartReportParams{})
			require.NoError(s.t, err)
			return func(ctx context.Context) error { return done(s.client.Reporting.Result(ctx, *run)) }
		}},
	}
}

func policyExercises() []exercise {
	return []exercise{
		{"GET /policy/mccodes", plain(func(ctx context.Context, c *prepaid.Client) error {
			return done(c.Policy.MerchantCategoryCodesPage(ctx, prepaid.Paging{}))
		})},
		{"POST /policy/{id}/categories", plain(func(ctx context.Context, c *prepaid.Client) error {
			return c.Policy.ChangeCategories(ctx, company, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"7995"}})
		})},
		{"POST /policy/{id}/merchants", plain(func(ctx context.Context, c *prepaid.Client) error {
			rule := prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}
			return c.Policy.ChangeMerchants(ctx, company, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Add: []prepaid.MerchantRule{rule}})
		})},
		{"POST /policy/{id}/terminals", plain(func(ctx context.Context, c *prepaid.Client) error {
			rule := prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}
			return c.Policy.ChangeTerminals(ctx, company, prepaid.ChangeRulesParams[prepaid.TerminalRule]{Add: []prepaid.TerminalRule{rule}})
		})},
	}
}

func accountExercises() []exercise {
	return []exercise{
		{"GET /accounts", plain(func(ctx context.Context, c *prepaid.Client) error {
			return done(c.Accounts.SearchPage(ctx, prepaid.SearchAccountsParams{ProgramClientID: "acme", ClientAccountKey: "none"}))
		})},
		{"POST /accounts", plain(func(ctx context.Context, c *prepaid.Client) error {
			return done(c.Accounts.Create(ctx, prepaid.CreateAccountParams{CompanyID: company, Cardholder: cardholder()}))
		})},
		{"GET /accounts/company/{companyid}", plain(func(ctx context.Context, c *prepaid.Client) error {
			return done(c.Accounts.SearchCompanyPage(ctx, company, prepaid.SearchCompanyParams{}))
		})},
		{"GET /accounts/{id}", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Accounts.Get(ctx, id))
		})},
		{"PUT /accounts/{id}", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return c.Accounts.Update(ctx, id, prepaid.UpdateAccountParams{Cardholder: cardholder()})
		})},
		{"GET /accounts/{id}/transactions", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Accounts.TransactionsPage(ctx, id, prepaid.ListTransactionsParams{}))
		})},
		{"PUT /accounts/{id}/status", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return c.Accounts.SetStatus(ctx, id, prepaid.SetStatusParams{Status: prepaid.AccountStatusInactive})
		})},
		{"PUT /accounts/{id}/plastic", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return c.Accounts.SetPlasticEnabled(ctx, id, prepaid.SetPlasticEnabledParams{})
		})},
		{"POST /accounts/{id}/wallet/{provider}", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Accounts.ProvisionWallet(ctx, id, "googlepay", prepaid.ProvisionWalletParams{}))
		})},
		{"POST /accounts/{id}/dip", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Accounts.ExchangeKey(ctx, id, harness.KeyExchange()))
		})},
	}
}

func moneyExercises() []exercise {
	return []exercise{
		{"POST /accounts/{id}/directentryout", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Accounts.DirectEntryOut(ctx, id, directEntry("25.50")))
		})},
		{"POST /accounts/{id}/transfer", func(s *hookStage) func(context.Context) error {
			from, to := s.seed("100.00"), s.seed("0")
			return func(ctx context.Context) error {
				return done(s.client.Accounts.Transfer(ctx, from, harness.TransferTo(to, "25.50")))
			}
		}},
		{"POST /funding/redemptions", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Funding.Redeem(ctx, redemption(id, "25.50")))
		})},
		{"POST /funding/reversals", func(s *hookStage) func(context.Context) error {
			params := redemption(s.seed("100.00"), "25.50")
			made, err := s.client.Funding.Redeem(s.t.Context(), params)
			require.NoError(s.t, err)
			return func(ctx context.Context) error {
				return done(s.client.Funding.Reverse(ctx, reversal(params, made.TransactionID)))
			}
		}},
		{"POST /funding/refunds", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Funding.Refund(ctx, refund(id, "25.50")))
		})},
		{"POST /simulation/transact", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.Simulation.Transact(ctx, purchase(id, "10.00")))
		})},
		{"POST /simulation/advice", simulated(about, func(s *prepaid.SimulationService) simulate { return s.Advise })},
		{"POST /simulation/reverse", simulated(about, func(s *prepaid.SimulationService) simulate { return s.Reverse })},
		{"POST /simulation/clear", simulated(clearingOf, func(s *prepaid.SimulationService) simulate { return s.Clear })},
		{"POST /simulation/reverse_clear", simulated(clearingOf, func(s *prepaid.SimulationService) simulate { return s.ReverseClear })},
	}
}

func otherExercises() []exercise {
	return []exercise{
		{"POST /pin/initiate", onAccount(func(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) error {
			return done(c.PIN.Initiate(ctx, initiation(id)))
		})},
		{"POST /pin/validate", sealed(func(s *prepaid.PINService) pinStep {
			return s.Validate
		})},
		{"POST /pin/execute", sealed(func(s *prepaid.PINService) pinStep {
			return s.Execute
		})},
		{"GET /hooks", onHook(func(ctx context.Context, c *prepaid.Client, _ prepaid.HookID) error {
			return done(c.Hooks.ListPage(ctx, prepaid.Paging{}))
		})},
		{"POST /hooks", func(s *hookStage) func(context.Context) error {
			return func(ctx context.Context) error { return done(s.client.Hooks.Create(ctx, s.hook(true))) }
		}},
		{"PATCH /hooks/{id}", onHook(func(ctx context.Context, c *prepaid.Client, id prepaid.HookID) error {
			return c.Hooks.Update(ctx, id, prepaid.UpdateHookParams{Enabled: new(false)})
		})},
		{"GET /hooks/{id}/undeliverable", onHook(func(ctx context.Context, c *prepaid.Client, id prepaid.HookID) error {
			return done(c.Hooks.UndeliverablePage(ctx, id, prepaid.Paging{}))
		})},
		{"POST /hooks/{id}/undeliverable/dismiss", func(s *hookStage) func(context.Context) error {
			id, messages := s.undelivered(1)
			return func(ctx context.Context) error { return s.client.Hooks.Dismiss(ctx, id, messages...) }
		}},
	}
}
