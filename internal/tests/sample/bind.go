package sample

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
)

// FieldName returns the name of the field for a member: name, if the document gives one, or else that of the member without its
// underscores. The result is empty if there is none.
func FieldName(of reflect.Type, member, name string) string {
	name = cmp.Or(name, strings.ReplaceAll(member, "_", ""))
	if found, ok := of.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) }); ok && found.IsExported() {
		return found.Name
	}
	return ""
}

// Field returns the field for a member. A Go name with a dot is a field of an inner struct, which is made if there is none.
func Field(of reflect.Value, member reference.Member[*reference.Schema]) reflect.Value {
	name := member.Value.Go
	if outer, inner, nested := strings.Cut(name, "."); nested {
		if of = of.FieldByName(outer); of.IsNil() {
			of.Set(reflect.New(of.Type().Elem()))
		}
		of, name = of.Elem(), inner
	}
	return of.FieldByName(FieldName(of.Type(), member.Name, name))
}

// Fields are the members of the document for the fields of Go structs, by type and name.
type Fields map[reflect.Type]map[string]Member

// Member is a member of an object, or a parameter, which is of none.
type Member struct {
	*reference.Schema
	Of   *reference.Schema
	Name string
}

// AllFields returns the fields of all params and results.
func AllFields() Fields {
	all := Fields{}
	for _, o := range reference.Read().Operations {
		method := methodOf(o.Name + "Page")
		if !method.IsValid() {
			method = methodOf(o.Name)
		}
		if !method.IsValid() {
			continue
		}
		for i := 1; i < method.Type().NumIn(); i++ {
			of := method.Type().In(i)
			all.add(o.Request.JSON(), of)
			all.parameters(o, of)
		}
		all.add(o.Response(), method.Type().Out(0))
	}
	return all
}

// add adds the members of a schema for the fields of a type.
func (f Fields) add(s *reference.Schema, of reflect.Type) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || s == nil {
		return
	}
	if items, ok := of.FieldByName("Items"); ok {
		of = items.Type.Elem()
	}
	if s.Items != nil {
		s = s.Items
	}
	for _, member := range s.Properties {
		owner, name := of, member.Value.Go
		if outer, inner, nested := strings.Cut(name, "."); nested {
			field, _ := of.FieldByName(outer)
			f.note(of, outer, Member{Schema: &reference.Schema{}})
			owner, name = field.Type.Elem(), inner
		}
		field, ok := owner.FieldByName(FieldName(owner, member.Name, name))
		if !ok {
			continue // TestRequests and TestResponses report it
		}
		f.note(owner, field.Name, Member{member.Value, s, member.Name})
		f.add(member.Value, field.Type)
	}
}

func (f Fields) note(of reflect.Type, field string, m Member) {
	if f[of] == nil {
		f[of] = map[string]Member{}
	}
	f[of][field] = m
}

// parameters adds the fields for the parameters of the query.
func (f Fields) parameters(o *reference.Operation, of reflect.Type) {
	for _, p := range o.Query() {
		if of.Kind() != reflect.Struct {
			continue
		}
		if name := FieldName(of, p.Name, p.Go); name != "" {
			f.note(of, name, Member{Schema: &reference.Schema{Name: p.Schema.Name, Type: p.Schema.Type, Redact: p.Redact}})
		}
	}
}

// binder sets Go values to values of the document.
type binder struct{ failures []error }

func (b *binder) fail(format string, arguments ...any) {
	b.failures = append(b.failures, fmt.Errorf(format, arguments...))
}

func (b *binder) err() error { return errors.Join(b.failures...) }

func (b *binder) set(to reflect.Value, s *reference.Schema, value any) {
	if value == nil {
		return
	}
	switch at := to.Addr().Interface().(type) {
	case *time.Time, *prepaid.Date, *prepaid.Amount, *prepaid.EphemeralKey:
		if err := at.(interface{ UnmarshalText([]byte) error }).UnmarshalText(fmt.Append(nil, value)); err != nil {
			b.failures = append(b.failures, err)
		}
		return
	case *prepaid.Secret:
		*at = prepaid.NewSecret(fmt.Sprint(value))
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		b.set(to.Elem(), s, value)
	case reflect.Struct:
		b.members(to, s, value)
	case reflect.Slice:
		list, _ := value.([]any)
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
		for i, element := range list {
			b.set(to.Index(i), s.Items, element)
		}
	case reflect.String:
		to.SetString(text(to.Type(), value))
	case reflect.Bool:
		flag, ok := value.(bool)
		if !ok {
			b.fail("%s is no %s", value, to.Type())
		}
		to.SetBool(flag)
	default:
		number, ok := value.(json.Number)
		n, err := number.Int64()
		if !ok || err != nil {
			b.fail("%s is no %s", value, to.Type())
		}
		to.SetInt(n)
	}
}

