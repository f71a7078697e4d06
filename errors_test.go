package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/ratelimit"
)

// OutcomeOf finds the outcome through any wrapping. Among joined errors, an unknown outcome decides, otherwise the
// first; an error not from a call is unknown.
func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	call := func(outcome prepaid.Outcome) error { return &prepaid.CallError{Outcome: outcome} }
	unknown, applied := call(prepaid.OutcomeUnknown), call(prepaid.OutcomeApplied)
	rejected, notProcessed := call(prepaid.OutcomeRejected), call(prepaid.OutcomeNotProcessed)
	for name, tc := range map[string]struct {
		err  error
		want prepaid.Outcome
	}{
		"nil":                        {nil, prepaid.OutcomeApplied},
		"foreign":                    {io.EOF, prepaid.OutcomeUnknown},
		"a bare cause":               {&prepaid.APIError{StatusCode: 404}, prepaid.OutcomeUnknown},
		"nil call":                   {(*prepaid.CallError)(nil), prepaid.OutcomeUnknown},
		"zero call":                  {&prepaid.CallError{}, prepaid.OutcomeUnknown},
		"call":                       {rejected, prepaid.OutcomeRejected},
		"wrapped":                    {fmt.Errorf("a: %w", fmt.Errorf("b: %w", notProcessed)), prepaid.OutcomeNotProcessed},
		"the outermost call":         {&prepaid.CallError{Outcome: prepaid.OutcomeApplied, Err: rejected}, prepaid.OutcomeApplied},
		"joined":                     {errors.Join(rejected, notProcessed), prepaid.OutcomeRejected},
		"joined with a foreign one":  {errors.Join(io.EOF, rejected), prepaid.OutcomeRejected},
		"joined with an unknown one": {errors.Join(applied, rejected, unknown), prepaid.OutcomeUnknown},
		"joined foreign ones":        {errors.Join(io.EOF, io.ErrClosedPipe), prepaid.OutcomeUnknown},
		"deeply joined":              {fmt.Errorf("x: %w", errors.Join(fmt.Errorf("%w and %w", rejected, io.EOF), fmt.Errorf("y: %w", unknown))), prepaid.OutcomeUnknown},
		"unwraps to nothing":         {&prepaid.TokenError{}, prepaid.OutcomeUnknown},
	} {
		require.Equal(t, tc.want, prepaid.OutcomeOf(tc.err), name)
	}
	for outcome, text := range map[prepaid.Outcome]string{
		prepaid.OutcomeUnknown: "unknown", prepaid.OutcomeApplied: "applied", prepaid.OutcomeRejected: "rejected",
		prepaid.OutcomeNotProcessed: "not_processed", 9: "invalid",
	} {
		require.Equal(t, text, outcome.String())
	}
	require.Zero(t, prepaid.OutcomeUnknown, "the zero value is the safe one")
}

// Text that cannot be parsed was never sent. The same sentinel for a received value proves nothing, alone or joined.
func TestOutcomeOfInput(t *testing.T) {
	t.Parallel()
	parsed := func(_ any, err error) error { return err }
	for name, tc := range map[string]struct {
		input, received error
		is              error
	}{
		"amount": {parsed(prepaid.ParseAmount("1e5")), new(prepaid.Amount).UnmarshalText([]byte("x")), prepaid.ErrSyntax},
		"range":  {parsed(prepaid.ParseAmount("12345678901234567890")), new(prepaid.Amount).UnmarshalJSON([]byte("1e19")), prepaid.ErrAmountRange},
		"scan":   {parsed(prepaid.ParseAmount("")), new(prepaid.Amount).Scan(1.5), prepaid.ErrSyntax},
		"date":   {parsed(prepaid.ParseDate("2026-02-30")), new(prepaid.Date).UnmarshalJSON([]byte("1")), prepaid.ErrSyntax},
	} {
		require.ErrorIs(t, tc.input, tc.is, name)
		require.ErrorIs(t, tc.received, tc.is, name)
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(fmt.Errorf("row 3: %w", tc.input)), name)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(tc.received), name)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(errors.Join(tc.input, tc.received)), name)
	}
}

