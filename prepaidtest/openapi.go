package prepaidtest

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/openapi"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// version is the SDK's version.
const version = "0.1.0"

// OpenAPI returns the service as a server with these options understands it: an OpenAPI 3.1 document in JSON, indented and
// always in the same order. Clients in other languages can be generated from it; the reference stays the contract. Choices
// that the reference leaves to the emulator are in members named x-emulator.
//
// Parameters and bodies are described by the code that checks them, and all responses of the emulator in this project's tests
// are compared with the document. The options that change it are Vendor, WalletProviders, WithSignature, MessageTypes,
// BadTokenOnReportStart, NoCompanySearchPaging, CompanySearchObject, FailedTransfer, EmptyIDForFailedDirectEntry and
// CategoryWithoutMerchant. It fails when an option is out of its range.
func OpenAPI(options ...Option) ([]byte, error) {
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
