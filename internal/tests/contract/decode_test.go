package contract

import (
	"context"
	"fmt"
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

// Numbers and booleans may be in quotes, and numbers lose no digit. Date-times may lack zone, offset, fraction and time; empty and null are
// the zero time.
func TestDecodeValues(t *testing.T) {
	t.Parallel()
	for member, row := range map[string]struct {
		read func(*prepaid.Account) any
		good map[string]string
		bad  []string
	}{
		"company_id": {
			func(a *prepaid.Account) any { return a.CompanyID },
			map[string]string{`7`: "7", `"7"`: "7", `"7.00"`: "7", `1.2e3`: "1200", `-3`: "-3", `"9007199254740993"`: "9007199254740993", `9007199254740993.0`: "9007199254740993", `"007"`: "7"},
			[]string{`7.5`, `"CANARY"`, `""`, `" 7"`, `true`, `[7]`, `{"CANARY":7}`, `9223372036854775808`, `"0x7"`, `"7_0"`, `"Inf"`, `7.`},
		},
		"card_holder_type": {func(a *prepaid.Account) any { return a.CardholderType }, map[string]string{`0`: "0", `null`: "0", `"0"`: "0", `-0`: "0"}, nil},
		"balance": {
			func(a *prepaid.Account) any { return a.Balance },
			map[string]string{`12.5`: "12.50", `"12.5"`: "12.50", `1e2`: "100.00", `-0`: "0.00", `9007199254740993.01`: "9007199254740993.01"},
			[]string{`"CANARY"`, `true`, `1e300`, `[1]`, `0.12345678901234567890123456789`},
		},
		"is_plastic_enabled": {
			func(a *prepaid.Account) any { return a.PlasticEnabled },
			map[string]string{`true`: "true", `"True"`: "true", `false`: "false", `"FALSE"`: "false", `null`: "false"},
			[]string{`"CANARY"`, `""`, `"1"`, `1`, `0`, `[]`, `[true]`, `{"true":true}`},
		},
		"plastic_expiry": {
			func(a *prepaid.Account) any { return a.PlasticExpiry.Format(time.RFC3339Nano) },
			map[string]string{
				`"2026-11-05T01:02:03.5Z"`: "2026-11-05T01:02:03.5Z", `"2026-11-05T01:02:03"`: "2026-11-05T01:02:03Z", `"2026-11-05 11:02:03+10"`: "2026-11-05T01:02:03Z",
				`"2026-11-05"`: "2026-11-05T00:00:00Z", `""`: "0001-01-01T00:00:00Z", `null`: "0001-01-01T00:00:00Z",
			},
			[]string{`"CANARY"`, `"2026-13-05T01:02:03Z"`, `"05/11/2026"`, `1762304523`, `true`, `{}`, `[]`},
		},
	} {
		for text, want := range row.good {
			account, err := getWith(t, `"`+member+`":`+text)
			require.NoError(t, err, text)
			require.Equal(t, want, fmt.Sprint(row.read(account)), text)
		}
		for _, text := range row.bad {
			_, err := getWith(t, `"`+member+`":`+text)
			require.Error(t, err, text)
			harness.RequireUndecodable(t, err, prepaid.OutcomeApplied)
		}
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
			run, err := harness.NewClient(t, config).Reporting.Start(t.Context(), "daily", prepaid.RunReportParams{})
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
func exchangeKey(ctx context.Context, c *prepaid.Client) (*prepaid.RawResponse, error) {
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
