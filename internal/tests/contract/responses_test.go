package contract

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// A response without one of these members is an error: they identify something, or their zero value would look like a value of the service.
// Other members are the zero value if they are missing or null: the service never sends it, or no decision depends on it. A program gets the
// usable members of a response, even if the service omits others.
func neededMembers() map[string]string {
	return map[string]string{
		"Token": "access_token token_type expires_in", "Account": "account_id company_id balance status",
		"AccountSummary": "balance status", "CreatedAccount": "balance status",
		"Transaction": "id amount running_balance_amount occurred_at", "WalletToken": "token_unique_reference current_status_code",
		"DirectEntryResult": "transaction_id correlation_id", "TransferResult": "transaction_id correlation_id", "FundingOutcome": "outcome",
		"TransactResult": "success", "AuthorisedResult": "success", "SimulationResult": "success", "MerchantCategoryCode": "code",
		"Policy": "default_action", "CategoryRules": "default_action", "MerchantRules": "default_action", "TerminalRules": "default_action",
		"Hook": "id uri", "Report": "reportdata totalrecords", "": "id",
	}
}

// variant is a change of a response.
type variant struct {
	name  string
	path  []string
	value any // nil removes the member
	null  bool
	fails bool
}

// variants returns the changes of a response that the document allows, and those of needed members. They change one member each.
func variants(s *reference.Schema, path, query []string) (all []variant) {
	if s.Items != nil {
		return variants(s.Items, path, query)
	}
	if len(s.Properties) > 0 {
		all = append(all, variant{name: "further", path: append(slices.Clone(path), "zz_new"), value: map[string]any{"a": []any{"1"}}})
	}
	for _, member := range s.Properties {
		m := member.Value
		if m.Include != "" && !slices.Contains(query, m.Include) {
			continue
		}
		at := append(slices.Clone(path), member.Name)
		needed := slices.Contains(strings.Fields(neededMembers()[s.Name]), member.Name)
		change := func(name string, value any) {
			all = append(all, variant{name: name, path: at, value: value, null: name == "null", fails: value == nil && needed})
		}
		change("absent", nil)
		change("null", nil)
		if m.Type[0] == "boolean" {
			change("false", false)
			change("text", "FALSE")
		}
		if (m.Type[0] == "integer" || m.Type[0] == "number") && m.Enum == nil && s.Name != "Report" {
			change("text", "42")
			change("zeros", json.Number("42.0"))
		}
		for _, value := range m.Enum {
			change("enum", sample.Plain(value))
		}
		if len(m.Enum) > 0 {
			unknown := any("from_a_later_version")
			if m.Type[0] == "integer" {
				unknown = json.Number("97")
			}
			change("unknown value", unknown)
			all[len(all)-1].fails = s.Name == "FundingOutcome" || s.Name == "Token"
		}
		all = append(all, variants(m, at, query)...)
	}
	return all
}

// unwrapped returns the value of a result that the body of a response has.
func unwrapped(result, body any) (got reflect.Value, sent any) {
	if token, ok := result.(*oauth2.Token); ok {
		token.TokenType = strings.ToLower(token.TokenType) // Bearer
	}
	got = reflect.Indirect(reflect.ValueOf(result))
	if got.Kind() == reflect.Struct && got.FieldByName("Items").IsValid() {
		got = got.FieldByName("Items")
	}
	if object, ok := body.(map[string]any); ok && got.Kind() == reflect.String { // the only member
		return got, object["id"]
	}
	return got, body
}