// text returns a text or number as a text. A category has four digits, also if it is sent as a number.
func text(of reflect.Type, value any) string {
	if _, bare := value.(json.Number); bare && of == reflect.TypeFor[prepaid.MCC]() {
		return fmt.Sprintf("%04s", value)
	}
	return fmt.Sprint(value)
}

func (b *binder) members(to reflect.Value, s *reference.Schema, value any) {
	object, _ := value.(map[string]any)
	for _, member := range s.Properties {
		field := Field(to, member)
		if !field.IsValid() {
			b.fail("%s has no field for the member %s", to.Type(), member.Name)
			continue
		}
		b.set(field, member.Value, object[member.Name])
	}
	if id := to.FieldByName("ID"); id.IsValid() && strings.HasSuffix(to.Type().Name(), "Rule") {
		id.SetInt(9) // not sent
	}
}

// Reader compares the client's Go values with values of the document.
type Reader struct{ Differences []string }

func (r *Reader) differ(at, why string, arguments ...any) {
	r.Differences = append(r.Differences, at+": "+fmt.Sprintf(why, arguments...))
}

// Compare compares got with value, which a response had.
func (r *Reader) Compare(at string, s *reference.Schema, value any, got reflect.Value) {
	for got.Kind() == reflect.Pointer || got.Kind() == reflect.Interface {
		if got.IsNil() {
			if value != nil {
				r.differ(at, "nothing, for %v", value)
			}
			return
		}
		got = got.Elem()
	}
	switch object, ok := value.(map[string]any); {
	case value == nil:
		if !got.IsZero() {
			r.differ(at, "%v, for nothing", got)
		}
	case ok && got.Kind() == reflect.Struct:
		r.members(at, s, object, got)
	case got.Kind() == reflect.Slice:
		list, _ := value.([]any)
		if got.Len() != len(list) {
			r.differ(at, "%d elements, for %d", got.Len(), len(list))
			return
		}
		for i := range list {
			if s.Items == nil {
				r.differ(at, "a list in Go")
				return
			}
			r.Compare(fmt.Sprintf("%s[%d]", at, i), s.Items, list[i], got.Index(i))
		}
	case !Equal(value, got):
		r.differ(at, "%v, for %v", got, value)
	}
}

func (r *Reader) members(at string, s *reference.Schema, object map[string]any, got reflect.Value) {
	for _, member := range s.Properties {
		field := Field(got, member)
		if !field.IsValid() {
			r.differ(at, "%s has no field for the member %s", got.Type(), member.Name)
			continue
		}
		r.Compare(at+"."+member.Name, member.Value, object[member.Name], field)
	}
}

// Equal reports whether a Go value is the text, number or flag of a document.
func Equal(value any, got reflect.Value) bool {
	switch v := got.Interface().(type) {
	case prepaid.Amount:
		return sameNumber(v.String(), value)
	case prepaid.Date:
		return strings.HasPrefix(fmt.Sprint(value), v.String())
	case time.Time:
		at, err := time.Parse(time.RFC3339, fmt.Sprint(value))
		return err == nil && v.Equal(at)
	case prepaid.Secret:
		return v.Reveal() == value
	case prepaid.EphemeralKey:
		return true // its bytes are compared in the request
	}
	switch got.Kind() {
	case reflect.String:
		_, bare := value.(json.Number)
		category := got.Type() == reflect.TypeFor[prepaid.MCC]()
		return got.String() == text(got.Type(), value) || (bare || category) && sameNumber(got.String(), value)
	case reflect.Bool:
		return fmt.Sprint(got.Bool()) == strings.ToLower(fmt.Sprint(value))
	case reflect.Int, reflect.Int64:
		return sameNumber(fmt.Sprint(got.Int()), value)
	}
	return false
}

func sameNumber(got string, value any) bool {
	a, ok := new(big.Rat).SetString(got)
	b, also := new(big.Rat).SetString(fmt.Sprint(value))
	return ok && also && a.Cmp(b) == 0
}
