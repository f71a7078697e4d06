package contract

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// readWith makes a call against one response.
func readWith[T any](t *testing.T, body string, call func(context.Context, *prepaid.Client) (T, error)) (result T, err error) {
	t.Helper()
	err = harness.CallWith(t, 200, body, func(ctx context.Context, c *prepaid.Client) error {
		result, err = call(ctx, c)
		return err
	})
	return result, err
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
