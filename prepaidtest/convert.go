package prepaidtest

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// The types that partners see are declared in this package, with their comments, and again where the service uses them: an
// alias of an internal type would hide its fields on the reference page. Fields with the same name are the same;
// TestConversionsLoseNothing compares all fields.

// convert returns a copy of a value in the form of the other side.
func convert[To any](from any) To {
	var to To
	copyValue(reflect.ValueOf(&to).Elem(), reflect.ValueOf(from))
	return to
}

// copyFields copies the fields that both structs have.
func copyFields(to, from reflect.Value) {
	for i := range to.NumField() {
		field := to.Type().Field(i)
		if same := from.FieldByName(field.Name); field.IsExported() && same.IsValid() {
			copyValue(to.Field(i), same)
		}
	}
}

func copyValue(to, from reflect.Value) {
	number := from.CanInt()
	text, printed := from.Interface().(fmt.Stringer)
	_, isTime := from.Interface().(time.Time)
	switch {
	case from.Kind() == reflect.Pointer && from.IsNil():
	case from.Kind() == reflect.Pointer && to.Kind() != reflect.Pointer:
		copyValue(to, from.Elem())
	case from.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		copyValue(to.Elem(), from.Elem())
	case from.Kind() == reflect.Slice && !from.IsNil():
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyValue(to.Index(i), from.Index(i))
		}
	case to.Kind() == reflect.String && number:
		to.SetString(strconv.FormatInt(from.Int(), 10))
	case to.Kind() == reflect.String && printed:
		to.SetString(text.String())
	case from.Kind() == reflect.Struct && to.Kind() == reflect.Struct && !isTime:
		copyFields(to, from)
	case from.CanConvert(to.Type()):
		to.Set(from.Convert(to.Type()))
	}
}

// companyIDs returns a copy of a list in the form of the other side, never nil.
func companyIDs[To, From ~int64](list []From) []To {
	ids := make([]To, len(list))
	for i, id := range list {
		ids[i] = To(id)
	}
	return ids
}

// internal returns a seed as the service takes it. Its balance is set by the caller.
func (s SeedAccount) internal() ledger.AccountData {
	seed := convert[ledger.AccountData](s)
	seed.PlasticEnabled = !s.PlasticDisabled
	if s.Cardholder == nil {
		seed.Cardholder = service.Somebody()
	}
	return seed
}
