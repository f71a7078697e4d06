package contract

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// shownFields are the texts that may be seen in print, each with its reason. Nothing in them is a secret or says who
// a cardholder is.
var shownFields = sync.OnceValue(func() map[string]string {
	shown := map[string]string{}
	for reason, fields := range map[string]string{
		"identifies an account, program or movement: what a log is searched by": `
			Account.ID Account.ExternalAccountID Account.ClientAccountKey Account.ProgramClientID Account.CorrespondingAccountID
			Account.MDESConfigID AccountSummary.ExternalAccountID CallError.AccountID CallError.RequestID CallError.CorrelationID
			CreateAccountParams.ClientAccountKey CreateAccountParams.CorrespondingAccountID CreateAccountParams.AccountIDToReplace
			CreateAccountParams.MDESConfigID UpdateAccountParams.ClientAccountKey
			FindCreatedParams.ClientAccountKey FindCreatedParams.ExternalAccountID FindCreatedParams.ProgramClientID
			IssueParams.ProgramClientID SearchAccountsParams.ClientAccountKey SearchAccountsParams.ProgramClientID
			SearchCompanyParams.ProgramClientID SearchCompanyParams.ProgramID InitiatePINParams.AccountID FindMovementParams.AccountID FindMovementParams.Exclude
			PortalIdentifier.ClientID PortalIdentifier.ProgramID PortalIdentifier.CardholderID
			FundingResult.TransactionID TransferResult.TransactionID TransferResult.CorrelationID TransferResult.RequestID
			TransferParams.RequestID TransferParams.DestinationAccountID DirectEntryOutParams.RequestID
			RedeemFundingParams.AccountID RedeemFundingParams.CorrelationID RefundFundingParams.AccountID RefundFundingParams.CorrelationID
			RefundFundingParams.ParentTransactionID ReverseFundingParams.AccountID ReverseFundingParams.CorrelationID
			ReverseFundingParams.ParentTransactionID SimulateParams.AccountID SimulateParams.AuthorizationID
			SimulationResult.AuthorizationID SimulationResult.TransactionReference Transaction.ID Transaction.ParentID
			Transaction.AccountID SealedPINParams.OperationID ReportRun.ID ReportRun.Template`,
		"a word of a fixed list, a code or a currency": `
			Account.AccountType Account.ProductType Account.Status AccountSummary.ProductType AccountSummary.Status
			APIError.Code Config.RefusalCodes Config.MediaTypes CreateAccountParams.RequestType CreateHookParams.ReliabilityMode Hook.ReliabilityMode UpdateHookParams.ReliabilityMode
			CreateHookParams.FilterSpec Hook.FilterSpec UpdateHookParams.FilterSpec FundingResult.Outcome RedeemFundingParams.Exception
			RedeemFundingParams.Currency RefundFundingParams.Currency InitiatePINParams.CommunicationMethod Message.Type
			FindMovementParams.Types EnsureRulesParams.DefaultAction
			Policy.DefaultAction Restrictions.Type RestrictionCategoryRule.RuleType RestrictionTerminalRule.RuleType
			SearchAccountsParams.Include SearchCompanyParams.Include SearchCompanyParams.Status SetStatusParams.Status SimulateParams.Type SimulateParams.CurrencyCode
			Transaction.Type Transaction.TypeDescription Transaction.AmountCurrency Transaction.FeeAmountCurrency
			Transaction.RunningBalanceCurrency WalletProvisioning.ProductType WalletProvisioning.Provider PINKeyOptions.Hash
			PINKeyOptions.MGF1Hash`,
		"says which staff member or system asked": `
			CreateAccountParams.InitiatingUserID UpdateAccountParams.InitiatingUserID SetPlasticEnabledParams.InitiatingUserID
			DirectEntryOutParams.InitiatingUserID ProvisionWalletParams.InitiatingUserID TransferParams.InitiatorUsername`,
		"a bank's branch or biller, not an account": `
			Account.BPayBillerCode Account.DirectEntryBSB BankAccount.BSB DirectEntryOutParams.BSB`,
		"the payer's own bookkeeping text, on both statements": `
			TransferParams.SourceReference TransferParams.DestinationReference DirectEntryOutParams.SourceReference
			DirectEntryOutParams.DestinationReference FindMovementParams.Reference Transaction.Reference`,
		"a merchant, terminal or acquirer, and the operator's words about them": `
			CategoryRule.MerchantCategoryCode ChangeRulesParams.Add ChangeRulesParams.Remove ChangeRulesParams.Reason
			EnsureRulesParams.Rules EnsureRulesParams.Reason MerchantCategory.Code MerchantCategory.Description
			MerchantRule.CardAcceptorID MerchantRule.Description TerminalRule.CardAcceptorID TerminalRule.TerminalID TerminalRule.CardAcceptorNameLocation
			TerminalRule.Description Policy.Description RestrictionCategoryRule.CategoryCode RestrictionTerminalRule.Acceptor
			RestrictionTerminalRule.Acquirer RestrictionTerminalRule.Terminal FindMovementParams.CardAcceptorID FindMovementParams.TerminalID
			RedeemFundingParams.AcquirerID RedeemFundingParams.CardAcceptorID RedeemFundingParams.MerchantCategoryCode
			RedeemFundingParams.MerchantNameLocation RedeemFundingParams.TerminalID RefundFundingParams.AcquirerID
			RefundFundingParams.CardAcceptorID RefundFundingParams.MerchantCategoryCode RefundFundingParams.MerchantNameLocation
			RefundFundingParams.TerminalID Transaction.CardAcceptorID Transaction.TerminalID Transaction.AcquirerID
			Transaction.MerchantCategoryCode
			EnsuredRules.Added EnsuredRules.Left EnsuredRules.Missing EnsuredRules.Removed EnsuredRules.Replaced EnsuredRules.Unchanged`,
		"synthetic, in the test environment": `
			SimulateParams.AcquirerID SimulateParams.BankName SimulateParams.Location SimulateParams.LocationCode
			SimulateParams.MerchantCategoryCode SimulateParams.MerchantID SimulateParams.TerminalID SimulationResult.Message`,
		"the caller's own set-up": `
			Config.BaseURL Config.UserAgent Config.Vendor Config.ClientID CheckResult.MediaType
			CreateHookParams.HMACKeyID Hook.ID Hook.HMACKeyID Hook.LastUndeliverable
			UpdateHookParams.HMACKeyID Message.ID Message.HookID ExchangeKeyParams.ApplicationID
			ExchangeKeyParams.KeyID`,
		"a device or token, not a person or card": `
			InitiatePINParams.DeviceID SealedPINParams.DeviceID WalletDevice.SecureElementID WalletDevice.Type
			ProvisionWalletParams.TokenUniqueReference
			WalletToken.CorrelationID WalletToken.ExpirationDate WalletToken.FinalTokenizationDecision WalletToken.LastCommentID
			WalletToken.PANSequenceNumber WalletToken.PaymentAppInstanceID WalletToken.PrimaryAccountNumberUniqueReference
			WalletToken.ProvisioningStatus WalletToken.ProvisioningStatusDescription WalletToken.Status WalletToken.StatusDescription
			WalletToken.StorageTechnology WalletToken.Suspenders WalletToken.TokenAssuranceLevel WalletToken.TokenRequestorID
			WalletToken.TokenRequestorName WalletToken.TokenSuffix WalletToken.TokenUniqueReference WalletToken.Type WalletToken.WalletID`,
		"encrypted for the operator": `
			PINEnvelope.EncryptedData PINEnvelope.EncryptedKey PINEnvelope.IV PINEnvelope.OAEPHashingAlgorithm
			PINEnvelope.PublicKeyFingerprint`,
		"the client's own words": `
			CallError.Operation CheckResult.Warnings DecodeError.MediaType Fault.Field Fault.Rule Operation.Method Operation.Name Operation.Path
			TransportError.Step`,
		"a template, without values": "RawRequest.Method RawRequest.Path",
	} {
		for field := range strings.FieldsSeq(fields) {
			shown[strings.ToLower(field)] = reason
		}
	}
	return shown
})

