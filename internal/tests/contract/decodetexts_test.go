package contract

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// A number in place of a text is read as its written text, and a text as a number: no value is lost, and no page.
// Codes are padded to four digits.
func TestDecodeNumbersAsTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`7`: "7", `0`: "0", `-7`: "-7", `12.0`: "12.0", `1.5e3`: "1.5e3", `12345678901234567890`: "12345678901234567890", `1e400`: "1e400",
	} {
		account, err := getWith(t, `"account_id":`+text+`,"client_id":`+text+`,"free_text":{"free_dec1":`+text+`},"personal":{"mobile_number":`+text+
			`,"primary_address":{"postcode":`+text+`}},"status":`+text)
		require.NoError(t, err, text)
		require.Equal(t, []string{want, want, want, want, want, want}, []string{
			string(account.ID), account.ProgramClientID, account.FreeText.Dec1, account.Cardholder.MobileNumber,
			account.Cardholder.PrimaryAddress.Postcode, string(account.Status),
		})
	}
	for _, text := range []string{`true`, `false`, `[7]`, `{"CANARY":7}`, `07`, `7.`, `+7`, `NaN`} {
		_, err := getWith(t, `"client_id":`+text)
		require.Error(t, err, text)
		harness.RequireUndecodable(t, err, prepaid.OutcomeApplied)
	}

	const row = `{"id":17,"parent_id":"16","account_id":5,"type":1118,"type_description":3,"amount":"-5.00","amount_currency":36,` +
		`"fee_amount":"0.10","running_balance_amount":"1","occurred_at":"2026-11-05T01:02:03Z","card_acceptor_id":1,"terminal_id":2,` +
		`"acquirer_id":12,"merchant_category_code":742,"reference":99}`
	const short = `{"id":"18","type":7,"amount":1,"running_balance_amount":2,"occurred_at":"2026-11-05T01:02:04Z","merchant_category_code":"7"}`
	whole := prepaid.Transaction{
		ID: "17", ParentID: "16", AccountID: "5", Type: "1118", TypeDescription: "3", Amount: prepaid.MustAmount("-5"),
		AmountCurrency: "36", FeeAmount: prepaid.MustAmount("0.1"), RunningBalance: prepaid.MustAmount("1"),
		OccurredAt:     time.Date(2026, 11, 5, 1, 2, 3, 0, time.UTC),
		CardAcceptorID: "1", TerminalID: "2", AcquirerID: "12", MerchantCategoryCode: "0742", Reference: "99",
	}
	filled := prepaid.Transaction{
		ID: "18", Type: "0007", Amount: prepaid.MustAmount("1"), RunningBalance: prepaid.MustAmount("2"),
		OccurredAt: time.Date(2026, 11, 5, 1, 2, 4, 0, time.UTC), MerchantCategoryCode: "0007",
	}
	for _, body := range []string{"[" + row + "," + short + "]", "[" + row + `,{"\u0069d":18,` + short[len(`{"id":"18",`):] + "]"} { // the latter on the slow path
		require.NoError(t, harness.CallWith(t, 200, body, func(ctx context.Context, c *prepaid.Client) error {
			page, err := c.Accounts.TransactionsPage(ctx, "5", prepaid.ListTransactionsParams{})
			if err == nil {
				require.Equal(t, []prepaid.Transaction{whole, filled}, page.Items)
			}
			return err
		}))
	}

	hook, err := readWith(t, `{"id":7,"uri":"https://a.example","scope":["42",7.0],"filter_spec":1,"hmac_key_id":12}`,
		func(ctx context.Context, c *prepaid.Client) (*prepaid.Hook, error) { return c.Hooks.Get(ctx, "7") })
	require.NoError(t, err)
	require.Equal(t, &prepaid.Hook{
		ID: "7", URI: "https://a.example", Scope: []prepaid.CompanyID{42, 7}, FilterSpec: "1", HMACKeyID: "12",
	}, hook)
	tokens, err := readWith(t, `[{"token_unique_reference":1,"current_status_code":"active","token_requestor_id":50110030273,"suspenders":[1,"b"],`+
		`"device":{"device_id":5,"device_name":6}}]`,
		func(ctx context.Context, c *prepaid.Client) ([]prepaid.WalletToken, error) {
			return c.Accounts.WalletTokens(ctx, "acc-1")
		})
	require.NoError(t, err)
	require.Equal(t, []prepaid.WalletToken{{
		TokenUniqueReference: "1", Status: "active", TokenRequestorID: "50110030273", Suspenders: []string{"1", "b"},
		Device: prepaid.WalletDevice{ID: "5", Name: "6"},
	}}, tokens)
	policy, err := readWith(t, `{"default_action":"allow","terminals":[{"id":"3","acquirer_id":"12","card_acceptor_id":4,"terminal_id":5}]}`,
		func(ctx context.Context, c *prepaid.Client) (*prepaid.Policy, error) { return c.Policy.Get(ctx, 42) })
	require.NoError(t, err)
	require.Equal(t, []prepaid.TerminalRule{{ID: 3, AcquirerID: 12, CardAcceptorID: "4", TerminalID: "5"}}, policy.Terminals)
	var message prepaid.Message
	require.NoError(t, message.UnmarshalJSON([]byte(`{"id":7,"hook_id":8,"type":"transaction"}`)))
	require.EqualValues(t, "7", message.ID)
	require.EqualValues(t, "8", message.HookID)
}

