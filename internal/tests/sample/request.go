package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Request is a request of an operation, as the document describes it.
type Request struct {
	Operation *reference.Operation
	Path      map[string]string
	Query     url.Values
	Body      any
}

// NewRequest makes a request with all parameters and members, or with the required ones only.
func NewRequest(o *reference.Operation, maximal bool) *Request {
	m := &Maker{Maximal: maximal, Request: true}
	r := &Request{Operation: o, Path: map[string]string{}, Query: url.Values{}}
	for _, p := range o.Params {
		switch value := m.parameter(p); {
		case p.In == "path":
			r.Path[p.Name] = value
		case p.Required || maximal:
			r.Query.Set(p.Name, value)
		}
	}
	if s := o.Request.JSON(); s != nil {
		r.Body = m.Value(s)
	}
	return r
}

func (m *Maker) parameter(p *reference.Parameter) string {
	m.numbered++
	switch {
	case strings.HasPrefix(p.Name, "page_"):
		return fmt.Sprint(1 + m.numbered)
	case strings.HasPrefix(p.Name, "with_"):
		return "1"
	case p.Name == "status": // the client takes its own type
		return string(prepaid.AccountStatusLostOrStolen)
	case p.Name == "client_account_key": // the client takes one that an account can have
		return fmt.Sprintf("key-%d", m.numbered)
	case p.Name == "companyid": // the client takes a number, as for the other paths with a company
		return fmt.Sprint(1000 + m.numbered)
	}
	return fmt.Sprint(m.Value(p.Schema))
}

// Target returns the escaped path after the base address.
func (r *Request) Target() string {
	target := r.Operation.Path
	for name, value := range r.Path {
		target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(value))
	}
	return target
}

// With returns a copy with another value at a path of members of the body, or without the member if value is nil.
func (r *Request) With(path []string, value any) *Request {
	other := *r
	other.Body = Edited(r.Body, path, value, false)
	return &other
}

// Edited returns a copy of a JSON value with another member at path, in each element of the lists on the way. A nil value removes it, or
// becomes null.
func Edited(in any, path []string, value any, null bool) any {
	switch in := in.(type) {
	case []any:
		var list []any
		for _, element := range in {
			list = append(list, Edited(element, path, value, null))
		}
		return list
	case map[string]any:
		object := map[string]any{}
		maps.Copy(object, in)
		switch {
		case len(path) > 1:
			object[path[0]] = Edited(in[path[0]], path[1:], value, null)
		case value == nil && !null:
			delete(object, path[0])
		default:
			object[path[0]] = value
		}
		return object
	}
	return in
}

// Call makes the request with the client's Go method.
func (r *Request) Call(ctx context.Context, client *prepaid.Client) (any, error) {
	return r.CallMethod(ctx, client, r.Operation.Name)
}

// CallPage is Call, for one page of a list.
func (r *Request) CallPage(ctx context.Context, client *prepaid.Client) (any, error) {
	if name := r.Operation.Name + "Page"; methodOf(name).IsValid() {
		return r.CallMethod(ctx, client, name)
	}
	return r.Call(ctx, client)
}

// CallMethod makes the request with another Go method with the same parameters.
func (r *Request) CallMethod(ctx context.Context, client *prepaid.Client, name string) (any, error) {
	if name == "Token" {
		return client.Token(ctx)
	}
	values, err := r.Arguments()
	if err != nil {
		return nil, err
	}
	return harness.Call(ctx, client, name, values...)
}

// methodOf returns the Go method of an operation, which is not valid if there is none.
func methodOf(operation string) reflect.Value {
	service, method, _ := strings.Cut(operation, ".")
	of, ok := reflect.TypeFor[prepaid.Client]().FieldByName(service)
	if !ok {
		return reflect.Value{}
	}
	return reflect.New(of.Type.Elem()).MethodByName(method)
}

// Arguments returns the arguments of the Go method, without the context.
func (r *Request) Arguments() ([]any, error) {
	var b binder
	method := methodOf(r.Operation.Name).Type()
	inPath := slices.DeleteFunc(slices.Clone(r.Operation.Params), func(p *reference.Parameter) bool { return p.In != "path" })
	var values []any
	for i := 1; i < method.NumIn(); i++ {
		switch of := method.In(i); {
		case of.Kind() == reflect.Slice: // variadic
			values = append(values, b.variadic(r, of.Elem())...)
		case of.Kind() == reflect.Struct:
			value := reflect.New(of).Elem()
			b.parameters(value, r, inPath)
			inPath = nil
			b.set(value, r.Operation.Request.JSON(), r.Body)
			values = append(values, value.Interface())
		default:
			value := reflect.New(of).Elem()
			b.set(value, inPath[0].Schema, number(of, r.Path[inPath[0].Name]))
			inPath = inPath[1:]
			values = append(values, value.Interface())
		}
	}
	return values, b.err()
}

// number returns a text as a number if the type is one.
func number(of reflect.Type, text string) any {
	if of.Kind() == reflect.Int || of.Kind() == reflect.Int64 {
		return json.Number(text)
	}
	return text
}

// variadic returns the values of the list of includes, or of the only member of the body.
func (b *binder) variadic(r *Request, of reflect.Type) (values []any) {
	if of == reflect.TypeFor[prepaid.Include]() {
		for _, p := range r.Operation.Query() {
			if r.Query.Has(p.Name) {
				values = append(values, prepaid.Include(p.Name))
			}
		}
		return values
	}
	for _, member := range r.Operation.Request.JSON().Properties {
		list, _ := r.Body.(map[string]any)[member.Name].([]any)
		for _, element := range list {
			value := reflect.New(of).Elem()
			b.set(value, member.Value.Items, element)
			values = append(values, value.Interface())
		}
	}
	return values
}

// parameters sets the fields for parameters of the query, and those for parameters of the path that are no parameters in Go.
func (b *binder) parameters(to reflect.Value, r *Request, inPath []*reference.Parameter) {
	params := r.Operation.Query()
	if to.Type() == reflect.TypeFor[prepaid.ReportRun]() {
		params = append(params, inPath...)
	}
	for _, p := range params {
		text := r.Query.Get(p.Name)
		if p.In == "path" {
			text = r.Path[p.Name]
		}
		field := b.parameterField(to, p)
		switch {
		case !field.IsValid():
			b.fail("%s: the parameter %s has no field in %s", r.Operation.Name, p.Name, to.Type())
		case text == "" && !r.Query.Has(p.Name):
		case field.Type() == reflect.TypeFor[[]prepaid.Include]():
			field.Set(reflect.Append(field, reflect.ValueOf(prepaid.Include(p.Name))))
		case field.Kind() == reflect.Bool:
			field.SetBool(text == "true")
		default:
			b.set(field, p.Schema, number(field.Type(), text))
		}
	}
}

func (b *binder) parameterField(to reflect.Value, p *reference.Parameter) reflect.Value {
	if strings.HasPrefix(p.Name, "with_") {
		return to.FieldByName("Include")
	}
	name := FieldName(to.Type(), p.Name, p.Go)
	if inner := to.FieldByName("Paging"); name == "" && inner.IsValid() {
		return inner.FieldByName(p.Go)
	}
	return to.FieldByName(name)
}
