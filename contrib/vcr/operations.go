package prepaidvcr

import (
	"net/url"
	"reflect"
	"strings"

	"github.com/cardprograms/prepaid"
)

// bodyKind is how a body is read.
type bodyKind uint8

const (
	bodyJSON bodyKind = iota
	bodyText          // a string, bare or quoted
	bodyForm          // a form
)

// operation is the schema of one operation.
type operation struct {
	name     string
	method   string
	path     string
	query    map[string]*shape
	sends    bodyKind
	request  *shape
	responds bodyKind
	response *shape
}

// schema is everything that is known about the wire format.
type schema struct {
	operations []operation
	failure    *shape
}

// pathValues are the path parameters that are not scrubbed: names of wallets.
func pathValues() map[string]*shape { return map[string]*shape{"{provider}": {keep: isProvider}} }

// of returns the shape of a type; nil for a body that does not exist.
func of[T any]() *shape { return shapeOf(reflect.TypeFor[T]()) }

// queryOf lists parameters that are scrubbed.
func queryOf(scrubs ...string) map[string]*shape {
	q := map[string]*shape{}
	for _, name := range scrubs {
		q[name] = scrubbed()
	}
	return q
}

// with adds parameters that are kept.
func with(q map[string]*shape, keep func(string) bool, names ...string) map[string]*shape {
	for _, name := range names {
		q[name] = &shape{keep: keep}
	}
	return q
}

var (
	pagingNames  = []string{"page_number", "page_size"}
	includeNames = []string{
		"with_personal", "with_directentry", "with_freetext", "with_bpay", "with_tokeninfo",
		"with_correspondingaccountid", "with_cardholdertype",
	}
)

func newSchema() *schema {
	paged := func(q map[string]*shape) map[string]*shape { return with(q, isCount, pagingNames...) }
	search := with(paged(queryOf("client_id", "client_account_key")), isSet, includeNames...)
	company := with(paged(queryOf("client_id", "program_id", "first_name", "last_name", "mobile")), isSet, includeNames...)
	company["status"] = of[prepaid.AccountStatus]()
	history := paged(queryOf())
	history["start_date"] = &shape{keep: isDate, varies: true}
	history["end_date"] = history["start_date"]
	start := with(queryOf(), isFlag, "include_column_headers")
	one := func(name, method, path string, request, response *shape) operation {
		return operation{name: name, method: method, path: path, request: request, response: response}
	}
	list := func(name, path string, q map[string]*shape, response *shape) operation {
		return operation{name: name, method: "GET", path: path, query: q, response: response}
	}
	policy, summary, simulated := of[prepaid.Policy](), of[prepaid.AccountSummary](), of[prepaid.SimulationResult]()
	moved, funded, simulate := of[prepaid.TransferResult](), of[prepaid.FundingResult](), of[prepaid.SimulateParams]()
	mcc := reflect.TypeFor[prepaid.MCC]()
	status := object(map[string]*shape{"status": of[prepaid.AccountStatus]()})
	dismissed := object(map[string]*shape{"message_ids": of[string]()})
	return &schema{failure: errorShape(), operations: []operation{
		{name: "Token", method: "POST", path: "/token", sends: bodyForm, response: tokenShape()},
		{name: "Reporting.Start", method: "GET", path: "/reporting/templates/{templatename}", query: start, responds: bodyText},
		one("Reporting.Result", "GET", "/reporting/templates/{templatename}/reports/{reportid}", nil, of[prepaid.Report]()),
		list("Policy.MerchantCategoryCodes", "/policy/mccodes", paged(queryOf()), of[prepaid.MerchantCategory]()),
		one("Policy.Restrictions", "GET", "/policy/{id}/restrictions", nil, of[prepaid.Restrictions]()), //nolint:staticcheck // it is an operation
		one("Policy.Get", "GET", "/policy/{id}/policy", nil, policy),
		one("Policy.Categories", "GET", "/policy/{id}/categories", nil, policy),
		one("Policy.Merchants", "GET", "/policy/{id}/merchants", nil, policy),
		one("Policy.Terminals", "GET", "/policy/{id}/terminals", nil, policy),
		one("Policy.ChangeCategories", "POST", "/policy/{id}/categories", changeShape(mcc, mcc), nil),
		one("Policy.ChangeMerchants", "POST", "/policy/{id}/merchants",
			changeShape(reflect.TypeFor[prepaid.MerchantRule](), reflect.TypeFor[prepaid.MerchantKey]()), nil),
		one("Policy.ChangeTerminals", "POST", "/policy/{id}/terminals",
			changeShape(reflect.TypeFor[prepaid.TerminalRule](), reflect.TypeFor[prepaid.TerminalKey]()), nil),
		list("Accounts.Search", "/accounts", search, of[prepaid.Account]()),
		one("Accounts.Create", "POST", "/accounts", of[prepaid.CreateAccountParams](), summary),
		list("Accounts.SearchCompany", "/accounts/company/{companyid}", company, of[prepaid.Account]()),
		list("Accounts.Get", "/accounts/{id}", with(queryOf(), isSet, includeNames...), of[prepaid.Account]()),
		one("Accounts.Update", "PUT", "/accounts/{id}", of[prepaid.UpdateAccountParams](), nil),
		list("Accounts.Transactions", "/accounts/{id}/transactions", history, of[prepaid.Transaction]()),
		one("Accounts.Summary", "GET", "/accounts/{id}/status", nil, summary),
		one("Accounts.SetStatus", "PUT", "/accounts/{id}/status", status, nil),
		one("Accounts.SetPlasticEnabled", "PUT", "/accounts/{id}/plastic", of[prepaid.SetPlasticEnabledParams](), nil),
		one("Accounts.WalletTokens", "GET", "/accounts/{id}/tokens", nil, of[prepaid.WalletToken]()),
		one("Accounts.ProvisionWallet", "POST", "/accounts/{id}/wallet/{provider}",
			of[prepaid.ProvisionWalletParams](), of[prepaid.WalletProvisioning]()),
		{
			name: "Accounts.ExchangeKey", method: "POST", path: "/accounts/{id}/dip",
			request: of[prepaid.ExchangeKeyParams](), responds: bodyText,
		},
		one("Accounts.DirectEntryOut", "POST", "/accounts/{id}/directentryout", of[prepaid.DirectEntryOutParams](), moved),
		one("Accounts.Transfer", "POST", "/accounts/{id}/transfer", of[prepaid.TransferParams](), moved),
		one("Funding.Redeem", "POST", "/funding/redemptions", of[prepaid.RedeemFundingParams](), funded),
		one("Funding.Reverse", "POST", "/funding/reversals", of[prepaid.ReverseFundingParams](), funded),
		one("Funding.Refund", "POST", "/funding/refunds", of[prepaid.RefundFundingParams](), funded),
		one("Simulation.Transact", "POST", "/simulation/transact", simulate, simulated),
		one("Simulation.Advise", "POST", "/simulation/advice", simulate, simulated),
		one("Simulation.Reverse", "POST", "/simulation/reverse", simulate, simulated),
		one("Simulation.Clear", "POST", "/simulation/clear", simulate, simulated),
		one("Simulation.ReverseClear", "POST", "/simulation/reverse_clear", simulate, simulated),
		one("PIN.Initiate", "POST", "/pin/initiate", of[prepaid.InitiatePINParams](), pinResponse()),
		one("PIN.Validate", "POST", "/pin/validate", sealedShape(), pinResponse()),
		one("PIN.Execute", "POST", "/pin/execute", sealedShape(), pinResponse()),
		list("Hooks.List", "/hooks", paged(queryOf()), of[prepaid.Hook]()),
		one("Hooks.Get", "GET", "/hooks/{id}", nil, of[prepaid.Hook]()),
		one("Hooks.Create", "POST", "/hooks", of[prepaid.CreateHookParams](), of[prepaid.CreatedHook]()),
		one("Hooks.Update", "PATCH", "/hooks/{id}", of[prepaid.UpdateHookParams](), nil),
		one("Hooks.Delete", "DELETE", "/hooks/{id}", nil, nil),
		list("Hooks.Undeliverable", "/hooks/{id}/undeliverable", paged(queryOf()), messageShape()),
		one("Hooks.Dismiss", "POST", "/hooks/{id}/undeliverable/dismiss", dismissed, nil),
	}}
}

