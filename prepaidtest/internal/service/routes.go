package service

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
)

// TokenOperation needs no bearer token.
const TokenOperation = "POST /token"

// Routes is the table of all operations, in the order of section 4.
func (s *Service) Routes() exchange.Table {
	return exchange.NewTable(map[string]func(*exchange.Call) exchange.Response{
		"Token": s.Tokens.IssueToken,

		"Reporting.Start": s.Reports.Start, "Reporting.Result": s.Reports.Result,

		"Policy.MerchantCategoryCodes": s.Policies.MerchantCategoryCodes,
		"Policy.Restrictions":          s.Policies.Restrictions,
		"Policy.Get":                   s.Policies.Whole,
		"Policy.Categories":            s.Policies.Categories, "Policy.ChangeCategories": s.Policies.ChangeCategories,
		"Policy.Merchants": s.Policies.Merchants, "Policy.ChangeMerchants": s.Policies.ChangeMerchants,
		"Policy.Terminals": s.Policies.Terminals, "Policy.ChangeTerminals": s.Policies.ChangeTerminals,

		"Accounts.Search": s.Accounts.Search, "Accounts.SearchCompany": s.Accounts.SearchCompany, "Accounts.Get": s.Accounts.Get,
		"Accounts.Create": s.Accounts.Create, "Accounts.Update": s.Accounts.Update,
		"Accounts.Transactions": s.Accounts.Transactions, "Accounts.Summary": s.Accounts.Status,
		"Accounts.SetStatus": s.Accounts.PutStatus, "Accounts.SetPlasticEnabled": s.Accounts.PutPlastic,
		"Accounts.WalletTokens": s.Accounts.WalletTokens, "Accounts.ProvisionWallet": s.Accounts.ProvisionWallet,
		"Accounts.ExchangeKey": s.Keys.Exchange, "Accounts.DirectEntryOut": s.Transfers.DirectEntryOut, "Accounts.Transfer": s.Transfers.Transfer,

		"Funding.Redeem": s.funding.Redeem, "Funding.Reverse": s.funding.ReverseRedemption, "Funding.Refund": s.funding.Refund,

		"Simulation.Transact": s.Simulator.Handle(simulator.Transact), "Simulation.Advise": s.Simulator.Handle(simulator.Advice),
		"Simulation.Reverse": s.Simulator.Handle(simulator.Reverse), "Simulation.Clear": s.Simulator.Handle(simulator.Clear),
		"Simulation.ReverseClear": s.Simulator.Handle(simulator.ReverseClear),

		"PIN.Initiate": s.PINs.Initiate, "PIN.Validate": s.PINs.Validate, "PIN.Execute": s.PINs.Execute,

		"Hooks.List": s.Hooks.List, "Hooks.Create": s.Hooks.Create, "Hooks.Get": s.Hooks.Get, "Hooks.Update": s.Hooks.Update,
		"Hooks.Delete": s.Hooks.Delete, "Hooks.Undeliverable": s.Hooks.ListUndeliverable, "Hooks.Dismiss": s.Hooks.DismissUndeliverable,
	})
}

// Operations lists the operations by method and path template.
func Operations() []string {
	table := exchange.NewTable(nil)
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.Title()
	}
	return names
}
