package prepaid

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/wire"
)

// The text of a decoder's error is always dropped: no error of json is known to be safe.
func TestCanaryUndecodable(t *testing.T) {
	t.Parallel()
	const canary = "Cnry_Decoder_"
	text := errors.New(canary + "Error_")
	a := &response{status: 200, mediaType: canary + "Type_"}
	for _, err := range []error{
		&jsonv2.SemanticError{Err: text, JSONPointer: jsontext.Pointer("/" + text.Error())}, &jsontext.SyntacticError{Err: text},
		fmt.Errorf("%s: %w", text, &jsonv2.SemanticError{Err: fmt.Errorf("%w: %w", text, errAmountSyntax)}),
	} {
		failure := a.undecodable(err)
		for inner := failure; inner != nil; inner = errors.Unwrap(inner) {
			asJSON, err := json.Marshal(inner)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v %s %q %s %v", inner, inner, inner, inner, inner, asJSON, err), canary)
		}
		require.ErrorAs(t, failure, new(*DecodeError))
	}
	require.ErrorIs(t, a.undecodable(&jsonv2.SemanticError{Err: fmt.Errorf("%w: %w", text, errAmountSyntax)}), errAmountSyntax)
}

// An amount of zero is one that was sent, in whatever form, and a required member is there, on the fast path and by the library. The form of
// another member decides which of them reads the response.
func TestRequired(t *testing.T) {
	t.Parallel()
	read := func(body string, out any) error {
		failure, _ := errors.AsType[*DecodeError](decodeJSON(&response{body: []byte(body)}, out))
		if failure == nil {
			return nil
		}
		return failure.Err
	}
	const account = `{"account_id":"E","company_id":7,"status":"active","balance":0`
	const item = `{"id":"1","amount":0,"running_balance_amount":0,"occurred_at":"2026-05-06T07:08:09Z"`
	for text, want := range map[string]error{
		"": nil, `,"balance":"0.000"`: nil, `,"balance":-0e-19`: nil, `,"company_id":0`: nil, `,"balance":1,"balance":0`: nil,
		`,"balance":null`: errMissingMember, `,"balance":1,"balance":null`: errMissingMember, `,"company_id":null`: errMissingMember,
		`,"status":""`: errMissingMember, `,"status":null`: errMissingMember, `,"account_id":"\u0000","account_id":""`: errMissingMember,
		`,"balance":""`: errAmountSyntax, `,"balance":"x"`: errAmountSyntax,
	} {
		for _, form := range []string{`}`, `,"is_plastic_enabled":"true"}`} {
			var got Account
			require.Equal(t, want, read(account+text+form, &got), "%s%s", text, form)
			require.True(t, want != nil || got.Balance.IsZero())
		}
	}
	for _, member := range []string{`"account_id":"E",`, `"company_id":7,`, `"status":"active",`, `,"balance":0`} {
		require.Equal(t, errMissingMember, read(strings.Replace(account, member, "", 1)+"}", new(Account)), member)
	}
	for text, want := range map[string]error{
		"": nil, `,"amount":null`: errMissingMember, `,"fee_amount":null`: nil, `,"id":null`: errMissingMember, `,"occurred_at":""`: errMissingMember,
		`,"occurred_at":"0001-01-01T00:00:00Z"`: errMissingMember, `,"occurred_at":"\u0030001-01-01T00:00:00Z"`: errMissingMember,
		`,"occurred_at":"0001-01-01T00:00:00Z","occurred_at":"2026-05-06"`: nil,
	} {
		for _, form := range []string{`}`, `,"type":0.5}`} {
			require.Equal(t, want, read(item+text+form, new(Transaction)), "%s%s", text, form)
		}
	}
	for body, want := range map[string]error{
		`{"type":"open"}`: nil, `{"terminal_rules":[]}`: nil, `{"category_rules":[]}`: nil, `{}`: errMissingMember, `{"type":"","terminal_rules":null}`: errMissingMember,
	} {
		require.Equal(t, want, read(body, new(Restrictions)), body)
	}
	for body, want := range map[string]error{
		`{"issuer_initiated_digitization_data":"a"}`:                                          nil,
		`{"activation_data":"a","encrypted_pass_data":"b","ephemeral_public_key":"c"}`:        nil,
		`{"activation_data":"a","encrypted_pass_data":"b","ephemeral_public_key":""}`:         errMissingMember,
		`{"issuer_initiated_digitization_data":null,"pan_last_four":"1234","provider":"one"}`: errMissingMember,
	} {
		require.Equal(t, want, read(body, new(WalletProvisioning)), body)
	}
	for body, want := range map[string]error{
		`{"outcome":"approved","transaction_id":1}`: nil, `{"outcome":"declined","transaction_id":"0"}`: nil, `{"outcome":""}`: errMissingMember,
		`{"outcome":"declined","transaction_id":1}`: errContradiction, `{"outcome":"later"}`: errContradiction,
	} {
		require.Equal(t, want, read(body, new(FundingResult)), body)
		require.Equal(t, want, read(`{"more":1,`+body[1:], new(struct{ FundingResult })), body)
		require.Equal(t, want, read(`[`+body+`]`, new([]FundingResult)), body)
	}
	require.Equal(t, errMissingMember, read(`{"message":"a"}`, new(struct{ SimulationResult })), "no refusal")
}

