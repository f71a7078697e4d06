package prepaidtest

import (
	"net/http"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// tokenOperation is the one without a bearer token.
const tokenOperation = "POST /token"

// routes is the table of the 44 operations, in the order of section 4.
func (s *service) routes() exchange.Table {
	get, post, put, patch, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	paging := []string{"page_number", "page_size"}
	groups := []string{"with_personal", "with_directentry", "with_freetext", "with_bpay"}
	account := slices.Concat(groups, []string{"with_tokeninfo", "with_correspondingaccountid", "with_cardholdertype"})
	search := slices.Concat([]string{"client_id", "client_account_key"}, groups, paging)
	company := slices.Concat([]string{"client_id", "program_id", "status", "first_name", "last_name", "mobile", "with_personal"}, paging)
	history := slices.Concat([]string{"start_date", "end_date"}, paging)
	table := exchange.Table{
		{Method: post, Template: "/token", Handle: s.tokens.issueToken, Open: true},

		{Method: get, Template: "/reporting/templates/{templatename}", Handle: s.reports.startReport, Query: []string{"include_column_headers"}},
		{Method: get, Template: "/reporting/templates/{templatename}/reports/{reportid}", Handle: s.reports.reportResult},

		{Method: get, Template: "/policy/mccodes", Handle: s.policies.merchantCategoryCodes, Query: paging},
		{Method: get, Template: "/policy/{id}/restrictions", Handle: s.policies.policyRestrictions},
		{Method: get, Template: "/policy/{id}/policy", Handle: s.policies.policyWhole},
		{Method: get, Template: "/policy/{id}/categories", Handle: s.policies.policyCategories},
		{Method: get, Template: "/policy/{id}/merchants", Handle: s.policies.policyMerchants},
		{Method: get, Template: "/policy/{id}/terminals", Handle: s.policies.policyTerminals},
		{Method: post, Template: "/policy/{id}/categories", Handle: s.policies.changeCategories},
		{Method: post, Template: "/policy/{id}/merchants", Handle: s.policies.changeMerchants},
		{Method: post, Template: "/policy/{id}/terminals", Handle: s.policies.changeTerminals},

		{Method: get, Template: "/accounts", Handle: s.accounts.searchAccounts, Query: search},
		{Method: post, Template: "/accounts", Handle: s.accounts.createAccount},
		{Method: get, Template: "/accounts/company/{companyid}", Handle: s.accounts.searchCompany, Query: company},
		{Method: get, Template: "/accounts/{id}", Handle: s.accounts.getAccount, Query: account},
		{Method: put, Template: "/accounts/{id}", Handle: s.accounts.updateAccount},
		{Method: get, Template: "/accounts/{id}/transactions", Handle: s.accounts.transactions, Query: history},
		{Method: get, Template: "/accounts/{id}/status", Handle: s.accounts.getStatus},
		{Method: put, Template: "/accounts/{id}/status", Handle: s.accounts.putStatus},
		{Method: put, Template: "/accounts/{id}/plastic", Handle: s.accounts.putPlastic},
		{Method: get, Template: "/accounts/{id}/tokens", Handle: s.accounts.walletTokens},
		{Method: post, Template: "/accounts/{id}/wallet/{provider}", Handle: s.accounts.provisionWallet, BadInput: http.StatusNotFound},
		{Method: post, Template: "/accounts/{id}/dip", Handle: s.keys.exchangeKey},
		{Method: post, Template: "/accounts/{id}/directentryout", Handle: s.transfers.directEntryOut},
		{Method: post, Template: "/accounts/{id}/transfer", Handle: s.transfers.transfer},

		{Method: post, Template: "/funding/redemptions", Handle: s.funding.redeem},
		{Method: post, Template: "/funding/reversals", Handle: s.funding.reverseRedemption},
		{Method: post, Template: "/funding/refunds", Handle: s.funding.refund},

		{Method: post, Template: "/simulation/transact", Handle: s.simulator.simulateTransact, TestOnly: true},
		{Method: post, Template: "/simulation/advice", Handle: s.simulator.simulateAdvice, TestOnly: true},
		{Method: post, Template: "/simulation/reverse", Handle: s.simulator.simulateReverse, TestOnly: true},
		{Method: post, Template: "/simulation/clear", Handle: s.simulator.simulateClear, TestOnly: true},
		{Method: post, Template: "/simulation/reverse_clear", Handle: s.simulator.simulateReverseClear, TestOnly: true},

		{Method: post, Template: "/pin/initiate", Handle: s.pins.initiatePIN},
		{Method: post, Template: "/pin/validate", Handle: s.pins.validatePIN},
		{Method: post, Template: "/pin/execute", Handle: s.pins.executePIN},

		{Method: get, Template: "/hooks", Handle: s.hooks.listHooks, Query: paging},
		{Method: get, Template: "/hooks/{id}", Handle: s.hooks.getHook},
		{Method: post, Template: "/hooks", Handle: s.hooks.createHook},
		{Method: patch, Template: "/hooks/{id}", Handle: s.hooks.updateHook},
		{Method: remove, Template: "/hooks/{id}", Handle: s.hooks.deleteHook},
		{Method: get, Template: "/hooks/{id}/undeliverable", Handle: s.hooks.listUndeliverable, Query: paging},
		{Method: post, Template: "/hooks/{id}/undeliverable/dismiss", Handle: s.hooks.dismissUndeliverable},
	}
	table.Prepare()
	return table
}

// Operations lists what the emulator answers, each as method and path template of the reference, for example
// "POST /accounts/{id}/transfer". These are the names that Inject takes and that Requests reports.
func Operations() []string {
	table := new(service).routes()
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.Name()
	}
	return names
}