// pinResponse has the one member that a PIN change needs to continue; the reference shows none.
func pinResponse() *shape { return object(map[string]*shape{"operation_id": scrubbed()}) }

// apiRoot is the end of every base address.
const apiRoot = "/3.0"

// find returns the operation of a request and the segments of its path below the base address, unescaped. The operation
// is nil if there is none.
func (s *schema) find(method string, address *url.URL) (*operation, []string) {
	path := address.EscapedPath()
	for rest := path; ; { // a gateway's path may contain the word too: use the last place below which there is an operation
		end := strings.LastIndex(rest, apiRoot+"/")
		if end < 0 {
			break
		}
		segments := segmentsOf(path[end+len(apiRoot)+1:])
		if found := s.fitting(method, segments); found != nil {
			return found, segments
		}
		rest = rest[:end+1]
	}
	_, below, ok := strings.Cut(path, apiRoot+"/")
	if !ok {
		below = strings.TrimPrefix(path, "/")
	}
	segments := segmentsOf(below)
	return s.fitting(method, segments), segments
}

func segmentsOf(path string) []string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = plain
		}
	}
	return segments
}

func (s *schema) fitting(method string, segments []string) *operation {
	var found *operation
	for i := range s.operations {
		op := &s.operations[i]
		// A template without a parameter in this place takes precedence: /policy/mccodes, /accounts/company/{companyid}.
		if op.method == method && fits(op.path, segments) && (found == nil || strings.Count(op.path, "{") < strings.Count(found.path, "{")) {
			found = op
		}
	}
	return found
}

func fits(template string, segments []string) bool {
	parts := strings.Split(strings.TrimPrefix(template, "/"), "/")
	if len(parts) != len(segments) {
		return false
	}
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") && part != segments[i] || segments[i] == "" {
			return false
		}
	}
	return true
}