// Each response of the document is read into the fields that it names, value for value: with all members, with the required ones, without
// each member, with null, with each value of an enumeration and an unknown one, and with further members.
func TestResponses(t *testing.T) {
	t.Parallel()
	for _, o := range reference.Read().Operations {
		s := o.Response()
		if s == nil {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			r := sample.NewRequest(o, true)
			full := (&sample.Maker{Maximal: true, Query: o.Names()}).Value(s)
			least := (&sample.Maker{Query: o.Names()}).Value(s)
			if s.Name == "Report" {
				rows := []string{"totalrecords"} // of reportdata
				full, least = sample.Edited(full, rows, json.Number("1"), false), sample.Edited(least, rows, json.Number("1"), false)
			}
			var reader sample.Reader
			check := func(name string, body any, fails bool) {
				data, err := json.Marshal(body)
				require.NoError(t, err)
				result, err := respond(t, r, o.Success()[0], string(data))
				if fails {
					requireUndecoded(t, o, err, name)
					return
				}
				require.NoError(t, err, "%s: %s", name, data)
				got, sent := unwrapped(result, body)
				reader.Compare(name, s, sent, got)
				if name == "all" && o.Name != "Token" && got.Kind() != reflect.String { // a queue or a cache has the service's response
					written, kept := map[string]bool{}, map[string]bool{}
					memberNames("", body, written)
					memberNames("", decoded(requireRoundTrip(t, got.Interface())), kept)
					require.Equal(t, written, kept)
				}
			}
			check("all", full, false)
			// A failed transfer has only its required members. Each wallet requires one of the others.
			check("required", least, s.Name == "TransferResult" || s.Name == "WalletProvisioning")
			for _, v := range variants(s, nil, o.Names()) {
				body := sample.Edited(full, v.path, v.value, v.null)
				if v.value == "declined" {
					body = sample.Edited(body, []string{"transaction_id"}, nil, false)
				}
				check(strings.Join(v.path, ".")+" "+v.name, body, v.fails)
			}
			require.Empty(t, reader.Differences)
		})
	}
}

// respond makes a request that gets a success with a body.
func respond(t *testing.T, r *sample.Request, status, body string, headers ...string) (result any, err error) {
	t.Helper()
	code, err := strconv.Atoi(status)
	require.NoError(t, err)
	config := harness.ServiceConfig()
	script := harness.NewScript(harness.Respond(code, harness.VendorJSON, body, headers...))
	script.CountReads = true
	config.Transport = harness.Split{Tokens: harness.NewScript(harness.Grant(1, "3600")), Calls: script}
	if r.Operation.Name == "Token" {
		config.Transport = script
	}
	return r.CallPage(t.Context(), harness.NewClient(t, config))
}

// requireUndecoded checks that a response was refused, with nothing of its content in the error.
func requireUndecoded(t *testing.T, o *reference.Operation, err error, name string) {
	t.Helper()
	require.Error(t, err, name)
	_, undecodable := errors.AsType[*prepaid.DecodeError](err)
	require.True(t, undecodable || errors.Is(err, prepaid.ErrTransferFailed), "%s: %v", name, err)
	outcome := prepaid.OutcomeApplied
	if o.Body == "refusal" || o.Lane == "money" { // the service may have refused
		outcome = prepaid.OutcomeUnknown
	}
	if o.Name == "Token" {
		outcome = prepaid.OutcomeNotProcessed
	}
	if undecodable {
		require.Equal(t, outcome, prepaid.OutcomeOf(err), name)
	}
	require.True(t, !undecodable || !strings.Contains(harness.CallError(t, err).Err.Error(), "é"), "%s: %v", name, err)
}

// The headers of a page are the fields of Page, and a 204 is an empty list.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, o := range reference.Read().Operations {
		if _, listed := o.Results.Get("204"); listed && o.Response() != nil && o.Also["204"] == "" {
			page, err := respond(t, sample.NewRequest(o, true), "204", "")
			require.NoError(t, err, o.Name)
			items, _ := unwrapped(page, nil)
			require.Zero(t, items.Len(), o.Name)
		}
		if slices.Contains(o.Names(), "page_number") && o.Name != "Accounts.SearchCompany" { // of which the reference shows no headers
			result, _ := o.Results.Get("200")
			for _, header := range []string{"X-PageSize", "X-TotalPages", "X-TotalItems"} {
				require.Contains(t, result.Headers, header, o.Name)
			}
			r := sample.NewRequest(o, true)
			r.Query.Set("page_number", "2")
			page, err := respond(t, r, "200", "[]", "X-PageSize: 17", "X-TotalPages: 3", "X-TotalItems: 41")
			require.NoError(t, err, o.Name)
			v := reflect.ValueOf(page).Elem()
			for name, want := range map[string]int64{"Number": 2, "Size": 17, "TotalPages": 3, "TotalItems": 41} {
				require.Equal(t, want, v.FieldByName(name).Int(), "%s: %s", o.Name, name)
			}
		}
	}
}