// A malformed body, or a member of the wrong type, is reported as such and not as a missing member.
func TestMalformedIsNotMissing(t *testing.T) {
	t.Parallel()
	for _, out := range []any{
		new(Account), new(FundingResult), new(Cardholder), new([]Account), new(struct{ Account }), new(struct{ *FundingResult }),
		new([]struct{ Account }),
	} {
		for body, want := range map[string]error{
			`{"balance":1`: io.ErrUnexpectedEOF, `{"balance":tru}`: errNotJSON, `{"outcome":"`: io.ErrUnexpectedEOF,
			`{"outcome"`: io.ErrUnexpectedEOF,
			`{`:          io.ErrUnexpectedEOF, `<html>`: errNotJSON, `7`: errWrongType,
		} {
			if reflect.TypeOf(out).Elem().Kind() == reflect.Slice {
				body = "[" + body
				if want == errWrongType {
					body += "]"
				}
			}
			require.ErrorIs(t, decodeJSON(&response{body: []byte(body)}, out), want, "%T %s", out, body)
			header := http.Header{"Content-Type": {"application/json"}}
			require.ErrorIs(t, (&RawResponse{StatusCode: 200, Header: header, Body: []byte(body)}).Decode(out), want, "%T %s", out, body)
		}
	}
	for body, out := range map[string]any{
		`{"is_plastic_enabled":"no"}`: new(Account), `{"status":true}`: new(struct{ Account }), `{"filter_spec":[]}`: new(Hook),
	} {
		require.ErrorIs(t, decodeJSON(&response{body: []byte(body)}, out), errWrongType, body)
	}
}

// A required member may have escapes, and may be in any place; those of inner objects do not count.
func TestFound(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]uint{
		`{}`: 0, `null`: 0, `{"a":1}`: 1, ` { "b" : "x" , "a" : [ ] } `: 3, `{"\u0061":0}`: 1, `{"a\\":1,"b\"":2}`: 0, `{"a":null}`: 0,
		`{"a":""}`:         0,
		`{"a":1,"a":null}`: 0, `{"a":null,"a":false}`: 1, `{"x":{"a":1},"y":[{"b":2}]}`: 0, `{"x":"{\"a\":","b":" "}`: 2,
		`{"x":"a","y":["b"]}`:                  0,
		`{"x":[[{}],{"z":{}}],"a":{"b":null}}`: 1, "{\"\xff\":1,\"b\":\"\\ud800\"}": 2,
	} {
		require.Equal(t, want, wire.Found([]byte(object), "a", "b"), object)
	}
	for cut := range `{"a":"\"","b":1}` { // also malformed text has an end
		wire.Found([]byte(`{"a":"\"","b":1}`)[:cut], "a")
	}
}

// A caller's struct is read as the library reads it, except for its values of this package.
func TestCallersOwnMembers(t *testing.T) {
	t.Parallel()
	type callers struct {
		N         int           `json:"n"`
		RequestID RequestID     `json:"request_id"`
		Status    AccountStatus `json:"status"`
	}
	got := callers{N: 7}
	for _, refused := range []string{`{"n":"12"}`, `{"request_id":12}`, `{"status":true}`} {
		require.Error(t, jsonv2.Unmarshal([]byte(refused), &got, decodeOptions), refused)
	}
	require.NoError(t, jsonv2.Unmarshal([]byte(`{"n":null,"request_id":"r","status":12}`), &got, decodeOptions))
	require.Equal(t, callers{RequestID: "r", Status: "12"}, got)
	require.True(t, Known(struct{ AccountStatus }{AccountStatusActive}))
	require.False(t, Known(struct{ AccountStatus }{"other"}))
}
