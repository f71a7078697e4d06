package prepaidtest

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
)

// Public types are declared here, with their comments, and again in the internal packages: an alias of an internal type
// would hide its fields in the Go documentation. Fields with the same name have the same meaning;
// TestConversionsLoseNothing compares all fields.

var (
	toTransaction   = converter[Transaction, ledger.Item]()
	toAuthorization = converter[Authorization, simulator.Authorisation]()
	toPINChange     = converter[PINChange, pin.Change]()
	toPolicy        = converter[Policy, *policy.Policy]()
	toHookState     = converter[HookState, *hooks.Hook]()

	fromSimulation = converter[ledger.Merchant, Simulation]()
)

// converter returns a function that makes a deep copy of a value of type From, as the corresponding type To.
func converter[To, From any]() func(From) To {
	fill := copier(reflect.TypeFor[To](), reflect.TypeFor[From]())
	return func(from From) To {
		var to To
		fill(reflect.ValueOf(&to).Elem(), reflect.ValueOf(&from).Elem())
		return to
	}
}

// copier returns a function that copies a value into another type. For unrelated types that function does nothing.
func copier(to, from reflect.Type) func(to, from reflect.Value) {
	switch {
	case from.Kind() == reflect.Pointer:
		return pointerCopier(to, from)
	case from.Kind() == reflect.Slice && to.Kind() == reflect.Slice:
		return sliceCopier(to, from)
	case to == from:
		return reflect.Value.Set
	case to.Kind() == reflect.String && from.Kind() == reflect.Int64:
		return func(to, from reflect.Value) {
			if n := from.Int(); n != 0 {
				to.SetString(strconv.FormatInt(n, 10))
			}
		}
	case to.Kind() == reflect.String && from.Implements(reflect.TypeFor[fmt.Stringer]()):
		return func(to, from reflect.Value) { to.SetString(from.Interface().(fmt.Stringer).String()) }
	case to.Kind() == reflect.Struct && from.Kind() == reflect.Struct:
		return structCopier(to, from)
	case from.ConvertibleTo(to):
		return func(to, from reflect.Value) { to.Set(from.Convert(to.Type())) }
	}
	return func(_, _ reflect.Value) {}
}

func pointerCopier(to, from reflect.Type) func(to, from reflect.Value) {
	inner := to
	if to.Kind() == reflect.Pointer {
		inner = to.Elem()
	}
	fill := copier(inner, from.Elem())
	return func(to, from reflect.Value) {
		if from.IsNil() {
			return
		}
		if to.Kind() == reflect.Pointer {
			to.Set(reflect.New(inner))
			to = to.Elem()
		}
		fill(to, from.Elem())
	}
}

func sliceCopier(to, from reflect.Type) func(to, from reflect.Value) {
	fill := copier(to.Elem(), from.Elem())
	return func(to, from reflect.Value) {
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			fill(to.Index(i), from.Index(i))
		}
	}
}

// structCopier copies the fields that both structs have.
func structCopier(to, from reflect.Type) func(to, from reflect.Value) {
	var steps []func(to, from reflect.Value)
	for field := range to.Fields() {
		if same, found := from.FieldByName(field.Name); found && field.IsExported() {
			fill := copier(field.Type, same.Type)
			steps = append(steps, func(to, from reflect.Value) { fill(to.FieldByIndex(field.Index), from.FieldByIndex(same.Index)) })
		}
	}
	return func(to, from reflect.Value) {
		for _, step := range steps {
			step(to, from)
		}
	}
}

// each converts a list. The result is never nil.
func each[To, From any](list []From, convert func(From) To) []To {
	all := make([]To, len(list))
	for i, one := range list {
		all[i] = convert(one)
	}
	return all
}