// Operations without a body take each of their statuses, and those with an unspecified one return it.
func TestOtherResponses(t *testing.T) {
	t.Parallel()
	for _, o := range reference.Read().Operations {
		if o.Body != "none" && o.Body != "any" {
			continue
		}
		for _, status := range o.Success() {
			result, err := respond(t, sample.NewRequest(o, false), status, "")
			require.NoError(t, err, "%s %s", o.Name, status)
			if received, ok := result.(*prepaid.RawResponse); ok {
				require.Equal(t, status, strconv.Itoa(received.StatusCode))
			}
		}
	}
}

// Each error response of the document is an APIError with its code, and the outcome that its status and the operation allow.
func TestErrorResponses(t *testing.T) {
	t.Parallel()
	sentinels := map[int]error{
		400: prepaid.ErrBadRequest, 401: prepaid.ErrUnauthorized, 403: prepaid.ErrForbidden, 404: prepaid.ErrNotFound, 409: prepaid.ErrConflict,
		429: prepaid.ErrRateLimited, 500: prepaid.ErrServer,
	}
	var codes []string
	for _, o := range reference.Read().Operations {
		for _, result := range o.Results {
			status, _ := strconv.Atoi(result.Name)
			if status < 400 {
				continue
			}
			for _, code := range append(slices.Clone(result.Value.Codes), "from_a_later_version") {
				if !slices.Contains(codes, code) {
					codes = append(codes, code)
				}
				t.Run(o.Name+" "+result.Name+" "+code, func(t *testing.T) {
					requireAPIError(t, o, status, prepaid.ErrorCode(code), sentinels[status])
				})
			}
		}
	}
	require.ElementsMatch(t, append(constants(t)["ErrorCode"], "from_a_later_version"), codes)
}

func requireAPIError(t *testing.T, o *reference.Operation, status int, code prepaid.ErrorCode, sentinel error) {
	t.Helper()
	body := `{"error":"` + string(code) + `","error_description":"Canary words"}`
	config := harness.ServiceConfig()
	config.Retry = prepaid.RetryPolicy{MaxAttempts: 1, MaxThrottleWait: 1}
	refuses := harness.NewScript(harness.Respond(status, harness.VendorJSON, body, "Retry-After: 7"))
	refuses.CountReads = true
	config.Transport = harness.Split{Tokens: harness.NewScript(harness.Grant(1, "3600")), Calls: refuses}
	if o.Name == "Token" {
		config.Transport = refuses
	}
	_, err := sample.NewRequest(o, false).Call(t.Context(), harness.NewClient(t, config))
	call := harness.CallError(t, err)
	require.Equal(t, o.Name, call.Operation)
	require.Equal(t, knownOutcome(o, status, code), call.Outcome)
	if status == 500 && strings.Contains(o.Also["500"], "final") {
		require.ErrorIs(t, err, prepaid.ErrReportFailed)
	}
	api := harness.As[*prepaid.APIError](t, err)
	require.Equal(t, code, api.Code)
	require.ErrorIs(t, err, code)
	require.Equal(t, code != "from_a_later_version", prepaid.Known(code))
	require.Equal(t, "Canary words", api.Description)
	require.Equal(t, status, api.StatusCode)
	require.Equal(t, body, string(api.Body))
	require.Equal(t, 7.0, api.RetryAfter.Seconds())
	require.NotContains(t, err.Error(), "Canary")
	switch {
	case o.Also[strconv.Itoa(status)] == "input": // it may not mean that an account does not exist
		require.NotErrorIs(t, err, sentinel)
	case code == prepaid.CodeInvalidClient:
		require.ErrorIs(t, err, prepaid.ErrUnauthorized)
	default:
		require.ErrorIs(t, err, sentinel)
	}
}
