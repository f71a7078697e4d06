package prepaidvcr

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
)

// bodyKind is how a body is read.
type bodyKind uint8

const (
	bodyJSON bodyKind = iota
	bodyText          // a string, quoted or not
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

// schema is the known wire format.
type schema struct {
	operations []operation
	failure    *shape
	named      named
}

// pathValues are the kept path parameters: names of wallets.
func pathValues() map[string]*shape { return map[string]*shape{"{provider}": {keep: isProvider}} }

// of returns the shape of a type.
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

// exceptions are operations whose query or body differs from their Go method.
func exceptions() map[string]operation {
	paged := func(q map[string]*shape) map[string]*shape { return with(q, isCount, pagingNames...) }
	search := with(paged(queryOf("client_id", "client_account_key")), isSet, includeNames...)
	company := with(paged(queryOf("client_id", "program_id", "first_name", "last_name", "mobile")), isSet, includeNames...)
	company["status"] = of[prepaid.AccountStatus]()
	history := paged(queryOf())
	history["start_date"] = &shape{keep: isDate, varies: true}
	history["end_date"] = history["start_date"]
	mcc := reflect.TypeFor[prepaid.MCC]()
	return map[string]operation{
		"Token":                        {sends: bodyForm, response: tokenShape()},
		"Reporting.Start":              {query: with(queryOf(), isFlag, "include_column_headers"), responds: bodyText},
		"Policy.MerchantCategoryCodes": {query: paged(queryOf())},
		"Policy.ChangeCategories":      {request: changeShape(mcc)},
		"Policy.ChangeMerchants":       {request: changeShape(reflect.TypeFor[prepaid.MerchantRule]())},
		"Policy.ChangeTerminals":       {request: changeShape(reflect.TypeFor[prepaid.TerminalRule]())},
		"Accounts.Search":              {query: search},
		"Accounts.SearchCompany":       {query: company},
		"Accounts.Get":                 {query: with(queryOf(), isSet, includeNames...)},
		"Accounts.Transactions":        {query: history},
		"Accounts.SetStatus":           {request: object(map[string]*shape{"status": of[prepaid.AccountStatus]()})},
		"Accounts.ExchangeKey":         {responds: bodyText},
		"PIN.Initiate":                 {response: pinResponse()},
		"PIN.Validate":                 {request: sealedShape(), response: pinResponse()},
		"PIN.Execute":                  {request: sealedShape(), response: pinResponse()},
		"Hooks.Create":                 {response: object(map[string]*shape{"id": of[prepaid.HookID]()})},
		"Hooks.List":                   {query: paged(queryOf())},
		"Hooks.Undeliverable":          {query: paged(queryOf()), response: messageShape()},
		"Hooks.Dismiss":                {request: object(map[string]*shape{"message_ids": of[string]()})},
	}
}

func newSchema() *schema {
	made, known := &schema{failure: errorShape()}, exceptions()
	for _, row := range operations.All() {
		op := known[row.Name]
		op.name, op.method, op.path = row.Name, row.Method, row.Path
		sent, received := bodiesOf(row.Name)
		if op.request == nil && sent != nil && row.Method != http.MethodGet {
			op.request = shapeOf(sent)
		}
		if op.response == nil && received != nil && op.responds == bodyJSON {
			op.response = shapeOf(received)
		}
		made.operations = append(made.operations, op)
	}
	return made
}

// bodiesOf returns the struct parameter and the result of an operation's Go method, or nil.
func bodiesOf(operation string) (sent, received reflect.Type) {
	of, name, _ := strings.Cut(operation, ".")
	service, ok := reflect.TypeFor[prepaid.Client]().FieldByName(of)
	if !ok { // a method of Client
		return nil, nil
	}
	method, _ := service.Type.MethodByName(name)
	for parameter := range method.Type.Ins() {
		if parameter.Kind() == reflect.Struct {
			sent = parameter
		}
	}
	received = method.Type.Out(0)
	switch {
	case received.Kind() == reflect.Func: // an iterator
		received = received.In(0).In(0)
	case received.Kind() == reflect.Interface: // only an error
		received = nil
	}
	return sent, received
}

// pinResponse has the one member that a PIN change needs; the reference specifies no member.
func pinResponse() *shape { return object(map[string]*shape{"operation_id": scrubbed()}) }

// apiRoot is the end of every base address.
const apiRoot = "/3.0"

// find returns the operation of a request and the segments of its path below the base address, unescaped. The
// operation is nil if no operation fits.
func (s *schema) find(method string, address *url.URL) (*operation, []string) {
	path := address.EscapedPath()
	for rest := path; ; { // a gateway's path may contain apiRoot too: use the last one that an operation follows
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
		// The template with fewer parameters takes precedence, such as /policy/mccodes or /accounts/company/{companyid}.
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
