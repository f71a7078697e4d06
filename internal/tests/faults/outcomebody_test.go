package faults

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The body of a success as evidence of the effect: an invalid id proves nothing, nor does a body where the
// reference has no body.

func opPayout() harness.Op {
	return harness.Op{
		Name: "Accounts.DirectEntryOut", Path: "/3.0/accounts/acc-1/directentryout", Account: "acc-1", RequestID: "pay-1",
		Status: 200, MediaType: harness.VendorJSON, Body: harness.TransferJSON,
		Call: harness.Calling("Accounts.DirectEntryOut", "acc-1", prepaid.DirectEntryOutParams{
			RequestID: "pay-1", Amount: prepaid.MustAmount("25.50"), SourceReference: "out", DestinationReference: "in", BSB: "062000",
			Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "n"},
		}),
	}
}

// Digits above zero are an id, quoted or not, of any length, and so is an integer in another form of JSON. Text is kept as it
// arrived.
func TestTransferIDs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]prepaid.TransactionID{
		`71`: "71", `71.0`: "71", `7.1e1`: "71", `8800004001.0`: "8800004001", `"71"`: "71", `9007199254740993`: "9007199254740993", `"007"`: "007", `"\u0037"`: "7",
		`123456789012345678901234567890`: "123456789012345678901234567890", `"1` + strings.Repeat("0", 300) + `"`: prepaid.TransactionID("1" + strings.Repeat("0", 300)),
	} {
		for name, members := range map[string]string{"plain": `"transaction_id"`, "escaped": `"transaction\u005fid"`} {
			config := harness.NewScript(harness.Respond(200, harness.VendorJSON, `{`+members+`: `+text+` ,"correlation_id":"c"}`)).Config()
			result, err := harness.NewClient(t, config).Accounts.Transfer(t.Context(), "acc-1", prepaid.TransferParams{
				RequestID: "pay-1", Amount: prepaid.MustAmount("1"), SourceReference: "s", DestinationReference: "d", DestinationAccountID: "acc-2",
			})
			require.NoError(t, err, "%s %s", name, text)
			require.Equal(t, &prepaid.TransferResult{TransactionID: want, CorrelationID: "c", RequestID: "pay-1"}, result)
		}
	}
}