// readWith makes a call against one response.
func readWith[T any](t *testing.T, body string, call func(context.Context, *prepaid.Client) (T, error)) (result T, err error) {
	t.Helper()
	err = harness.CallWith(t, 200, body, func(ctx context.Context, c *prepaid.Client) error {
		result, err = call(ctx, c)
		return err
	})
	return result, err
}

// A caller's struct is read as tolerantly; absent members are zero.
func TestDecodeIntoCallersStruct(t *testing.T) {
	t.Parallel()
	var message prepaid.Message
	require.NoError(t, message.UnmarshalJSON([]byte(`{"id":"m","amount":"5","type":1118,"code":742,"balance":null}`)))
	var own struct {
		prepaid.Transaction
		Code    prepaid.MCC    `json:"code"`
		Balance prepaid.Amount `json:"balance"`
	}
	require.NoError(t, message.Decode(&own))
	require.Equal(t, prepaid.Transaction{ID: "m", Amount: prepaid.MustAmount("5"), Type: "1118"}, own.Transaction)
	require.Equal(t, prepaid.MCC("0742"), own.Code)
	require.Equal(t, prepaid.Amount{}, own.Balance)
	var whole map[string]any
	require.NoError(t, message.Decode(&whole))
	require.Equal(t, map[string]any{"id": "m", "amount": "5", "type": 1118.0, "code": 742.0, "balance": nil}, whole)
}

// If one item of a list lacks a required member, no item is returned.
func TestDecodeWalletTokensWhole(t *testing.T) {
	t.Parallel()
	const good = `{"token_unique_reference":"1","current_status_code":"active"}`
	for _, second := range []string{`{}`, `null`, `{"token_unique_reference":"2"}`, `{"current_status_code":"active"}`, `{"token_unique_reference":[2]}`, `7`} {
		tokens, err := readWith(t, "["+good+","+second+"]",
			func(ctx context.Context, c *prepaid.Client) ([]prepaid.WalletToken, error) {
				return c.Accounts.WalletTokens(ctx, "acc-1")
			})
		require.Error(t, err, second)
		harness.RequireUndecodable(t, err, prepaid.OutcomeApplied)
		require.Nil(t, tokens)
	}
}

func exchangeKey(ctx context.Context, c *prepaid.Client) (*prepaid.Response, error) {
	return c.Accounts.ExchangeKey(ctx, "acc-1", harness.KeyExchange())
}

// Exchange data are bytes: all bytes arrive, whatever the media type is. The ephemeral key is used up by then.
func TestDecodeKeyExchange(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`"quoted"`, `"half`, `null`, `{}`, `{"error":"server_error"}`, `[1]`, "<data>", " \t\r\n", "\ufeffx", "a\r\n", "eyJhbGciOiJkaXIifQ..a.b.c",
	}
	for b := range 256 {
		bodies = append(bodies, string([]byte{byte(b)}), string([]byte{byte(b), 0xff, byte(255 - b), byte(b)}), string([]byte{' ', byte(b), '\n'}))
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
