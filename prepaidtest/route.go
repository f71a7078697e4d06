package prepaidtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// prefix is part of every address (section 9).
const prefix = "/3.0"

// tokenOperation is the one without a bearer token.
const tokenOperation = "POST /token"

// route is one operation of the reference.
type route struct {
	method, template string
	segments         []string
	fixed            int // how many of them are no parameters
	handle           func(*Server, *call) reply
	badInput         int      // status of input that cannot be used: 400, or 404 where the row has that for it
	open             bool     // needs no bearer token
	query            []string // names of its query parameters
	testOnly         bool     // simulator
}

// routes is the table of the 44 operations, in the order of section 4.
func routes() []*route {
	get, post, put, patch, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	paging := []string{"page_number", "page_size"}
	groups := []string{"with_personal", "with_directentry", "with_freetext", "with_bpay"}
	account := slices.Concat(groups, []string{"with_tokeninfo", "with_correspondingaccountid", "with_cardholdertype"})
	search := slices.Concat([]string{"client_id", "client_account_key"}, groups, paging)
	company := slices.Concat([]string{"client_id", "program_id", "status", "first_name", "last_name", "mobile", "with_personal"}, paging)
	history := slices.Concat([]string{"start_date", "end_date"}, paging)
	table := []*route{
		{method: post, template: "/token", handle: (*Server).issueToken, open: true},

		{method: get, template: "/reporting/templates/{templatename}", handle: (*Server).startReport, query: []string{"include_column_headers"}},
		{method: get, template: "/reporting/templates/{templatename}/reports/{reportid}", handle: (*Server).reportResult},

		{method: get, template: "/policy/mccodes", handle: (*Server).merchantCategoryCodes, query: paging},
		{method: get, template: "/policy/{id}/restrictions", handle: (*Server).policyRestrictions},
		{method: get, template: "/policy/{id}/policy", handle: (*Server).policyWhole},
		{method: get, template: "/policy/{id}/categories", handle: (*Server).policyCategories},
		{method: get, template: "/policy/{id}/merchants", handle: (*Server).policyMerchants},
		{method: get, template: "/policy/{id}/terminals", handle: (*Server).policyTerminals},
		{method: post, template: "/policy/{id}/categories", handle: (*Server).changeCategories},
		{method: post, template: "/policy/{id}/merchants", handle: (*Server).changeMerchants},
		{method: post, template: "/policy/{id}/terminals", handle: (*Server).changeTerminals},

		{method: get, template: "/accounts", handle: (*Server).searchAccounts, query: search},
		{method: post, template: "/accounts", handle: (*Server).createAccount},
		{method: get, template: "/accounts/company/{companyid}", handle: (*Server).searchCompany, query: company},
		{method: get, template: "/accounts/{id}", handle: (*Server).getAccount, query: account},
		{method: put, template: "/accounts/{id}", handle: (*Server).updateAccount},
		{method: get, template: "/accounts/{id}/transactions", handle: (*Server).transactions, query: history},
		{method: get, template: "/accounts/{id}/status", handle: (*Server).getStatus},
		{method: put, template: "/accounts/{id}/status", handle: (*Server).putStatus},
		{method: put, template: "/accounts/{id}/plastic", handle: (*Server).putPlastic},
		{method: get, template: "/accounts/{id}/tokens", handle: (*Server).walletTokens},
		{method: post, template: "/accounts/{id}/wallet/{provider}", handle: (*Server).provisionWallet, badInput: http.StatusNotFound},
		{method: post, template: "/accounts/{id}/dip", handle: (*Server).exchangeKey},
		{method: post, template: "/accounts/{id}/directentryout", handle: (*Server).directEntryOut},
		{method: post, template: "/accounts/{id}/transfer", handle: (*Server).transfer},

		{method: post, template: "/funding/redemptions", handle: (*Server).redeem},
		{method: post, template: "/funding/reversals", handle: (*Server).reverseRedemption},
		{method: post, template: "/funding/refunds", handle: (*Server).refund},

		{method: post, template: "/simulation/transact", handle: (*Server).simulateTransact, testOnly: true},
		{method: post, template: "/simulation/advice", handle: (*Server).simulateAdvice, testOnly: true},
		{method: post, template: "/simulation/reverse", handle: (*Server).simulateReverse, testOnly: true},
		{method: post, template: "/simulation/clear", handle: (*Server).simulateClear, testOnly: true},
		{method: post, template: "/simulation/reverse_clear", handle: (*Server).simulateReverseClear, testOnly: true},

		{method: post, template: "/pin/initiate", handle: (*Server).initiatePIN},
		{method: post, template: "/pin/validate", handle: (*Server).validatePIN},
		{method: post, template: "/pin/execute", handle: (*Server).executePIN},

		{method: get, template: "/hooks", handle: (*Server).listHooks, query: paging},
		{method: get, template: "/hooks/{id}", handle: (*Server).getHook},
		{method: post, template: "/hooks", handle: (*Server).createHook},
		{method: patch, template: "/hooks/{id}", handle: (*Server).updateHook},
		{method: remove, template: "/hooks/{id}", handle: (*Server).deleteHook},
		{method: get, template: "/hooks/{id}/undeliverable", handle: (*Server).listUndeliverable, query: paging},
		{method: post, template: "/hooks/{id}/undeliverable/dismiss", handle: (*Server).dismissUndeliverable},
	}
	for _, r := range table {
		r.segments = strings.Split(r.template[1:], "/")
		r.fixed = len(r.segments) - strings.Count(r.template, "{")
		if r.badInput == 0 {
			r.badInput = http.StatusBadRequest
		}
	}
	return table
}

// Operations lists what the emulator answers, each as method and path template of the reference, for example
// "POST /accounts/{id}/transfer". These are the names that Inject takes and that Requests reports.
func Operations() []string {
	table := routes()
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.name()
	}
	return names
}

func (r *route) name() string { return r.method + " " + r.template }

// find returns the route of a request with the values of its path parameters. A fixed segment wins over a
// parameter, which the order of the table cannot tell for /accounts/company/{companyid}. When only the method
// differs, pathKnown is true.
func (s *Server) find(r *http.Request) (found *route, params []string, pathKnown bool) {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix+"/")
	if !ok {
		return nil, nil, false
	}
	segments := strings.Split(path, "/")
	for _, candidate := range s.routes {
		if !candidate.fits(segments) {
			continue
		}
		pathKnown = true
		if candidate.method == r.Method && (found == nil || candidate.fixed > found.fixed) {
			found = candidate
		}
	}
	if found == nil {
		return nil, nil, pathKnown
	}
	params, ok = found.values(segments)
	if !ok {
		return nil, nil, false
	}
	return found, params, true
}

func (r *route) fits(segments []string) bool {
	if len(segments) != len(r.segments) {
		return false
	}
	for i, want := range r.segments {
		if want[0] != '{' && want != segments[i] {
			return false
		}
	}
	return true
}

// values returns the path parameters; false when one is empty or wrongly encoded.
func (r *route) values(segments []string) ([]string, bool) {
	params := make([]string, 0, len(segments)-r.fixed)
	for i, want := range r.segments {
		if want[0] != '{' {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil || value == "" {
			return nil, false
		}
		params = append(params, value)
	}
	return params, true
}