// Section 4.4 has a failure for a transfer alone, and shows it as an empty id.
func TestTransferFails(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"transaction_id":null,"correlation_id":"corr-1"}`, `{"transaction_id":"","correlation_id":"corr-1"}`,
		`{"correlation_id":"corr-1","transaction\u005fid": null }`,
	} {
		failure := harness.CallError(t, harness.CallWith(t, 200, body, harness.OpTransfer().Call))
		require.ErrorIs(t, failure, prepaid.ErrTransferFailed, body)
		require.Equal(t, prepaid.OutcomeRejected, failure.Outcome)
		require.Equal(t, "corr-1", failure.CorrelationID)
		require.EqualValues(t, "pay-1", failure.RequestID)
		require.False(t, prepaid.ProvesNotApplied(failure, time.Unix(1, 0)), "the service had not responded before")

		failure = harness.CallError(t, harness.CallWith(t, 200, body, opPayout().Call))
		harness.RequireUndecodable(t, failure, prepaid.OutcomeUnknown)
		require.NotErrorIs(t, failure, prepaid.ErrTransferFailed, body)
		require.Equal(t, "corr-1", failure.CorrelationID, "the operator is asked by it")
	}
}

// Whatever else a 200 of a movement holds, the money may have moved, and a call before it stays unknown.
func TestMovementWithoutAnID(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`{}`, `[]`, `null`, `71`, `"CANARY"`, ``, `   `, `{"correlation_id":"c"}`, `{"transaction_id":71}`, `{"transaction_id":71,"correlation_id":null}`,
		`{"transaction_id":71,"correlation_id":true}`, `{"error":"server_error"}`, `{"error":"CANARY","error_description":"CANARY"}`,
		`{"error":"server_error","transaction_id":"","correlation_id":"c"}`, `{"error":"server_error","transaction_id":71,"correlation_id":"c"}`,
	}
	for _, id := range []string{
		`0`, `-0`, `0.0`, `0e0`, `"0"`, `"00"`, `" "`, `"\u00a0"`, "\"\u00a0\"", `"failed"`, `"undefined"`, `"null"`, `-1`, `"-1"`, `7.5`, `"7.5"`, `-7.0`, `"7.0"`,
		`75e-1`, `1e400`, `"1e3"`, `"+7"`, `" 7"`, `"7 "`, `"0x7"`, `"\u0667"`, `true`, `false`, `[71]`, `[]`, `{}`, `{"CANARY":1}`, `007`, `"t-1"`,
	} {
		bodies = append(bodies, `{"transaction_id":`+id+`,"correlation_id":"c"}`)
	}
	for _, op := range []harness.Op{harness.OpTransfer(), opPayout()} {
		for _, body := range bodies {
			synctest.Test(t, func(t *testing.T) {
				client := onceClient(t, harness.NewScript(harness.Broken(harness.ErrCut), harness.Respond(200, harness.VendorJSON, body)))
				require.ErrorIs(t, op.Call(t.Context(), client), harness.ErrCut)
				for range 2 {
					failure := harness.CallError(t, op.Call(t.Context(), client))
					harness.RequireUndecodable(t, failure, prepaid.OutcomeUnknown)
					require.NotErrorIs(t, failure, prepaid.ErrTransferFailed, body)
					require.False(t, prepaid.ProvesNotApplied(failure, time.Unix(1, 0)), body)
				}
			})
		}
	}
}

func simulate(ctx context.Context, c *prepaid.Client) error {
	_, err := c.Simulation.Transact(ctx, prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: "acc-1", Amount: prepaid.MustAmount("1"), MerchantCategoryCode: "5411",
	})
	return err
}

// A proxy's body under another media type decides nothing about money, whatever its members say, unless the type is listed.
func TestForeignMediaTypeDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, mediaType := range []string{"text/html", "text/plain", harness.OctetStream, ""} {
		for _, tc := range []struct {
			call    func(context.Context, *prepaid.Client) error
			body    string
			refused error // with the setting
		}{
			{harness.OpTransfer().Call, `{"transaction_id":7,"correlation_id":"c"}`, nil},
			{harness.OpTransfer().Call, `{"transaction_id":"","correlation_id":"c"}`, prepaid.ErrTransferFailed},
			{opPayout().Call, `{"transaction_id":7,"correlation_id":"c"}`, nil},
			{harness.OpRedeem().Call, `{"outcome":"approved","transaction_id":7}`, nil},
			{harness.OpRedeem().Call, `{"outcome":"declined"}`, nil},
			{simulate, `{"success":true,"message":"m"}`, nil},
			{simulate, `{"success":false,"message":"m"}`, nil},
		} {
			for _, listed := range [][]string{nil, {"a/b", mediaType}} {
				config := harness.NewScript(harness.Respond(200, mediaType, tc.body)).Config()
				config.TestEnvironment, config.MediaTypes = true, listed
				err := tc.call(t.Context(), harness.NewClient(t, config))
				if listed == nil {
					require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), "%q %s: %v", mediaType, tc.body, err)
				} else {
					require.ErrorIs(t, err, tc.refused, "%q %s", mediaType, tc.body)
				}
			}
		}
	}
}

// A member that decides about a movement and is there twice says two things: neither is believed, whatever the order.
func TestRepeatedMembersDecideNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status int
		body   string
		calls  []func(context.Context, *prepaid.Client) error
	}{
		{200, `{"transaction_id":7,"correlation_id":"c","transaction_id":""}`, []func(context.Context, *prepaid.Client) error{harness.OpTransfer().Call, opPayout().Call}},
		{200, `{"transaction_id":"","correlation_id":"c","transaction\u005fid":7}`, []func(context.Context, *prepaid.Client) error{harness.OpTransfer().Call, opPayout().Call}},
		{200, `{"transaction_id":null,"transaction_id":null,"correlation_id":"c"}`, []func(context.Context, *prepaid.Client) error{harness.OpTransfer().Call}},
		{200, `{"outcome":"approved","transaction_id":7,"outcome":"declined"}`, []func(context.Context, *prepaid.Client) error{harness.OpRedeem().Call}},
		{200, `{"outcome":"approved","transaction_id":7,"transaction_id":8}`, []func(context.Context, *prepaid.Client) error{harness.OpRedeem().Call}},
		{200, `{"success":false,"message":"m","success":true}`, []func(context.Context, *prepaid.Client) error{simulate}},
		{200, `{"error":"x","transaction_id":7,"correlation_id":"c","error":""}`, []func(context.Context, *prepaid.Client) error{harness.OpTransfer().Call}},
		{400, `{"error":"","error":"invalid_request"}`, []func(context.Context, *prepaid.Client) error{harness.OpTransfer().Call, harness.OpRedeem().Call}},
		{400, `{"error":"invalid_request","error":"invalid_request"}`, []func(context.Context, *prepaid.Client) error{harness.OpTransfer().Call}},
	} {
		for _, call := range tc.calls {
			failure := harness.CallError(t, harness.CallWith(t, tc.status, tc.body, call))
			require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome, tc.body)
		}
	}
}

func opOf(operation string, status int, values ...any) harness.Op {
	return harness.Op{Name: operation, Status: status, Call: harness.Calling(operation, values...)}
}

// bodiless are operations whose response has no body to read, of both classes that they have.
func bodiless() []harness.Op {
	return []harness.Op{
		harness.OpPlastic(), harness.OpActivate(),
		opOf("Accounts.SetStatus", 200, "acc-1", prepaid.SetStatusParams{Status: prepaid.AccountStatusLostOrStolen}),
		opOf("Policy.ChangeCategories", 200, 7, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"5411"}}),
		opOf("Hooks.Delete", 204, "hook-1"),
		opOf("Hooks.Dismiss", 204, "hook-1", "m-1"),
	}
}

// An empty body, {} or null counts as no body, with 200 and 204.
func TestBodilessSuccess(t *testing.T) {
	t.Parallel()
	for _, op := range bodiless() {
		for _, status := range []int{200, 204} {
			for _, body := range []string{"", " \r\n\t", "{}", " { \n } ", "null", " null\n"} {
				for _, mediaType := range []string{harness.VendorJSON, harness.VendorJSON + "; charset=utf-8", "application/json", harness.OctetStream, "text/plain", ""} {
					config := harness.NewScript(harness.Respond(status, mediaType, body)).Config()
					require.NoError(t, op.Call(t.Context(), harness.NewClient(t, config)), "%s %d %q %q", op.Name, status, mediaType, body)
				}
			}
		}
	}
}

// Any other body proves nothing, and neither does the media type of a proxy. It is the same for a client of docs/safety.json.
func TestBodilessWithABody(t *testing.T) {
	t.Parallel()
	file := readSafety(t)
	for _, op := range bodiless() {
		for _, response := range []struct {
			mediaType, body string
		}{
			{harness.VendorJSON, `{"error":"server_error"}`},
			{harness.VendorJSON, `{"error":"CANARY","error_description":"CANARY"}`},
			{"application/json", `{"error":"server_error"}`},
			{"", `{"error":"server_error"}`},
			{harness.OctetStream, `{"error":"server_error"}`},
			{harness.VendorJSON, `{"note":"CANARY"}`},
			{harness.VendorJSON, `{"note":""}`},
			{harness.VendorJSON, "OK"},
			{harness.VendorJSON, `""`},
			{harness.VendorJSON, `[]`},
			{harness.VendorJSON, `{`},
			{harness.VendorJSON, `}`},
			{harness.VendorJSON, `{}{}`},
			{harness.VendorJSON, `nullnull`},
			{"text/plain", "success"},
			{"text/html", harness.HTMLPage},
			{"text/html", ""},
			{"", harness.HTMLPage},
			{"application/vnd.other+json", "{}"},
		} {
			step := harness.Respond(200, response.mediaType, response.body)
			var got result
			got.read(step(new(http.Request)))
			require.NotEqual(t, "result", file.form(file.operation(op.Name), &got), response.body)
			service := harness.NewScript(step)
			failure := harness.CallError(t, op.Call(t.Context(), service.Client(t)))
			require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome, "%s %q %q", op.Name, response.mediaType, response.body)
			require.ErrorAs(t, failure, new(*prepaid.DecodeError))
			require.NotContains(t, failure.Error(), "CANARY")
			want := 1
			if op.Name == "Accounts.SetPlasticEnabled" || op.Name == "Hooks.Delete" || op.Name == "Accounts.SetStatus" && op.Path == "" {
				want = 3
			}
			require.Len(t, service.Requests(), want, "%s: repeated as the class allows", op.Name)
			if want == 1 {
				require.NotContains(t, failure.Error(), "earlier attempt", "there was none")
			}
		}
	}
}

// A body beyond the limit does not count as empty.
func TestBodilessBeyondTheLimit(t *testing.T) {
	t.Parallel()
	config := harness.Config("https://cards.example")
	config.MaxResponseBytes = 16 << 10
	for _, begin := range []string{"", "{}", "null"} {
		config.Transport = harness.NewScript(harness.Respond(200, harness.VendorJSON, begin+strings.Repeat(" ", 16<<10)+`{"error":"server_error"}`))
		failure := harness.CallError(t, harness.OpActivate().Call(t.Context(), harness.NewClient(t, config)))
		require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome, begin)
	}
}

// creators are operations that are never repeated and whose response has a body to read.
func creators() []harness.Op { return []harness.Op{harness.OpCreate(), harness.OpStart()} }

// The description is optional, and no evidence: whatever its type, the code counts.
func TestRefusalWithAnyDescription(t *testing.T) {
	t.Parallel()
	for description, want := range map[string]string{`"amount"`: "amount", `["amount"]`: "", `{"amount":1}`: "", `null`: "", `7`: "7", `true`: ""} {
		config := harness.NewScript(harness.Respond(400, harness.VendorJSON, `{"error_description":`+description+`,"error":"invalid_request"}`)).Config()
		failure := harness.CallError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)))
		require.Equal(t, prepaid.OutcomeRejected, failure.Outcome, description)
		require.ErrorIs(t, failure, prepaid.CodeInvalidRequest)
		cause := harness.As[*prepaid.APIError](t, failure)
		require.Equal(t, want, cause.Description)
		err := harness.CallWith(t, 201, `{"error":"server_error","error_description":`+description+`}`, harness.OpCreate().Call)
		harness.RequireUndecodable(t, err, prepaid.OutcomeUnknown)
	}
}

// A framework in between writes the status in words where the service has a code.
func TestStatusInWordsIsNoCode(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]prepaid.Outcome{
		400: prepaid.OutcomeUnknown, 403: prepaid.OutcomeUnknown, 404: prepaid.OutcomeUnknown, 409: prepaid.OutcomeUnknown,
		401: prepaid.OutcomeNotProcessed,
	} {
		for _, op := range append(creators(), harness.OpTransfer(), harness.OpActivate()) {
			words := http.StatusText(status)
			for _, text := range []string{words, strings.ToUpper(words), strings.ReplaceAll(strings.ToLower(words), " ", "_"), "Access denied", "denied by rule"} {
				body := `{"timestamp":"2026-01-01T00:00:00Z","status":1,"error":"` + text + `","path":"/3.0"}`
				config := harness.NewScript(harness.Respond(status, "application/json", body)).Config()
				failure := harness.CallError(t, op.Call(t.Context(), harness.NewClient(t, config)))
				require.Equal(t, want, failure.Outcome, "%s %d: %v", op.Name, status, failure)
			}
		}
	}
}

// Some proxies and frameworks write a byte order mark before JSON.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for _, op := range append(harness.Ops(), harness.OpTransfer(), harness.OpRedeem()) {
		require.NoError(t, op.Call(t.Context(), harness.NewScript(harness.Respond(op.Status, op.MediaType, "\uFEFF"+op.Body)).Client(t)), op.Name)
	}
	for _, call := range []func(context.Context, *prepaid.Client) error{
		harness.OpRedeem().Call, harness.Calling("Accounts.ExchangeKey", "EA-1", harness.ValidExchangeKey()),
	} {
		err := harness.CallWith(t, 400, "\uFEFF"+`{"error":"invalid_request"}`, call)
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	}
}

// Only an approval has a transaction id: a decline with an id is contradictory.
func TestDeclineWithATransactionID(t *testing.T) {
	t.Parallel()
	for body, unknown := range map[string]bool{
		`{"outcome":"declined"}`: false, `{"outcome":"declined","transaction_id":null}`: false, `{"outcome":"declined","transaction_id":0}`: false,
		`{"outcome":"declined","transaction_id":71}`: true, `{"outcome":"declined","transaction_id":"71"}`: true,
		`{"outcome":"approved","transaction_id":71}`: false, `{"outcome":"approved","transaction_id":0}`: false, `{"outcome":"approved"}`: false,
	} {
		err := harness.CallWith(t, 200, body, harness.OpRedeem().Call)
		if unknown {
			harness.RequireUndecodable(t, harness.CallError(t, err), prepaid.OutcomeUnknown)
			require.ErrorContains(t, err, "is declined with a transaction ID")
		} else {
			require.NoError(t, err, body)
		}
	}
}
