package service

import (
	"net/http"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
)

// TokenOperation needs no bearer token.
const TokenOperation = "POST /token"

// Routes is the table of all operations, in the order of section 4.
func (s *Service) Routes() exchange.Table {
	get, post, put, patch, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	paging := []string{"page_number", "page_size"}
	groups := []string{"with_personal", "with_directentry", "with_freetext", "with_bpay"}
	account := slices.Concat(groups, []string{"with_tokeninfo", "with_correspondingaccountid", "with_cardholdertype"})
	search := slices.Concat([]string{"client_id", "client_account_key"}, groups, paging)
	company := slices.Concat([]string{"client_id", "program_id", "status", "first_name", "last_name", "mobile", "with_personal"}, paging)
	history := slices.Concat([]string{"start_date", "end_date"}, paging)
	table := exchange.Table{
		{Method: post, Template: "/token", Handle: s.Tokens.IssueToken, Open: true},

		{Method: get, Template: "/reporting/templates/{templatename}", Handle: s.Reports.Start, Query: []string{"include_column_headers"}},
		{Method: get, Template: "/reporting/templates/{templatename}/reports/{reportid}", Handle: s.Reports.Result},

		{Method: get, Template: "/policy/mccodes", Handle: s.Policies.MerchantCategoryCodes, Query: paging},
		{Method: get, Template: "/policy/{id}/restrictions", Handle: s.Policies.Restrictions},
		{Method: get, Template: "/policy/{id}/policy", Handle: s.Policies.Whole},
		{Method: get, Template: "/policy/{id}/categories", Handle: s.Policies.Categories},
		{Method: get, Template: "/policy/{id}/merchants", Handle: s.Policies.Merchants},
		{Method: get, Template: "/policy/{id}/terminals", Handle: s.Policies.Terminals},
		{Method: post, Template: "/policy/{id}/categories", Handle: s.Policies.ChangeCategories},
		{Method: post, Template: "/policy/{id}/merchants", Handle: s.Policies.ChangeMerchants},
		{Method: post, Template: "/policy/{id}/terminals", Handle: s.Policies.ChangeTerminals},

		{Method: get, Template: "/accounts", Handle: s.Accounts.Search, Query: search},
		{Method: post, Template: "/accounts", Handle: s.Accounts.Create},
		{Method: get, Template: "/accounts/company/{companyid}", Handle: s.Accounts.SearchCompany, Query: company},
		{Method: get, Template: "/accounts/{id}", Handle: s.Accounts.Get, Query: account},
		{Method: put, Template: "/accounts/{id}", Handle: s.Accounts.Update},
		{Method: get, Template: "/accounts/{id}/transactions", Handle: s.Accounts.Transactions, Query: history},
		{Method: get, Template: "/accounts/{id}/status", Handle: s.Accounts.Status},
		{Method: put, Template: "/accounts/{id}/status", Handle: s.Accounts.PutStatus},
		{Method: put, Template: "/accounts/{id}/plastic", Handle: s.Accounts.PutPlastic},
		{Method: get, Template: "/accounts/{id}/tokens", Handle: s.Accounts.WalletTokens},
		{Method: post, Template: "/accounts/{id}/wallet/{provider}", Handle: s.Accounts.ProvisionWallet, BadInput: http.StatusNotFound},
		{Method: post, Template: "/accounts/{id}/dip", Handle: s.Keys.Exchange},
		{Method: post, Template: "/accounts/{id}/directentryout", Handle: s.Transfers.DirectEntryOut},
		{Method: post, Template: "/accounts/{id}/transfer", Handle: s.Transfers.Transfer},

		{Method: post, Template: "/funding/redemptions", Handle: s.funding.Redeem},
		{Method: post, Template: "/funding/reversals", Handle: s.funding.ReverseRedemption},
		{Method: post, Template: "/funding/refunds", Handle: s.funding.Refund},

		{Method: post, Template: "/simulation/transact", Handle: s.Simulator.Handle(simulator.Transact), TestOnly: true},
		{Method: post, Template: "/simulation/advice", Handle: s.Simulator.Handle(simulator.Advice), TestOnly: true},
		{Method: post, Template: "/simulation/reverse", Handle: s.Simulator.Handle(simulator.Reverse), TestOnly: true},
		{Method: post, Template: "/simulation/clear", Handle: s.Simulator.Handle(simulator.Clear), TestOnly: true},
		{Method: post, Template: "/simulation/reverse_clear", Handle: s.Simulator.Handle(simulator.ReverseClear), TestOnly: true},

		{Method: post, Template: "/pin/initiate", Handle: s.PINs.Initiate},
		{Method: post, Template: "/pin/validate", Handle: s.PINs.Validate},
		{Method: post, Template: "/pin/execute", Handle: s.PINs.Execute},

		{Method: get, Template: "/hooks", Handle: s.Hooks.List, Query: paging},
		{Method: get, Template: "/hooks/{id}", Handle: s.Hooks.Get},
		{Method: post, Template: "/hooks", Handle: s.Hooks.Create},
		{Method: patch, Template: "/hooks/{id}", Handle: s.Hooks.Update},
		{Method: remove, Template: "/hooks/{id}", Handle: s.Hooks.Delete},
		{Method: get, Template: "/hooks/{id}/undeliverable", Handle: s.Hooks.ListUndeliverable, Query: paging},
		{Method: post, Template: "/hooks/{id}/undeliverable/dismiss", Handle: s.Hooks.DismissUndeliverable},
	}
	table.Prepare()
	return table
}

// Operations lists the operations by method and path template.
func Operations() []string {
	table := new(Service).Routes()
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.Name()
	}
	return names
}
