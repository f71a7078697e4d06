package contract

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// TestRoundTrip writes and reads every exported struct with JSON names, which partners may keep in a queue, a journal or a file: full
// and empty, with both JSON packages and across them.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range harness.Types(t) {
		if kind != reflect.TypeFor[prepaid.Message]() && !hasJSONNames(kind) {
			continue
		}
		t.Run(kind.Name(), func(t *testing.T) {
			t.Parallel()
			makeTrip(t, kind)
		})
	}
}

func hasJSONNames(kind reflect.Type) bool {
	for field := range kind.Fields() {
		if field.Tag.Get("json") != "" {
			return true
		}
	}
	return false
}

// isRedacted reports whether a value holds a Secret, which JSON redacts: reading it back is an error.
func isRedacted(kind reflect.Type) bool {
	for field := range kind.Fields() {
		if name := field.Tag.Get("json"); name != "" && name != "-" && slices.Contains([]reflect.Type{
			reflect.TypeFor[prepaid.Secret](), reflect.TypeFor[prepaid.EphemeralKey](),
		}, field.Type) {
			return true
		}
	}
	return false
}

type jsonPackage struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

func jsonPackages(options jsonv2.Options) []jsonPackage {
	return []jsonPackage{
		{"encoding/json", json.Marshal, json.Unmarshal},
		{
			"go-json-experiment/json",
			func(v any) ([]byte, error) { return jsonv2.Marshal(v, options) },
			func(data []byte, v any) error { return jsonv2.Unmarshal(data, v, options) },
		},
	}
}

func makeTrip(t *testing.T, kind reflect.Type) {
	t.Helper()
	full, empty, serial := reflect.New(kind).Elem(), reflect.Zero(kind), 0
	fill(full, &serial)
	// go-json-experiment needs an option to marshal a time.Duration in nanoseconds, as encoding/json does.
	packages := jsonPackages(jsonv1.FormatDurationAsNano(kind == reflect.TypeFor[prepaid.Config]() || kind == reflect.TypeFor[prepaid.RetryPolicy]()))
	for _, writer := range packages {
		for _, reader := range packages {
			name := writer.name + " to " + reader.name
			data, err := writer.marshal(full.Interface())
			require.NoError(t, err, name)
			require.NotContains(t, string(data), "canary", name)
			back := reflect.New(kind)
			err = reader.unmarshal(data, back.Interface())
			if isRedacted(kind) {
				require.ErrorIs(t, err, prepaid.ErrSyntax, name)
				continue
			}
			require.NoError(t, err, "%s: %s", name, data)
			require.Equal(t, full.Interface(), back.Elem().Interface(), "%s: %s", name, data)

			data, err = writer.marshal(empty.Interface())
			require.NoError(t, err, name)
			emptyBack := reflect.New(kind)
			require.NoError(t, reader.unmarshal(data, emptyBack.Interface()), "%s: %s", name, data)
			again, err := writer.marshal(emptyBack.Elem().Interface())
			require.NoError(t, err, name)
			require.Equal(t, string(data), string(again), name)
		}
	}
}

// fill sets every field with a JSON name to a different value.
func fill(value reflect.Value, serial *int) {
	*serial++
	n := *serial
	switch into := value.Addr().Interface().(type) {
	case *prepaid.Amount:
		*into = prepaid.Cents(int64(100*n + 1))
		return
	case *prepaid.Date:
		*into = prepaid.Date{Year: 1900 + n, Month: time.March, Day: 4}
		return
	case *prepaid.Secret:
		*into = prepaid.NewSecret("canary")
		return
	case *prepaid.EphemeralKey: // never written
		return
	case *prepaid.MCC:
		*into = prepaid.MCC(fmt.Sprintf("%04d", n))
		return
	case *prepaid.TransactionID:
		*into = prepaid.TransactionID(strconv.FormatInt(9007199254740993+int64(n), 10))
		return
	case *time.Time:
		*into = time.Date(2026, time.November, 20, 1, 2, n, 123456789, time.UTC)
		return
	case *prepaid.Message:
		*into = prepaid.Message{
			ID: "m", HookID: "h", Timestamp: time.Date(2026, time.November, 20, 1, 2, 3, 0, time.UTC), Type: "transaction",
			Raw: json.RawMessage(`{"id":"m","hook_id":"h","timestamp":"2026-11-20T01:02:03Z","type":"transaction","amount":1.50}`),
		}
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(fmt.Sprintf("text <%d> é", n))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int64:
		value.SetInt(int64(n))
	case reflect.Float64:
		value.SetFloat(float64(n) / 4)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), serial)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for i := range 2 {
			fill(value.Index(i), serial)
		}
	case reflect.Struct:
		for field, content := range value.Fields() {
			if name := field.Tag.Get("json"); name != "" && name != "-" {
				fill(content, serial)
			}
		}
	default:
		panic("no example of " + value.Type().String())
	}
}
