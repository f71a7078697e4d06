package contract

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// getWith reads an account with members and the required members.
func getWith(t *testing.T, members string) (account *prepaid.Account, err error) {
	t.Helper()
	for _, required := range []string{`"balance":1`, `"status":"active"`, `"account_id":"acc-1"`, `"company_id":7`} {
		if name, _, _ := strings.Cut(required, ":"); !strings.Contains(members, name+":") {
			members += "," + required
		}
	}
	err = harness.CallWith(t, 200, "{"+strings.TrimPrefix(members, ",")+"}", func(ctx context.Context, c *prepaid.Client) error {
		account, err = c.Accounts.Get(ctx, "acc-1")
		return err
	})
	return account, err
}

// Numbers may be bare or in quotes, and lose no digit.
func TestDecodeNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		`7`: 7, `"7"`: 7, `7.0`: 7, `"7.00"`: 7, `7e2`: 700, `1.2e3`: 1200, `-3`: -3,
		`9007199254740993`: 9007199254740993, `"9007199254740993"`: 9007199254740993, `9007199254740993.0`: 9007199254740993,
		`9223372036854775807`: 9223372036854775807, `-9223372036854775807`: -9223372036854775807, `1e16`: 1e16, `"007"`: 7,
	} {
		account, err := getWith(t, `"company_id":`+text)
		require.NoError(t, err, text)
		require.EqualValues(t, want, account.CompanyID, text)
	}
	for _, text := range []string{`0`, `null`, `"0"`, `-0`, `0.0`} {
		account, err := getWith(t, `"card_holder_type":`+text)
		require.NoError(t, err, text)
		require.Zero(t, account.CardholderType, text)
	}
	for _, text := range []string{
		`7.5`, `"CANARY"`, `""`, `" 7"`, `true`, `[7]`, `{"CANARY":7}`, `9223372036854775808`, `-9223372036854775808`, `1e300`, `"0x7"`, `"0x7p0"`, `"7_0"`, `"Inf"`, `7.`,
	} {
		_, err := getWith(t, `"company_id":`+text)
		require.Error(t, err, text)
		harness.RequireUndecodable(t, err, prepaid.OutcomeApplied)
	}
	for text, want := range map[string]string{
		`12.5`: "12.50", `"12.5"`: "12.50", `1e2`: "100.00", `-0`: "0.00", `9007199254740993.01`: "9007199254740993.01",
	} {
		account, err := getWith(t, `"balance":`+text)
		require.NoError(t, err, text)
		require.Equal(t, want, account.Balance.String(), text)
	}
	for _, text := range []string{`"CANARY"`, `true`, `1e300`, `[1]`, `0.12345678901234567890123456789`} {
		_, err := getWith(t, `"balance":`+text)
		require.Error(t, err, text)
		harness.RequireUndecodable(t, err, prepaid.OutcomeApplied)
	}
}

// Booleans may be in quotes.
func TestDecodeBooleans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`true`: true, `"true"`: true, `"True"`: true, `false`: false, `"false"`: false, `"FALSE"`: false, `null`: false} {
		account, err := getWith(t, `"is_plastic_enabled":`+text)
		require.NoError(t, err, text)
		require.Equal(t, want, account.PlasticEnabled, text)
	}
	for _, text := range []string{`"CANARY"`, `""`, `"1"`, `1`, `0`, `[]`, `[true]`, `{"true":true}`} {
		_, err := getWith(t, `"is_plastic_enabled":`+text)
		require.Error(t, err, text)
		harness.RequireUndecodable(t, err, prepaid.OutcomeApplied)
	}
}

// Date-times may lack zone, offset, fraction and time; empty and null are the zero time.
func TestDecodeTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 5, 1, 2, 3, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-11-05T01:02:03Z"`: at, `"2026-11-05T01:02:03.5Z"`: at.Add(time.Second / 2), `"2026-11-05T01:02:03"`: at, `"2026-11-05 11:02:03+10"`: at,
		`"2026-11-05"`: at.Truncate(24 * time.Hour), `""`: {}, `null`: {},
	} {
		account, err := getWith(t, `"plastic_expiry":`+text)
		require.NoError(t, err, text)
		require.Equal(t, want, account.PlasticExpiry, text)
	}
	for _, text := range []string{`"CANARY"`, `"2026-13-05T01:02:03Z"`, `"05/11/2026"`, `1762304523`, `true`, `{}`, `[]`} {
		_, err := getWith(t, `"plastic_expiry":`+text)
		require.Error(t, err, text)
		harness.RequireUndecodable(t, err, prepaid.OutcomeApplied)
	}
}

