package gotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// call is one call of the SDK.
type call struct {
	method    string // "Accounts.Transfer"
	arguments []reflect.Value
	results   int // number without the error
	function  reflect.Value
	asText    string // replaces method and arguments
}

// callOf finds the call that sends a request. It fails for a request that the SDK cannot have sent.
func callOf(client *prepaid.Client, r prepaidtest.Request) (call, error) {
	all := operations.All()
	i := slices.IndexFunc(all, func(o operations.Operation) bool { return o.Method == r.Method && o.Path == r.Template })
	if i < 0 {
		return call{}, errors.New("the SDK has no call for it")
	}
	name := all[i].Name
	receiver, method := reflect.ValueOf(client), name
	if service, of, found := strings.Cut(name, "."); found {
		receiver, method = receiver.Elem().FieldByName(service), of
	}
	made := call{method: name, function: receiver.MethodByName(method)}
	if page := receiver.MethodByName(method + "Page"); page.IsValid() { // the logged request was for one page of a list
		made.method, made.function = name+"Page", page
	}
	kind := made.function.Type()
	made.results = kind.NumOut() - 1
	body := []byte("{}")
	if strings.HasPrefix(r.Body, "{") {
		body = FillIn(r.Body)
	} else if r.Body != "" && r.Template != "/token" {
		return call{}, errors.New("its body is no JSON object")
	}
	in := reader{path: pathValues(r), query: r.Query, body: body}
	for i := 1; i < kind.NumIn(); i++ { // after the context
		argument, err := in.next(kind.In(i))
		if err != nil {
			return call{}, err
		}
		if kind.IsVariadic() && i == kind.NumIn()-1 {
			for j := range argument.Len() {
				made.arguments = append(made.arguments, argument.Index(j))
			}
			continue
		}
		made.arguments = append(made.arguments, argument)
	}
	return made, nil
}

// text is the call as Go.
func (c call) text(client string) string {
	if c.asText != "" {
		return c.asText
	}
	arguments := []string{"t.Context()"}
	for _, argument := range c.arguments {
		arguments = append(arguments, literal(argument))
	}
	return client + "." + c.method + "(" + strings.Join(arguments, ", ") + ")"
}

// pathValues are the values of the template's parameters.
func pathValues(r prepaidtest.Request) []string {
	var values []string
	parts := strings.Split(strings.TrimPrefix(r.Path, "/3.0"), "/")
	for i, part := range strings.Split(r.Template, "/") {
		if strings.HasPrefix(part, "{") && i < len(parts) {
			value, _ := url.PathUnescape(parts[i]) // valid: the emulator has decoded it
			values = append(values, value)
		}
	}
	return values
}

// reader takes the arguments of a call from a request, one after the other.
type reader struct {
	path  []string
	query url.Values
	body  []byte
}

func (in *reader) next(kind reflect.Type) (reflect.Value, error) {
	value := reflect.New(kind).Elem()
	switch {
	case kind.Kind() == reflect.Slice: // the last parameter
		if kind.Elem() == reflect.TypeFor[prepaid.Include]() {
			in.includes(value)
			return value, nil
		}
		var named struct {
			IDs json.RawMessage `json:"message_ids"`
		}
		if json.Unmarshal(in.body, &named) != nil || json.Unmarshal(named.IDs, value.Addr().Interface()) != nil {
			return value, errors.New("its body does not have the members of the operation")
		}
	case kind.Kind() == reflect.Struct && len(in.body) > 2:
		body := in.body
		if value.FieldByName("RequireApproval").IsValid() { // a field without a tag
			body = bytes.Replace(body, []byte(`"require_approval"`), []byte(`"RequireApproval"`), 1)
		}
		if err := json.Unmarshal(body, value.Addr().Interface()); err != nil {
			return value, errors.New("its body has members that the SDK does not send")
		}
		if zero := value.FieldByName("ZeroAmount"); zero.IsValid() && value.FieldByName("Amount").IsZero() {
			zero.SetBool(bytes.Contains(body, []byte(`"amount"`)))
		}
	case kind.Kind() == reflect.Struct:
		in.fromQuery(value)
	case len(in.path) > 0 && value.CanInt():
		number, err := strconv.ParseInt(in.path[0], 10, 64)
		if err != nil {
			return value, errors.New("an id in its path is no number")
		}
		value.SetInt(number)
		in.path = in.path[1:]
	case len(in.path) > 0:
		value.SetString(in.path[0])
		in.path = in.path[1:]
	default: // a single member
		var members map[string]json.RawMessage
		if json.Unmarshal(in.body, &members) == nil {
			for _, member := range members {
				if json.Unmarshal(member, value.Addr().Interface()) == nil {
					break
				}
			}
		}
	}
	return value, nil
}

// fromQuery fills the fields of a params struct from the parameters of the query.
func (in *reader) fromQuery(value reflect.Value) {
	fields := map[string]string{
		"client_id": "ProgramClientID", "client_account_key": "ClientAccountKey", "program_id": "ProgramID", "status": "Status",
		"first_name": "FirstName", "last_name": "LastName", "mobile": "Mobile", "start_date": "From", "end_date": "To",
		"page_number": "Page", "page_size": "Size", "include_column_headers": "IncludeColumnHeaders",
	}
	for name, values := range in.query {
		field := value.FieldByName(fields[name])
		if paging := value.FieldByName("Paging"); !field.IsValid() && paging.IsValid() {
			field = paging.FieldByName(fields[name])
		}
		if !field.IsValid() {
			continue
		}
		text := values[0]
		switch {
		case personal.Hidden(name):
			field.SetString("Fictional")
		case field.Kind() == reflect.String:
			field.SetString(text)
		case field.Kind() == reflect.Bool:
			field.SetBool(text == "true")
		case field.CanInt():
			number, _ := strconv.ParseInt(text, 10, 32)
			field.SetInt(number)
		default:
			at, _ := time.Parse(time.RFC3339, text)
			field.Set(reflect.ValueOf(at))
		}
	}
	if include := value.FieldByName("Include"); include.IsValid() {
		in.includes(include)
	}
}

// includes sets the groups that a query requests, in the reference's order.
func (in *reader) includes(to reflect.Value) {
	for _, name := range []string{
		"with_personal", "with_directentry", "with_freetext", "with_bpay", "with_tokeninfo", "with_correspondingaccountid", "with_cardholdertype",
	} {
		if in.query.Has(name) {
			to.Set(reflect.Append(to, reflect.ValueOf(prepaid.Include(name))))
		}
	}
}
