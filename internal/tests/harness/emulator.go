package harness

import (
	"github.com/cardprograms/prepaid"
)

const (
	TransferOperation = "POST /accounts/{id}/transfer"
)

// TransferTo returns params with every field set and their own request id.
func TransferTo(to prepaid.AccountID, amount string) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), DestinationAccountID: to,
		SourceReference: "PAYROLL 2026-11", DestinationReference: "SALARY", Type: prepaid.TransferTypeLoad, InitiatorUsername: "batch",
	}
}

const (
	ApplicationID = "6f1c9a52-9d0f-4b3c-8c5e-0d4a6f8f7b11"
	KeyID         = "0f9e8d7c-6b5a-4948-b7a6-958473625140"
)

// KeyExchange returns params with every field set and a key that was not used before.
func KeyExchange() prepaid.ExchangeKeyParams {
	return prepaid.ExchangeKeyParams{
		ApplicationID: ApplicationID, KeyID: KeyID, EphemeralKey: prepaid.NewEphemeralKey(),
	}
}