// Each error is one line that names the broken part and none of its content.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"prepaid: outcome unknown":                         &prepaid.CallError{},
		"prepaid: Accounts.Get: not_processed: status 503": &prepaid.CallError{Operation: "Accounts.Get", Outcome: prepaid.OutcomeNotProcessed, Attempts: 1, Err: &prepaid.APIError{StatusCode: 503}},
		`prepaid: Accounts.Transfer: rejected, request_id "a, b: applied", correlation_id c/1: EOF`: &prepaid.CallError{
			Operation: "Accounts.Transfer", Outcome: prepaid.OutcomeRejected, RequestID: "a, b: applied", CorrelationID: "c/1", Err: io.EOF,
		},
		"prepaid: Accounts.Get: rejected: EOF": &prepaid.CallError{
			Operation: "Accounts.Get", Outcome: prepaid.OutcomeRejected, Err: &prepaid.CallError{Operation: "Accounts.Get", Outcome: prepaid.OutcomeRejected, Err: io.EOF},
		},
		"prepaid: applied after 3 attempts: EOF":                                &prepaid.CallError{Outcome: prepaid.OutcomeApplied, Attempts: 3, Err: io.EOF},
		"prepaid: status 400 (invalid_uri)":                                     &prepaid.APIError{StatusCode: 400, Code: prepaid.CodeInvalidURI, Description: "CANARY", Body: []byte("CANARY")},
		"prepaid: status 400 (unlisted code)":                                   &prepaid.APIError{StatusCode: 400, Code: "CANARY of\nthe service"},
		"prepaid: not sent":                                                     &prepaid.TransportError{},
		"prepaid: no complete response (body): EOF":                             &prepaid.TransportError{Sent: true, Step: "body", Err: io.EOF},
		`prepaid: undecodable response (status 200, "text/html", byte 7)`:       &prepaid.DecodeError{StatusCode: 200, MediaType: "text/html", Offset: 7},
		"prepaid: throttled locally: a slot needs 3s, longer than the deadline": &ratelimit.RefusedError{Wait: 3 * time.Second},
		"prepaid: no access token":                                              &prepaid.TokenError{},
		"prepaid: no access token: status 401":                                  &prepaid.TokenError{Err: &prepaid.APIError{StatusCode: 401}},
		"prepaid: invalid input: a is required; b must be above zero":           &prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: "a", Rule: "is required"}, {Field: "b", Rule: "must be above zero"}}},
		"invalid_uri": prepaid.CodeInvalidURI,
	} {
		require.EqualError(t, err, want)
	}
	api := &prepaid.APIError{StatusCode: 400, Code: "x", Description: "CANARY", Body: []byte("CANARY"), Header: map[string][]string{"X": {"CANARY"}}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		require.Equal(t, "prepaid: status 400 (x)", fmt.Sprintf(verb, api), verb)
	}
}

// Each status has its sentinel, and no other.
func TestSentinels(t *testing.T) {
	t.Parallel()
	sentinels := map[int]error{
		400: prepaid.ErrBadRequest, 401: prepaid.ErrUnauthorized, 403: prepaid.ErrForbidden, 404: prepaid.ErrNotFound,
		409: prepaid.ErrConflict, 429: prepaid.ErrRateLimited, 500: prepaid.ErrServer, 599: prepaid.ErrServer,
	}
	all := []error{
		prepaid.ErrBadRequest, prepaid.ErrUnauthorized, prepaid.ErrForbidden, prepaid.ErrNotFound, prepaid.ErrConflict,
		prepaid.ErrRateLimited, prepaid.ErrServer, prepaid.ErrReportFailed, prepaid.ErrTransferFailed,
		prepaid.ErrClosed, prepaid.ErrReportNotReady,
	}
	for _, status := range []int{0, 200, 302, 400, 401, 403, 404, 405, 408, 409, 429, 500, 599} {
		failure := &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Err: &prepaid.APIError{StatusCode: status, Code: prepaid.CodeInvalidURI}}
		for _, sentinel := range all {
			require.Equal(t, sentinels[status] == sentinel, errors.Is(failure, sentinel), "%d %v", status, sentinel)
		}
		require.ErrorIs(t, failure, prepaid.CodeInvalidURI)
		require.NotErrorIs(t, failure, prepaid.CodeInvalidScope)
	}
	require.NotErrorIs(t, &prepaid.APIError{StatusCode: 400}, prepaid.ErrorCode(""), "no code is no match")
	require.ErrorIs(t, &ratelimit.RefusedError{}, prepaid.ErrRateLimited)
	require.NotErrorIs(t, &prepaid.TokenError{Err: context.Canceled}, prepaid.ErrUnauthorized)
	require.ErrorIs(t, &prepaid.TokenError{Err: context.Canceled}, context.Canceled)
	require.ErrorIs(t, &prepaid.TokenError{Err: &prepaid.APIError{StatusCode: 400, Code: prepaid.CodeInvalidClient}}, prepaid.ErrUnauthorized)
	require.ErrorIs(t, &prepaid.TransportError{Err: io.EOF}, io.EOF)
	require.ErrorIs(t, &prepaid.DecodeError{Err: io.ErrUnexpectedEOF}, io.ErrUnexpectedEOF)
}

