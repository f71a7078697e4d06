package contract

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// TestFixturesComeBack marshals the results of the plain fixtures to JSON: with the names of the reference, and
// exactly the members of the response, so that a queue or a cache has the service's response.
func TestFixturesComeBack(t *testing.T) {
	t.Parallel()
	plain := []string{"200", "200-required-only", "201", "201-required-only", "200-approved"}
	other := []string{"Token", "Reporting.Start", "Hooks.Create", "Accounts.ExchangeKey", "PIN."} // results that are not the JSON
	fixtures := ReadFixtures(t)
	compared := 0
	for _, c := range Cases() {
		f := fixtures[c.Fixture]
		if c.Refusal || f.Response.Body == nil || !slices.Contains(plain, f.Outcome) ||
			slices.ContainsFunc(other, func(prefix string) bool { return strings.HasPrefix(c.Fixture, prefix) }) {
			continue
		}
		response := c.want.Interface()
		if page := reflect.Indirect(c.want); page.Kind() == reflect.Struct && page.FieldByName("Items").IsValid() {
			response = page.FieldByName("Items").Interface()
		}
		if rows, ok := response.([][]string); ok {
			require.Len(t, rows, 3)
			continue
		}
		data, err := json.Marshal(response)
		require.NoError(t, err, c.Fixture)
		want, got := map[string]bool{}, map[string]bool{}
		collectMembers(t, f.Response.Body, want)
		collectMembers(t, data, got)
		require.Equal(t, want, got, c.Fixture)
		compared++
	}
	require.Greater(t, compared, 25)
}

// TestJSONNames fixes the names of types that are not on the wire but that partners store: in a journal, queue or file.
func TestJSONNames(t *testing.T) {
	t.Parallel()
	moment := fixtureTime(2026, time.November, 20, 1, 2, 3)
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
		{
			prepaid.Config{
				BaseURL: "b", Vendor: "v", TestEnvironment: true, InsecureHTTP: true, ClientID: "i", ClientSecret: prepaid.NewSecret("s"), UserAgent: "u",
				AttemptTimeout: 1, BodyIdleTimeout: 2, MaxResponseBytes: 3, RateShare: 0.5, RefusalCodes: []prepaid.ErrorCode{"c"}, MediaTypes: []string{"a/b"}, ShowDescriptions: true,
				Retry: prepaid.RetryPolicy{
					MaxAttempts: 4, MinWait: 5, MaxWait: 6, MaxRetryAfter: 7, MaxThrottleWait: 8, InFlightWait: 9, TokenHold: 10,
				},
			},
			`{"base_url":"b","vendor":"v","test_environment":true,"insecure_http":true,"client_id":"i","client_secret":"[REDACTED]",` +
				`"user_agent":"u","attempt_timeout":"1ns","body_idle_timeout":"2ns","max_response_bytes":3,"retry":{"max_attempts":4,` +
				`"min_wait":"5ns","max_wait":"6ns","max_retry_after":"7ns","max_throttle_wait":"8ns","in_flight_wait":"9ns","token_hold":"10ns"},"refusal_codes":["c"],"media_types":["a/b"],"rate_share":0.5,"show_descriptions":true}`,
		},
	} {
		data, err := json.Marshal(c.value)
		require.NoError(t, err)
		require.Equal(t, c.want, string(data))
	}
}
