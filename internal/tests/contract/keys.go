package contract

import (
	"context"
	"net/http"

	"github.com/cardprograms/prepaid"
)

func keyFixtures() []Case {
	key, _ := prepaid.EphemeralKeyFrom([]byte("canary-ephemeral-key-32-bytes-ok"))
	exchange := fixtureOf("Accounts.ExchangeKey", func(ctx context.Context, client *prepaid.Client) (*prepaid.Response, error) {
		return typed(client.Accounts.ExchangeKey(ctx, fixtureID, prepaid.ExchangeKeyParams{
			ApplicationID: "0f9d2c1e-7b6a-4c5d-8e3f-2a1b0c9d8e7f", KeyID: "1a2b3c4d-5e6f-4a8b-9c0d-1e2f3a4b5c6d",
			EphemeralKey: key,
		}))
	})
	octets := http.Header{"Content-Type": {"application/octet-stream"}}
	return append(exchange.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		exchange.gives("200-bare", &prepaid.Response{StatusCode: 200, Header: octets, Body: []byte("canary+exchange/data==")}),
		exchange.gives("200-quoted", &prepaid.Response{StatusCode: 200, Header: octets, Body: []byte(`"canary+exchange\/data=="`)}),
		exchange.refused("400-bad_application_id", prepaid.CodeBadApplicationID, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		exchange.refused("400-bad_key_id", prepaid.CodeBadKeyID, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		exchange.refused("400-bad_ephemeral_key", prepaid.CodeBadEphemeralKey, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		exchange.refused("400-bad_account", prepaid.CodeBadAccount, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
	)
}

// typed keeps only the media type of the header.
func typed(response *prepaid.Response, err error) (*prepaid.Response, error) {
	if err == nil {
		response.Header = http.Header{"Content-Type": response.Header.Values("Content-Type")}
	}
	return response, err
}