// The codes of the reference are known; any other is kept as received.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	for code := range strings.FieldsSeq(`invalid_request unsupported_grant_type invalid_client server_error unauthorized
		bad_application_id bad_key_id bad_ephemeral_key bad_account invalid_uri invalid_scope invalid_filter_spec invalid_enabled
		invalid_reliability_mode invalid_hmac_key_id invalid_hmac_key_secret no_response invalid_hook_id invalid_message_id`) {
		require.True(t, prepaid.Known(prepaid.ErrorCode(code)), code)
		require.EqualError(t, &prepaid.APIError{StatusCode: 400, Code: prepaid.ErrorCode(code)}, "prepaid: status 400 ("+code+")")
	}
}

// The values of the reference are known; the default, another spelling and an unlisted value are not.
func TestKnown(t *testing.T) {
	t.Parallel()
	for _, code := range []prepaid.TransactionType{"1115", "1116", "1117", "1118", "1120", "1125", "1141", "2950"} {
		require.True(t, prepaid.Known(code), code)
	}
	require.True(t, prepaid.Known(prepaid.RequestType("new")) && prepaid.Known(prepaid.RequestType("replace")))
	require.True(t, prepaid.Known(prepaid.PINHashSHA256) && prepaid.Known(prepaid.PINHashSHA512) && prepaid.Known(prepaid.CardholderType(2)))
	for _, code := range []prepaid.TransactionType{"", "1119", "2951", "02950", "9999"} {
		require.False(t, prepaid.Known(code), code)
	}
	for _, hash := range []prepaid.PINHash{"", "SHA1", "sha256", "SHA-256", "SHA384"} {
		require.False(t, prepaid.Known(hash), hash)
	}
	for _, request := range []prepaid.RequestType{"", "NEW", "renew"} {
		require.False(t, prepaid.Known(request), request)
	}
	require.False(t, prepaid.Known(prepaid.ErrorCode("insufficient_funds")) || prepaid.Known(prepaid.ErrorCode("")) || prepaid.Known(prepaid.CardholderType(3)))
}

// A slog record of an error has its parts as attributes, without request data or the service's text.
func TestErrorsLogTheirParts(t *testing.T) {
	t.Parallel()
	api := &prepaid.APIError{StatusCode: 404, Code: prepaid.CodeInvalidHookID, Description: "CANARY", Body: []byte("CANARY")}
	call := &prepaid.CallError{
		Operation: "Accounts.Transfer", Outcome: prepaid.OutcomeUnknown, AccountID: "CANARY", RequestID: "pay-1", CorrelationID: "c-1", Attempts: 2, Err: api,
	}
	for want, err := range map[string]error{
		`{"operation":"Accounts.Transfer","outcome":"unknown","attempts":2,"request_id":"pay-1","correlation_id":"c-1","status":404,` +
			`"code":"invalid_hook_id","error":"prepaid: Accounts.Transfer: outcome unknown after 2 attempts, request_id pay-1, correlation_id c-1: status 404 (invalid_hook_id)"}`: call,
		`{"operation":"Accounts.Transfer","outcome":"rejected","attempts":0,"error":"prepaid: Accounts.Transfer: rejected: invalid input: "}`: &prepaid.CallError{
			Operation: "Accounts.Transfer", Outcome: prepaid.OutcomeRejected, RequestID: "CANARY", CorrelationID: "CANARY", Err: &prepaid.ValidationError{},
		},
		`{"operation":"Hooks.List","outcome":"not_processed","attempts":0,"last_sent":"0001-01-02T00:00:00Z","error":"prepaid: Hooks.List: not_processed: closed"}`: &prepaid.CallError{
			Operation: "Hooks.List", Outcome: prepaid.OutcomeNotProcessed, LastSent: time.Time{}.AddDate(0, 0, 1), Err: errors.New("prepaid: closed"),
		},
		`{"status":404,"code":"invalid_hook_id","error":"prepaid: status 404 (invalid_hook_id)"}`: api,
		`{"fields":["amount"],"error":"prepaid: invalid input: amount must be above zero"}`:       &prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: "amount", Rule: "must be above zero"}}},
	} {
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("failed", "error", err)
		require.Contains(t, log.String(), `"error":`+want)
	}
}
