package contract

import (
	"context"
	"strings"

	"github.com/cardprograms/prepaid"
)

func pinFixtures() []Case {
	initiate := fixtureOf("PIN.Initiate", func(ctx context.Context, client *prepaid.Client) (*prepaid.Response, error) {
		return compactPIN(client.PIN.Initiate(ctx, prepaid.InitiatePINParams{
			AccountID: fixtureID, DeviceID: "device-91", IPAddress: "192.0.2.17", CommunicationMethod: "sms",
		}))
	})
	sealed := func(hash prepaid.PINHash) prepaid.SealedPINParams {
		return prepaid.SealedPINParams{
			OperationID: "3b9aca00-5f6e-4d7c-8b9a-0c1d2e3f4a5b", DeviceID: "device-91", IPAddress: "192.0.2.17",
			Envelope: &prepaid.PINEnvelope{
				EncryptedData: strings.Repeat("0f", 32), PublicKeyFingerprint: strings.Repeat("ab", 32),
				EncryptedKey: strings.Repeat("5c", 256), OAEPHashingAlgorithm: hash, IV: "00112233445566778899aabbccddeeff",
			},
		}
	}
	validate := fixtureOf("PIN.Validate", func(ctx context.Context, client *prepaid.Client) (*prepaid.Response, error) {
		return compactPIN(client.PIN.Validate(ctx, sealed(prepaid.PINHashSHA256)))
	})
	execute := fixtureOf("PIN.Execute", func(ctx context.Context, client *prepaid.Client) (*prepaid.Response, error) {
		return compactPIN(client.PIN.Execute(ctx, sealed(prepaid.PINHashSHA512)))
	})
	return concat(
		initiate.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		validate.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		execute.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		[]Case{
			initiate.gives("200", &prepaid.Response{StatusCode: 200, Body: []byte(`{"operation_id":"3b9aca00-5f6e-4d7c-8b9a-0c1d2e3f4a5b"}`)}),
			validate.gives("200", &prepaid.Response{StatusCode: 200, Body: []byte(`{"valid":true}`)}),
			execute.gives("204", &prepaid.Response{StatusCode: 204, Body: []byte{}}),
		},
	)
}

func compactPIN(response *prepaid.Response, err error) (*prepaid.Response, error) {
	if err == nil {
		response.Header, response.Body = nil, compacted(response.Body)
	}
	return response, err
}
