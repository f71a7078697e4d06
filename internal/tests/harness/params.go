package harness

import "github.com/cardprograms/prepaid"

func ValidTransfer() prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: "r", Amount: prepaid.Cents(1), SourceReference: "s", DestinationReference: "d", DestinationAccountID: "to",
	}
}

func ValidDirectEntry() prepaid.DirectEntryOutParams {
	return prepaid.DirectEntryOutParams{
		RequestID: "r", Amount: prepaid.Cents(1), SourceReference: "s", DestinationReference: "d", BSB: "b",
		Destination: prepaid.BankAccount{BSB: "000000", AccountNumber: "1", AccountName: "n"},
	}
}

const UUID = "01234567-89ab-cdef-0123-456789abcdef"

func ValidExchangeKey() prepaid.ExchangeKeyParams {
	return prepaid.ExchangeKeyParams{ApplicationID: UUID, KeyID: UUID, EphemeralKey: prepaid.NewEphemeralKey()}
}
