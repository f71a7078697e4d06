package harness

import (
	"strings"

	"github.com/cardprograms/prepaid"
)

func ValidHook() prepaid.CreateHookParams {
	return prepaid.CreateHookParams{
		URI: "https://hooks.example/", Scope: []prepaid.CompanyID{7}, FilterSpec: prepaid.FilterAll, ReliabilityMode: prepaid.ReliabilityModeNone,
		HMACKeyID: "k", HMACKeySecret: prepaid.NewSecret(strings.Repeat("0f", 32)),
	}
}

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

func ValidRedeem() prepaid.RedeemFundingParams {
	return prepaid.RedeemFundingParams{
		Amount: prepaid.Cents(1), AccountID: "eaid", Exception: prepaid.FundingExceptionNone, MerchantNameLocation: "m", Currency: "036",
		OriginatingTransaction: 1, CardAcceptorID: "c", CorrelationID: "x", MerchantCategoryCode: "5411", TerminalID: "t", AcquirerID: "a",
	}
}

func ValidRefund() prepaid.RefundFundingParams {
	return prepaid.RefundFundingParams{
		Amount: prepaid.Cents(1), AccountID: "eaid", MerchantNameLocation: "m", Currency: "036", CardAcceptorID: "c",
		OriginatingTransaction: 1, CorrelationID: "x", MerchantCategoryCode: "5411", TerminalID: "t", AcquirerID: "a",
	}
}

func ValidReverse() prepaid.ReverseFundingParams {
	return prepaid.ReverseFundingParams{AccountID: "eaid", OriginatingTransaction: 1, CorrelationID: "x", ParentTransactionID: "1"}
}

const UUID = "01234567-89ab-cdef-0123-456789abcdef"

func ValidExchangeKey() prepaid.ExchangeKeyParams {
	return prepaid.ExchangeKeyParams{ApplicationID: UUID, KeyID: UUID, EphemeralKey: prepaid.NewEphemeralKey()}
}
