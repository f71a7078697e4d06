package contract

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// requireRoundTrip writes and reads a value, which partners may keep in a queue, a journal or a file: with both JSON packages and across
// them. It returns the names of the members.
func requireRoundTrip(t *testing.T, value any) (data []byte) {
	t.Helper()
	if result, ok := value.(prepaid.TransferResult); ok {
		result.RequestID = "" // of the request: it is not written
		value = result
	}
	options := jsonv1.FormatDurationAsNano(true) // as encoding/json does
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, func(v any) ([]byte, error) { return jsonv2.Marshal(v, options) }} {
		for _, unmarshal := range []func([]byte, any) error{json.Unmarshal, func(data []byte, v any) error { return jsonv2.Unmarshal(data, v, options) }} {
			var err error
			data, err = marshal(value)
			require.NoError(t, err)
			back := reflect.New(reflect.TypeOf(value))
			if err = unmarshal(data, back.Interface()); bytes.Contains(data, []byte("[REDACTED]")) {
				require.ErrorIs(t, err, prepaid.ErrSyntax)
				continue
			}
			require.NoError(t, err, "%s", data)
			require.Equal(t, value, back.Elem().Interface(), "%s", data)
		}
	}
	return data
}

// memberNames adds the names of all members in a JSON value, inner ones after the name of their object.
func memberNames(prefix string, value any, into map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			memberNames(prefix, element, into)
		}
	case map[string]any:
		for name, inner := range value {
			into[prefix+name] = true
			memberNames(prefix+name+".", inner, into)
		}
	}
}

// TestJSONNames fixes the names of types that are not on the wire but that partners store: in a journal, queue or file.
func TestJSONNames(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, time.November, 20, 1, 2, 3, 0, time.UTC)
	for _, c := range []struct {
		value any
		want  string
	}{
		{prepaid.TransferResult{TransactionID: "1", CorrelationID: "c", RequestID: "r"}, `{"transaction_id":"1","correlation_id":"c"}`},
		{
			prepaid.ReportRun{Template: "t", ID: "i", RequestedAt: moment, ColumnHeaders: true},
			`{"template":"t","id":"i","requested_at":"2026-11-20T01:02:03Z","column_headers":true}`,
		},
		{
			prepaid.SealedPINParams{OperationID: "o", DeviceID: "d", IPAddress: "a", Envelope: &prepaid.PINEnvelope{
				EncryptedData: "e", PublicKeyFingerprint: "f", EncryptedKey: "k", OAEPHashingAlgorithm: prepaid.PINHashSHA256, IV: "v",
			}},
			`{"operation_id":"o","device_id":"d","ip_address":"a","envelope":{"encrypted_data":"e","public_key_fingerprint":"f",` +
				`"encrypted_key":"k","oaep_hashing_algorithm":"SHA256","iv":"v"}}`,
		},
		{
			prepaid.Message{ID: "i", HookID: "h", Timestamp: moment, Type: prepaid.MessageTypeTransaction},
			`{"id":"i","hook_id":"h","timestamp":"2026-11-20T01:02:03Z","type":"transaction"}`,
		},
	} {
		data, err := json.Marshal(c.value)
		require.NoError(t, err)
		require.Equal(t, c.want, string(data))
		if _, received := c.value.(prepaid.Message); !received { // it keeps the text that it is read from
			requireRoundTrip(t, c.value)
		}
	}
}
