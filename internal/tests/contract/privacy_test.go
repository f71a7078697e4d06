package contract

import (
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// A canary is a text that names the field it stands in: canaryOf("Cardholder", "FirstName").
func canaryOf(owner, field string) string { return "Cnry_" + owner + "_" + field + "_" }

// The fields that hold a day: of birth, of a passport's end.
var canaryDate = prepaid.Date{Year: 1907, Month: time.November, Day: 23}

var canaryPattern = regexp.MustCompile(`cnry_([a-z0-9]+)_([a-z0-9]+)_`)

// canariesIn returns the fields whose canaries can be seen in text, as "type.field" in small letters: as they are, and
// in the forms that fmt and JSON give to bytes, as "bytes" and "base64".
func canariesIn(text string) []string {
	seen, lower := map[string]bool{}, strings.ToLower(text)
	if strings.Contains(lower, "cnry_") { // the expression is slower
		for _, match := range canaryPattern.FindAllStringSubmatch(lower, -1) {
			seen[match[1]+"."+match[2]] = true
		}
	}
	for _, form := range []string{"436e7279", "43 6e 72 79", "0x43, 0x6e, 0x72, 0x79", "67 110 114 121"} {
		if strings.Contains(lower, form) {
			seen["bytes"] = true
		}
	}
	for _, form := range []string{"Q25yeV", "NucnlT", "Nucnlf", "DbnJ5"} { // the three alignments
		if strings.Contains(text, form) {
			seen["base64"] = true
		}
	}
	for _, form := range []string{"1907-11-23", "1907 11 23", "1907 November 23", "Year:1907"} {
		if strings.Contains(text, form) {
			seen["date"] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// The search itself works: it finds each form that a careless print gives.
func TestCanariesAreFound(t *testing.T) {
	t.Parallel()
	for shift := range 3 {
		raw := []byte(strings.Repeat("x", shift) + canaryOf("Type", "Field"))
		require.Equal(t, []string{"type.field"}, canariesIn(strings.ToUpper(string(raw))))
		for _, form := range []string{
			fmt.Sprint(raw), fmt.Sprintf("%x", raw), fmt.Sprintf("%X", raw), fmt.Sprintf("% x", raw), fmt.Sprintf("%#v", raw),
			base64.StdEncoding.EncodeToString(raw),
		} {
			require.NotEmpty(t, canariesIn(form), form)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		require.Equal(t, []string{"date"}, canariesIn(fmt.Sprintf(verb, canaryDate)), verb)
		require.Equal(t, []string{"date"}, canariesIn(fmt.Sprintf(verb, struct{ d prepaid.Date }{canaryDate})), verb)
	}
	require.Empty(t, canariesIn("a canary, [67 110] 436e72 1907"))
}

// fillCanaries sets every field inside v that it can: texts and bytes to their canaries, secrets to one of "Secret", days to the one day,
// the rest to something that is not zero. It returns the names of the fields that hold a canary.
func fillCanaries(v reflect.Value, owner, field string, named map[string]bool) {
	text := canaryOf(owner, field)
	mark := func() { named[strings.ToLower(owner+"."+field)] = true }
	switch v.Type() {
	case reflect.TypeFor[prepaid.Secret]():
		v.Set(reflect.ValueOf(prepaid.NewSecret(canaryOf("Secret", field))))
		return
	case reflect.TypeFor[prepaid.EphemeralKey]():
		key, _ := prepaid.EphemeralKeyFrom([]byte(canaryOf("Secret", field) + strings.Repeat("x", 32))[:32])
		v.Set(reflect.ValueOf(key))
		return
	case reflect.TypeFor[prepaid.Date]():
		v.Set(reflect.ValueOf(canaryDate))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	case reflect.TypeFor[prepaid.Amount]():
		v.Set(reflect.ValueOf(prepaid.Cents(2550)))
		return
	case reflect.TypeFor[error]():
		inner := &prepaid.APIError{}
		fillCanaries(reflect.ValueOf(inner).Elem(), "APIError", "", named)
		if owner == "CallError" {
			v.Set(reflect.ValueOf(inner))
		} else {
			v.Set(reflect.ValueOf(&prepaid.CallError{Err: inner}))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		if field == "UnlistedMembers" {
			text = `{"` + text + `":1}`
		}
		v.SetString(text)
		mark()
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillCanaries(v.Elem(), owner, field, named)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`{"member":"` + text + `"}`)) // JSON, as json.RawMessage has to be
			mark()
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillCanaries(v.Index(0), owner, field, named)
	case reflect.Interface:
		if v.NumMethod() == 0 { // any value
			v.Set(reflect.ValueOf(text))
			mark()
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillCanaries(key, owner, field+"Key", named)
		fillCanaries(value, owner, field, named)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		name, _, _ := strings.Cut(v.Type().Name(), "[")
		for f, content := range v.Fields() {
			if f.IsExported() {
				fillCanaries(content, name, f.Name, named)
			}
		}
	}
}
