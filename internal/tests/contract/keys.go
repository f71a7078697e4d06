package contract

import (
	"context"

	"github.com/cardprograms/prepaid"
)

func keyFixtures() []Case {
	key, _ := prepaid.EphemeralKeyFrom([]byte("canary-ephemeral-key-32-bytes-ok"))
	exchange := fixtureOf("Accounts.ExchangeKey", func(ctx context.Context, client *prepaid.Client) (*prepaid.KeyExchange, error) {
		return client.Accounts.ExchangeKey(ctx, fixtureID, prepaid.ExchangeKeyParams{
			ApplicationID: "0f9d2c1e-7b6a-4c5d-8e3f-2a1b0c9d8e7f", KeyID: "1a2b3c4d-5e6f-4a8b-9c0d-1e2f3a4b5c6d",
			EphemeralKey: key,
		})
	})
	return append(exchange.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		exchange.gives("200-bare", &prepaid.KeyExchange{Data: []byte("canary+exchange/data=="), MediaType: "application/octet-stream"}),
		exchange.gives("200-quoted", &prepaid.KeyExchange{Data: []byte(`"canary+exchange\/data=="`), MediaType: "application/octet-stream"}),
		exchange.refused("400-bad_application_id", prepaid.CodeBadApplicationID, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		exchange.refused("400-bad_key_id", prepaid.CodeBadKeyID, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		exchange.refused("400-bad_ephemeral_key", prepaid.CodeBadEphemeralKey, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		exchange.refused("400-bad_account", prepaid.CodeBadAccount, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
	)
}