// Each entry of the list is still a field, and can be seen.
func TestCanaryShownFieldsAreUpToDate(t *testing.T) {
	t.Parallel()
	fields, seen := map[string]bool{}, map[string]bool{}
	for _, sample := range canaryTypes(t) {
		maps.Copy(fields, sample.fields)
		for _, verb := range []string{"%+v", "%#v"} {
			for _, name := range canariesIn(fmt.Sprintf(verb, sample.values["value"]) + fmt.Sprintf(verb, sample.values["pointer"])) {
				seen[name] = true
			}
		}
	}
	for field := range shownFields() {
		require.True(t, fields[field], "%s is no field", field)
		require.True(t, seen[field] || field == "apierror.code", "%s is not shown", field)
	}
}

// canaryReader has read a part of a report, so that its buffers hold data.
func canaryReader(t *testing.T) *prepaid.ReportReader {
	t.Helper()
	client := harness.ServiceClient(t, harness.Split{
		Tokens: harness.NewScript(harness.Grant(1, "3600")),
		Calls:  harness.NewScript(harness.Respond(http.StatusOK, harness.VendorJSON, `{"reportdata":"`+canaryOf("Report", "Data")+`\n`+strings.Repeat(`row\n`, 9)+`","totalrecords":10}`)),
	})
	reader, err := client.Reporting.Open(t.Context(), prepaid.ReportRun{Template: "t", ID: "1"}, prepaid.WaitOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	_, err = reader.Read(make([]byte, 40))
	require.NoError(t, err)
	return reader
}