// A report id is a text, bare or in quotes.
func TestDecodeReportID(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"run-1": "run-1", `"run-1"`: "run-1", " run-1\r\n": "run-1", `"run 1"`: "run 1", "12": "12", `"\u0061"`: "a",
		``: "", ` `: "", `""`: "", `"run`: "", `"a/b"`: "a/b", `..`: "", `{"error":"x"}`: "", `["run-1"]`: "", "<html>": "", "a\nb": "a\nb",
	} {
		for _, mediaType := range []string{harness.OctetStream, harness.VendorJSON, "text/plain", ""} {
			config := harness.NewScript(harness.Respond(200, mediaType, body)).Config()
			run, err := harness.NewClient(t, config).Reporting.Start(t.Context(), "daily", prepaid.StartReportParams{})
			if want == "" {
				require.ErrorAs(t, err, new(*prepaid.DecodeError))
				require.Nil(t, run)
				continue
			}
			require.NoError(t, err, "%q", body)
			require.Equal(t, want, run.ID)
		}
	}
}

// The result of a call outlives the buffer it was read into.
func TestDecodedValuesOutliveTheirBuffer(t *testing.T) {
	t.Parallel()
	config := harness.Config("https://cards.example")
	name := strings.Repeat("n", 400)
	config.Transport = harness.NewScript(
		harness.Respond(200, harness.VendorJSON, `{"account_id":"acc-1","company_id":7,"balance":1,"status":"active","display_name":"`+name+`"}`),
		harness.Respond(200, harness.VendorJSON, `[{"id":"m-1","type":"transaction","amount":5,"note":"`+name+`"}]`),
		harness.Respond(200, harness.VendorJSON, `{"pin":"`+name+`"}`),
		harness.ServiceError(400, strings.Repeat("c", 400)),
		harness.Respond(200, harness.VendorJSON, `"`+strings.Repeat("x", 300)+`"`),
	)
	client := harness.NewClient(t, config)
	account, err := client.Accounts.Get(t.Context(), "acc-1")
	require.NoError(t, err)
	page, err := client.Hooks.UndeliverablePage(t.Context(), "hook-1", prepaid.Paging{})
	require.NoError(t, err)
	response, err := client.PIN.Initiate(t.Context(), prepaid.InitiatePINParams{
		AccountID: "acc-1", DeviceID: "d", IPAddress: "192.0.2.1", CommunicationMethod: "sms",
	})
	require.NoError(t, err)
	refusal := harness.OpPlastic().Call(t.Context(), client)
	for range 50 {
		require.Error(t, harness.OpGet().Call(t.Context(), client))
	}
	require.Equal(t, name, account.DisplayName)
	require.Contains(t, string(page.Items[0].Raw), name)
	require.Equal(t, `{"pin":"`+name+`"}`, string(response.Body))
	failure := harness.As[*prepaid.APIError](t, refusal)
	require.Contains(t, string(failure.Body), strings.Repeat("c", 400))
}

// exchangeKey makes an exchange with a new key.
func exchangeKey(ctx context.Context, c *prepaid.Client) (*prepaid.Response, error) {
	return c.Accounts.ExchangeKey(ctx, "acc-1", harness.ValidExchangeKey())
}

// Exchange data are bytes: all bytes arrive, whatever the media type is. The ephemeral key is used up by then.
func TestDecodeKeyExchange(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`"quoted"`, `"half`, `null`, `{}`, `{"error":"server_error"}`, `[1]`, "<data>", " \t\r\n", "\ufeffx", "a\r\n", "\x00\xff\xfe", "eyJhbGciOiJkaXIifQ..a.b.c",
	}
	for _, header := range []string{
		harness.OctetStream, harness.VendorJSON, "application/jose", "Application/JOSE; charset=utf-8", "text/plain", "", "image/png", "not a type",
	} {
		steps := make([]harness.Step, len(bodies))
		for i, body := range bodies {
			steps[i] = harness.Respond(http.StatusOK, header, body)
		}
		client := harness.NewScript(steps...).Client(t)
		for _, body := range bodies {
			exchange, err := exchangeKey(t.Context(), client)
			require.NoError(t, err, "%s %q", header, body)
			require.Equal(t, body, string(exchange.Body))
			require.Equal(t, header, exchange.Header.Get("Content-Type"))
		}
	}
	for header, body := range map[string]string{harness.OctetStream: "", "text/html; charset=utf-8": "CANARY", "application/xhtml+xml": "CANARY"} {
		exchange, err := exchangeKey(t.Context(), harness.NewScript(harness.Respond(http.StatusOK, header, body)).Client(t))
		require.Nil(t, exchange)
		require.Equal(t, header == harness.OctetStream, harness.CallError(t, err).Outcome == prepaid.OutcomeApplied)
		require.Equal(t, header != harness.OctetStream, harness.CallError(t, err).Outcome == prepaid.OutcomeUnknown, "a page proves nothing")
		require.NotContains(t, err.Error(), "CANARY")
	}
}
