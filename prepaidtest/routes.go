package prepaidtest

import (
	"net/http"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// tokenOperation is the one without a bearer token.
const tokenOperation = "POST /token"

// routes is the table of the 44 operations, in the order of section 4.
func routes(s *Server) exchange.Table {
	get, post, put, patch, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	paging := []string{"page_number", "page_size"}
	groups := []string{"with_personal", "with_directentry", "with_freetext", "with_bpay"}
	account := slices.Concat(groups, []string{"with_tokeninfo", "with_correspondingaccountid", "with_cardholdertype"})
	search := slices.Concat([]string{"client_id", "client_account_key"}, groups, paging)
	company := slices.Concat([]string{"client_id", "program_id", "status", "first_name", "last_name", "mobile", "with_personal"}, paging)
	history := slices.Concat([]string{"start_date", "end_date"}, paging)
	table := exchange.Table{
		{Method: post, Template: "/token", Handle: s.issueToken, Open: true},

		{Method: get, Template: "/reporting/templates/{templatename}", Handle: s.startReport, Query: []string{"include_column_headers"}},
		{Method: get, Template: "/reporting/templates/{templatename}/reports/{reportid}", Handle: s.reportResult},

		{Method: get, Template: "/policy/mccodes", Handle: s.merchantCategoryCodes, Query: paging},
		{Method: get, Template: "/policy/{id}/restrictions", Handle: s.policyRestrictions},
		{Method: get, Template: "/policy/{id}/policy", Handle: s.policyWhole},
		{Method: get, Template: "/policy/{id}/categories", Handle: s.policyCategories},
		{Method: get, Template: "/policy/{id}/merchants", Handle: s.policyMerchants},
		{Method: get, Template: "/policy/{id}/terminals", Handle: s.policyTerminals},
		{Method: post, Template: "/policy/{id}/categories", Handle: s.changeCategories},
		{Method: post, Template: "/policy/{id}/merchants", Handle: s.changeMerchants},
		{Method: post, Template: "/policy/{id}/terminals", Handle: s.changeTerminals},

		{Method: get, Template: "/accounts", Handle: s.searchAccounts, Query: search},
		{Method: post, Template: "/accounts", Handle: s.createAccount},
		{Method: get, Template: "/accounts/company/{companyid}", Handle: s.searchCompany, Query: company},
		{Method: get, Template: "/accounts/{id}", Handle: s.getAccount, Query: account},
		{Method: put, Template: "/accounts/{id}", Handle: s.updateAccount},
		{Method: get, Template: "/accounts/{id}/transactions", Handle: s.transactions, Query: history},
		{Method: get, Template: "/accounts/{id}/status", Handle: s.getStatus},
		{Method: put, Template: "/accounts/{id}/status", Handle: s.putStatus},
		{Method: put, Template: "/accounts/{id}/plastic", Handle: s.putPlastic},
		{Method: get, Template: "/accounts/{id}/tokens", Handle: s.walletTokens},
		{Method: post, Template: "/accounts/{id}/wallet/{provider}", Handle: s.provisionWallet, BadInput: http.StatusNotFound},
		{Method: post, Template: "/accounts/{id}/dip", Handle: s.exchangeKey},
		{Method: post, Template: "/accounts/{id}/directentryout", Handle: s.directEntryOut},
		{Method: post, Template: "/accounts/{id}/transfer", Handle: s.transfer},

		{Method: post, Template: "/funding/redemptions", Handle: s.redeem},
		{Method: post, Template: "/funding/reversals", Handle: s.reverseRedemption},
		{Method: post, Template: "/funding/refunds", Handle: s.refund},

		{Method: post, Template: "/simulation/transact", Handle: s.simulateTransact, TestOnly: true},
		{Method: post, Template: "/simulation/advice", Handle: s.simulateAdvice, TestOnly: true},
		{Method: post, Template: "/simulation/reverse", Handle: s.simulateReverse, TestOnly: true},
		{Method: post, Template: "/simulation/clear", Handle: s.simulateClear, TestOnly: true},
		{Method: post, Template: "/simulation/reverse_clear", Handle: s.simulateReverseClear, TestOnly: true},

		{Method: post, Template: "/pin/initiate", Handle: s.initiatePIN},
		{Method: post, Template: "/pin/validate", Handle: s.validatePIN},
		{Method: post, Template: "/pin/execute", Handle: s.executePIN},

		{Method: get, Template: "/hooks", Handle: s.listHooks, Query: paging},
		{Method: get, Template: "/hooks/{id}", Handle: s.getHook},
		{Method: post, Template: "/hooks", Handle: s.createHook},
		{Method: patch, Template: "/hooks/{id}", Handle: s.updateHook},
		{Method: remove, Template: "/hooks/{id}", Handle: s.deleteHook},
		{Method: get, Template: "/hooks/{id}/undeliverable", Handle: s.listUndeliverable, Query: paging},
		{Method: post, Template: "/hooks/{id}/undeliverable/dismiss", Handle: s.dismissUndeliverable},
	}
	table.Prepare()
	return table
}

// Operations lists what the emulator answers, each as method and path template of the reference, for example
// "POST /accounts/{id}/transfer". These are the names that Inject takes and that Requests reports.
func Operations() []string {
	table := routes(nil)
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.Name()
	}
	return names
}
