package prepaidtest

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/openapi"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// version is the SDK's version.
const version = "0.1.0"

// OpenAPI describes a server with these options: an OpenAPI 3.1 document in JSON, indented and always in the same order.
// Generate clients in other languages from this document; the reference remains the contract. Members named x-emulator
// describe the emulator's choices where the reference leaves a choice open.
//
// The code that checks parameters and bodies also describes them, and this project's tests compare all responses of the
// emulator with the document. The options that change the document are Vendor, WalletProviders, Signature, PingType,
// AlertType, BadTokenOnReportStart, NoCompanySearchPaging, CompanySearchObject, FailedTransfer,
// EmptyIDForFailedDirectEntry and CategoryWithoutMerchant. OpenAPI fails if an option is out of range.
func OpenAPI(options Options) ([]byte, error) {
	settings, err := newSettings(options)
	if err != nil {
		return nil, err
	}
	return settings.openAPI()
}

func (s settings) openAPI() ([]byte, error) {
	return openapi.Text(openapi.Options{
		Routes: service.New(s.service).Routes(), MediaType: s.form.MediaType, Version: version,
		Wallets:     slices.Concat([]string{s.service.Accounts.WalletWithCertificates}, s.service.Accounts.OtherWallets),
		BadOnReport: s.service.Tokens.BadOnReport, EmptyIDs: s.service.Transfers.EmptyDirectEntry, EmptyID: map[EmptyTransactionID]string{EmptyString: "string", EmptyNull: "null"}[EmptyTransactionID(s.service.Transfers.Failed)],
		NoPaging: s.service.Accounts.NoCompanyPaging, OneAccount: s.service.Accounts.CompanyObject,
		PingType: s.service.Hooks.PingType, AlertType: s.service.Hooks.AlertType,
		Signature: s.service.Hooks.Signature.Header, SignatureKey: s.service.Hooks.Signature.KeyIDHeader, EmptyCategory: s.service.NoCategory == "",
	})
}
