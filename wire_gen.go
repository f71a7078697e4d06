// Code generated from struct tags by tools/wiregen. DO NOT EDIT.

package prepaid

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/internal/wire"
)

func (v *Account) readWire(r *wire.Reader) {
	found := uint(0)
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "account_id":
			found |= r.Required(1 << 0)
			wire.Text((*string)(&v.ID), r)
		case "external_account_id":
			wire.Text(&v.ExternalAccountID, r)
		case "company_id":
			found |= r.Required(1 << 1)
			wire.Integer(&v.CompanyID, r)
		case "balance":
			found |= r.Required(1 << 2)
			v.Balance.readWire(r)
		case "card_number":
			wire.Text(&v.CardNumber, r)
		case "plastic_expiry":
			wire.Time(&v.PlasticExpiry, r)
		case "account_expiry":
			wire.Time(&v.AccountExpiry, r)
		case "product_type":
			wire.Text((*string)(&v.ProductType), r)
		case "status":
			found |= r.Required(1 << 3)
			wire.Text((*string)(&v.Status), r)
		case "is_plastic_enabled":
			wire.Bool(&v.PlasticEnabled, r)
		case "account_type":
			wire.Text((*string)(&v.AccountType), r)
		case "first_transaction_occurred_at":
			wire.Time(&v.FirstTransactionOccurredAt, r)
		case "last_transaction_occurred_at":
			wire.Time(&v.LastTransactionOccurredAt, r)
		case "display_name":
			wire.Text(&v.DisplayName, r)
		case "name_on_card":
			wire.Text(&v.NameOnCard, r)
		case "is_compliant":
			wire.Optional(&v.Compliant, r, wire.Bool)
		case "client_id":
			wire.Text(&v.ProgramClientID, r)
		case "client_account_key":
			wire.Text(&v.ClientAccountKey, r)
		case "bpay_biller_code":
			wire.Text(&v.BPayBillerCode, r)
		case "bpay_reference_number":
			wire.Text(&v.BPayReferenceNumber, r)
		case "direct_entry_bsb":
			wire.Text(&v.DirectEntryBSB, r)
		case "direct_entry_account_number":
			wire.Text(&v.DirectEntryAccountNumber, r)
		case "personal":
			wire.Optional(&v.Cardholder, r, (*Cardholder).readWire)
		case "free_text":
			wire.Optional(&v.FreeText, r, (*FreeText).readWire)
		case "portal_identifier":
			wire.Optional(&v.PortalIdentifier, r, (*PortalIdentifier).readWire)
		case "mdes_config_id":
			wire.Text(&v.MDESConfigID, r)
		case "corresponding_account_id":
			wire.Text((*string)(&v.CorrespondingAccountID), r)
		case "card_holder_type":
			wire.Integer(&v.CardholderType, r)
		}
	}
	if found != 1<<4-1 {
		r.Fallback()
	}
}

func (v *AccountSummary) readWire(r *wire.Reader) {
	found := uint(0)
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "external_account_id":
			wire.Text(&v.ExternalAccountID, r)
		case "company_id":
			wire.Integer(&v.CompanyID, r)
		case "balance":
			found |= r.Required(1 << 0)
			v.Balance.readWire(r)
		case "card_number":
			wire.Text(&v.CardNumber, r)
		case "plastic_expiry":
			wire.Time(&v.PlasticExpiry, r)
		case "product_type":
			wire.Text((*string)(&v.ProductType), r)
		case "status":
			found |= r.Required(1 << 1)
			wire.Text((*string)(&v.Status), r)
		case "is_plastic_enabled":
			wire.Bool(&v.PlasticEnabled, r)
		case "first_transaction_occurred_at":
			wire.Time(&v.FirstTransactionOccurredAt, r)
		case "last_transaction_occurred_at":
			wire.Time(&v.LastTransactionOccurredAt, r)
		}
	}
	if found != 1<<2-1 {
		r.Fallback()
	}
}

func (v *Transaction) readWire(r *wire.Reader) {
	found := uint(0)
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "id":
			found |= r.Required(1 << 0)
			v.ID.readWire(r)
		case "parent_id":
			v.ParentID.readWire(r)
		case "account_id":
			wire.Text((*string)(&v.AccountID), r)
		case "type":
			v.Type.readWire(r)
		case "type_description":
			wire.Text(&v.TypeDescription, r)
		case "amount":
			found |= r.Required(1 << 1)
			v.Amount.readWire(r)
		case "amount_currency":
			wire.Text(&v.AmountCurrency, r)
		case "fee_amount":
			v.FeeAmount.readWire(r)
		case "fee_amount_currency":
			wire.Text(&v.FeeAmountCurrency, r)
		case "running_balance_amount":
			found |= r.Required(1 << 2)
			v.RunningBalance.readWire(r)
		case "running_balance_amount_currency":
			wire.Text(&v.RunningBalanceCurrency, r)
		case "occurred_at":
			found |= r.Required(1 << 3)
			wire.Time(&v.OccurredAt, r)
		case "card_acceptor_id":
			wire.Text(&v.CardAcceptorID, r)
		case "terminal_id":
			wire.Text(&v.TerminalID, r)
		case "acquirer_id":
			wire.Text(&v.AcquirerID, r)
		case "merchant_category_code":
			v.MerchantCategoryCode.readWire(r)
		case "reference":
			wire.Text(&v.Reference, r)
		}
	}
	if found != 1<<4-1 || v.OccurredAt.IsZero() {
		r.Fallback()
	}
}

func (v *transferResponse) readWire(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "transaction_id":
			v.TransactionID.readWire(r)
		case "correlation_id":
			v.CorrelationID.readWire(r)
		}
	}
}

func (v *MerchantCategory) readWire(r *wire.Reader) {
	found := uint(0)
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "code":
			found |= r.Required(1 << 0)
			v.Code.readWire(r)
		case "description":
			wire.Text(&v.Description, r)
		}
	}
	if found != 1<<1-1 {
		r.Fallback()
	}
}

func (v *Cardholder) readWire(r *wire.Reader) { r.Record(v, v.readMembers, retain) }

func (v *Cardholder) readMembers(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "title":
			wire.Text(&v.Title, r)
		case "first_name":
			wire.Text(&v.FirstName, r)
		case "middle_name":
			wire.Text(&v.MiddleName, r)
		case "last_name":
			wire.Text(&v.LastName, r)
		case "primary_address":
			wire.Struct(&v.PrimaryAddress, r, (*Address).readWire)
		case "alternate_address":
			wire.Optional(&v.AlternateAddress, r, (*AlternateAddress).readWire)
		case "sex":
			wire.Text((*string)(&v.Sex), r)
		case "mobile_number":
			wire.Text(&v.MobileNumber, r)
		case "phone_number":
			wire.Text(&v.PhoneNumber, r)
		case "date_of_birth":
			v.DateOfBirth.readWire(r)
		case "email_address":
			wire.Text(&v.EmailAddress, r)
		case "driver_licence_number":
			wire.Text(&v.DriverLicenceNumber, r)
		case "passport":
			wire.Optional(&v.Passport, r, (*Passport).readWire)
		}
	}
}

func (v *FreeText) readWire(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "free_text1":
			wire.Text(&v.Text1, r)
		case "free_text2":
			wire.Text(&v.Text2, r)
		case "free_text3":
			wire.Text(&v.Text3, r)
		case "free_text4":
			wire.Text(&v.Text4, r)
		case "free_text5":
			wire.Text(&v.Text5, r)
		case "free_text6":
			wire.Text(&v.Text6, r)
		case "free_text7":
			wire.Text(&v.Text7, r)
		case "free_text8":
			wire.Text(&v.Text8, r)
		case "free_int1":
			wire.Text(&v.Int1, r)
		case "free_int2":
			wire.Text(&v.Int2, r)
		case "free_dec1":
			wire.Text(&v.Dec1, r)
		case "free_dec2":
			wire.Text(&v.Dec2, r)
		}
	}
}

func (v *PortalIdentifier) readWire(r *wire.Reader) { r.Record(v, v.readMembers, retain) }

func (v *PortalIdentifier) readMembers(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "client_id":
			wire.Text(&v.ClientID, r)
		case "program_id":
			wire.Text(&v.ProgramID, r)
		case "cardholder_id":
			wire.Text(&v.CardholderID, r)
		}
	}
}

func (v *Address) readWire(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "address_line1":
			wire.Text(&v.Line1, r)
		case "address_line2":
			wire.Text(&v.Line2, r)
		case "address_line3":
			wire.Text(&v.Line3, r)
		case "city":
			wire.Text(&v.City, r)
		case "state":
			wire.Text(&v.State, r)
		case "country":
			wire.Text(&v.Country, r)
		case "postcode":
			wire.Text(&v.Postcode, r)
		}
	}
}

func (v *AlternateAddress) readWire(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "address_line1":
			wire.Text(&v.Line1, r)
		case "address_line2":
			wire.Text(&v.Line2, r)
		case "city":
			wire.Text(&v.City, r)
		case "state":
			wire.Text(&v.State, r)
		case "country":
			wire.Text(&v.Country, r)
		case "postcode":
			wire.Text(&v.Postcode, r)
		}
	}
}

func (v *Passport) readWire(r *wire.Reader) {
	for name, ok := r.First(); ok; name, ok = r.Next() {
		switch string(name) {
		case "passport_number":
			wire.Text(&v.Number, r)
		case "passport_expiry":
			v.Expiry.readWire(r)
		case "passport_issuing_country":
			wire.Text(&v.IssuingCountry, r)
		}
	}
}

func (v TransferParams) writeWire(w *wire.Writer) {
	w.Text(`{"request_id":`, string(v.RequestID))
	w.Body = append(w.Body, `,"amount":`...)
	v.Amount.writeWire(w)
	w.Text(`,"source_reference":`, v.SourceReference)
	w.Text(`,"destination_reference":`, v.DestinationReference)
	w.Text(`,"destination_account_id":`, string(v.DestinationAccountID))
	w.Integer(`,"transaction_type":`, int64(v.Type))
	if v.InitiatorUsername != "" {
		w.Text(`,"initiator_username":`, v.InitiatorUsername)
	}
	w.Body = append(w.Body, '}')
	w.Members(v.Extra.text())
}

func (v DirectEntryOutParams) writeWire(w *wire.Writer) {
	w.Text(`{"request_id":`, string(v.RequestID))
	w.Body = append(w.Body, `,"amount":`...)
	v.Amount.writeWire(w)
	w.Text(`,"source_reference":`, v.SourceReference)
	w.Text(`,"destination_reference":`, v.DestinationReference)
	w.Body = append(w.Body, `,"destination_account_info":`...)
	v.Destination.writeWire(w)
	w.Text(`,"bsb":`, v.BSB)
	if v.InitiatingUserID != "" {
		w.Text(`,"initiating_user_id":`, v.InitiatingUserID)
	}
	w.Body = append(w.Body, '}')
	w.Members(v.Extra.text())
}

func (v BankAccount) writeWire(w *wire.Writer) {
	w.Text(`{"bsb":`, v.BSB)
	w.Text(`,"account_number":`, v.AccountNumber)
	w.Text(`,"account_name":`, v.AccountName)
	w.Body = append(w.Body, '}')
}

func (v *Account) plain() any { type plain Account; return (*plain)(v) }

func (v *Account) lacks(object []byte) bool {
	found := wire.Found(object, "account_id", "company_id", "balance", "status")
	return found&(1<<0) == 0 || found&(1<<1) == 0 || found&(1<<2) == 0 || found&(1<<3) == 0
}

func (v *AccountSummary) plain() any { type plain AccountSummary; return (*plain)(v) }

func (v *AccountSummary) lacks(object []byte) bool {
	found := wire.Found(object, "balance", "status")
	return found&(1<<0) == 0 || found&(1<<1) == 0
}

func (v *Cardholder) plain() any { type plain Cardholder; return (*plain)(v) }

func (v *Cardholder) lacks(object []byte) bool { return false }

func (v *FundingResult) plain() any { type plain FundingResult; return (*plain)(v) }

func (v *FundingResult) lacks(object []byte) bool {
	found := wire.Found(object, "outcome")
	return found&(1<<0) == 0
}

func (v *Hook) plain() any { type plain Hook; return (*plain)(v) }

func (v *Hook) lacks(object []byte) bool {
	found := wire.Found(object, "id", "uri")
	return found&(1<<0) == 0 || found&(1<<1) == 0
}

func (v *MerchantCategory) plain() any { type plain MerchantCategory; return (*plain)(v) }

func (v *MerchantCategory) lacks(object []byte) bool {
	found := wire.Found(object, "code")
	return found&(1<<0) == 0
}

func (v *Policy) plain() any { type plain Policy; return (*plain)(v) }

func (v *Policy) lacks(object []byte) bool {
	found := wire.Found(object, "default_action")
	return found&(1<<0) == 0
}

func (v *PortalIdentifier) plain() any { type plain PortalIdentifier; return (*plain)(v) }

func (v *PortalIdentifier) lacks(object []byte) bool { return false }

func (v *Restrictions) plain() any { type plain Restrictions; return (*plain)(v) }

func (v *Restrictions) lacks(object []byte) bool {
	found := wire.Found(object, "type", "terminal_rules", "category_rules")
	return (found&(1<<0) == 0) && (found&(1<<1) == 0) && (found&(1<<2) == 0)
}

func (v *SimulationResult) plain() any { type plain SimulationResult; return (*plain)(v) }

func (v *SimulationResult) lacks(object []byte) bool {
	found := wire.Found(object, "success")
	return found&(1<<0) == 0
}

func (v *Transaction) plain() any { type plain Transaction; return (*plain)(v) }

func (v *Transaction) lacks(object []byte) bool {
	found := wire.Found(object, "id", "amount", "running_balance_amount", "occurred_at")
	return found&(1<<0) == 0 || found&(1<<1) == 0 || found&(1<<2) == 0 || found&(1<<3) == 0 || v.OccurredAt.IsZero()
}

func (v *TransferResult) plain() any { type plain TransferResult; return (*plain)(v) }

func (v *TransferResult) lacks(object []byte) bool { return false }

func (v *WalletProvisioning) plain() any { type plain WalletProvisioning; return (*plain)(v) }

func (v *WalletProvisioning) lacks(object []byte) bool {
	found := wire.Found(object, "issuer_initiated_digitization_data", "activation_data", "encrypted_pass_data", "ephemeral_public_key")
	return (found&(1<<0) == 0) && (found&(1<<1) == 0 || found&(1<<2) == 0 || found&(1<<3) == 0)
}

func (v *WalletToken) plain() any { type plain WalletToken; return (*plain)(v) }

func (v *WalletToken) lacks(object []byte) bool {
	found := wire.Found(object, "token_unique_reference", "current_status_code")
	return found&(1<<0) == 0 || found&(1<<1) == 0
}

func (v *createdHook) plain() any { type plain createdHook; return (*plain)(v) }

func (v *createdHook) lacks(object []byte) bool {
	found := wire.Found(object, "id")
	return found&(1<<0) == 0
}

func ruledTypes() *json.Unmarshalers {
	return json.JoinUnmarshalers(
		json.UnmarshalFromFunc(decodeRuled[*Account]),
		json.UnmarshalFromFunc(decodeRuled[*AccountSummary]),
		json.UnmarshalFromFunc(decodeRuled[*Cardholder]),
		json.UnmarshalFromFunc(decodeRuled[*FundingResult]),
		json.UnmarshalFromFunc(decodeRuled[*Hook]),
		json.UnmarshalFromFunc(decodeRuled[*MerchantCategory]),
		json.UnmarshalFromFunc(decodeRuled[*Policy]),
		json.UnmarshalFromFunc(decodeRuled[*PortalIdentifier]),
		json.UnmarshalFromFunc(decodeRuled[*Restrictions]),
		json.UnmarshalFromFunc(decodeRuled[*SimulationResult]),
		json.UnmarshalFromFunc(decodeRuled[*Transaction]),
		json.UnmarshalFromFunc(decodeRuled[*TransferResult]),
		json.UnmarshalFromFunc(decodeRuled[*WalletProvisioning]),
		json.UnmarshalFromFunc(decodeRuled[*WalletToken]),
		json.UnmarshalFromFunc(decodeRuled[*createdHook]),
	)
}

func (AccountStatus) values() []string {
	return []string{string(AccountStatusActive), string(AccountStatusPreActive), string(AccountStatusInactive), string(AccountStatusDeactivated), string(AccountStatusLostOrStolen), string(AccountStatusExpired), string(AccountStatusSuspectedFraud), string(AccountStatusClosed), string(AccountStatusInactivePINTriesExceeded), string(AccountStatusVendorInactive), string(AccountStatusReplaced)}
}

func (a AccountStatus) known() bool { return slices.Contains(a.values(), string(a)) }

func (AccountType) values() []string {
	return []string{string(AccountTypeProxy), string(AccountTypeLedger)}
}

func (a AccountType) known() bool { return slices.Contains(a.values(), string(a)) }

func (ErrorCode) values() []string {
	return []string{string(CodeInvalidRequest), string(CodeUnsupportedGrantType), string(CodeInvalidClient), string(CodeServerError), string(CodeUnauthorized), string(CodeBadApplicationID), string(CodeBadKeyID), string(CodeBadEphemeralKey), string(CodeBadAccount), string(CodeInvalidURI), string(CodeInvalidScope), string(CodeInvalidFilterSpec), string(CodeInvalidEnabled), string(CodeInvalidReliabilityMode), string(CodeInvalidHMACKeyID), string(CodeInvalidHMACKeySecret), string(CodeNoResponse), string(CodeInvalidHookID), string(CodeInvalidMessageID)}
}

func (e ErrorCode) known() bool { return slices.Contains(e.values(), string(e)) }

func (FundingException) values() []string {
	return []string{string(FundingExceptionNone), string(FundingExceptionRestrictionsNotSatisfiable), string(FundingExceptionExhausted)}
}

func (f FundingException) known() bool { return slices.Contains(f.values(), string(f)) }

func (FundingOutcome) values() []string {
	return []string{string(FundingOutcomeApproved), string(FundingOutcomeDeclined)}
}

func (f FundingOutcome) known() bool { return slices.Contains(f.values(), string(f)) }

func (MessageType) values() []string { return []string{string(MessageTypeTransaction)} }

func (m MessageType) known() bool { return slices.Contains(m.values(), string(m)) }

func (PINHash) values() []string { return []string{string(PINHashSHA256), string(PINHashSHA512)} }

func (p PINHash) known() bool { return slices.Contains(p.values(), string(p)) }

func (PolicyAction) values() []string {
	return []string{string(PolicyActionAllow), string(PolicyActionDeny)}
}

func (p PolicyAction) known() bool { return slices.Contains(p.values(), string(p)) }

func (ProductType) values() []string {
	return []string{string(ProductTypeReloadable), string(ProductTypeGift), string(ProductTypeLoyalty)}
}

func (p ProductType) known() bool { return slices.Contains(p.values(), string(p)) }

func (ReliabilityMode) values() []string {
	return []string{string(ReliabilityModeNone), string(ReliabilityModeStoreUndeliverable)}
}

func (r ReliabilityMode) known() bool { return slices.Contains(r.values(), string(r)) }

func (RequestType) values() []string {
	return []string{string(RequestTypeNew), string(RequestTypeReplace)}
}

func (r RequestType) known() bool { return slices.Contains(r.values(), string(r)) }

func (RestrictionRuleType) values() []string {
	return []string{string(RestrictionRuleTypeMustAllow), string(RestrictionRuleTypeMustBlock)}
}

func (r RestrictionRuleType) known() bool { return slices.Contains(r.values(), string(r)) }

func (RestrictionType) values() []string {
	return []string{string(RestrictionTypeOpen), string(RestrictionTypeClose)}
}

func (r RestrictionType) known() bool { return slices.Contains(r.values(), string(r)) }

func (Sex) values() []string { return []string{string(SexMale), string(SexFemale)} }

func (s Sex) known() bool { return slices.Contains(s.values(), string(s)) }

func (SimulatedType) values() []string {
	return []string{string(SimulatedTypePurchase), string(SimulatedTypeWithdrawal), string(SimulatedTypePOSCredit)}
}

func (s SimulatedType) known() bool { return slices.Contains(s.values(), string(s)) }

func (TokenizationDecision) values() []string {
	return []string{string(TokenizationDecisionUnknown), string(TokenizationDecisionDigitisationDeclined), string(TokenizationDecisionDigitisationApproved), string(TokenizationDecisionDigitisationApprovedPriorAuthenticationRequired)}
}

func (t TokenizationDecision) known() bool { return slices.Contains(t.values(), string(t)) }

func (TransactionType) values() []string {
	return []string{string(TransactionTypeClearing), string(TransactionTypePOSCredit), string(TransactionTypeClearingCreditBack), string(TransactionTypePurchaseAuthorisation), string(TransactionTypePurchaseAuthorisationReversal), string(TransactionTypeClearingReversal), string(TransactionTypeATMCashAuthorisation), string(TransactionTypeLoad)}
}

func (t TransactionType) known() bool { return slices.Contains(t.values(), string(t)) }

func (WalletTokenStatus) values() []string {
	return []string{string(WalletTokenStatusUnknown), string(WalletTokenStatusUnmapped), string(WalletTokenStatusActive), string(WalletTokenStatusSuspended), string(WalletTokenStatusDeleted)}
}

func (w WalletTokenStatus) known() bool { return slices.Contains(w.values(), string(w)) }

func (p CreateAccountParams) Validate() error { return validated(p.check) }

func (p CreateHookParams) Validate() error { return validated(p.check) }

func (p DirectEntryOutParams) Validate() error { return validated(p.check) }

func (p ExchangeKeyParams) Validate() error { return validated(p.check) }

func (p FindCreatedParams) Validate() error { return validated(p.check) }

func (p FindMovementParams) Validate() error { return validated(p.check) }

func (p InitiatePINParams) Validate() error { return validated(p.check) }

func (p IssueParams) Validate() error { return validated(p.check) }

func (p ListTransactionsParams) Validate() error { return validated(p.check) }

func (p ProvisionWalletParams) Validate() error { return validated(p.check) }

func (p RedeemFundingParams) Validate() error { return validated(p.check) }

func (p RefundFundingParams) Validate() error { return validated(p.check) }

func (p ReverseFundingParams) Validate() error { return validated(p.check) }

func (p RunReportParams) Validate() error { return validated(p.check) }

func (p SealedPINParams) Validate() error { return validated(p.check) }

func (p SearchAccountsParams) Validate() error { return validated(p.check) }

func (p SearchCompanyParams) Validate() error { return validated(p.check) }

func (p SetPlasticEnabledParams) Validate() error { return validated(p.check) }

func (p SetStatusParams) Validate() error { return validated(p.check) }

func (p SimulateParams) Validate() error { return validated(p.check) }

// Validate returns a *[ValidationError] that lists the faults of p which the call would find before sending, except the age of a
// request ID, or nil. Call it before you store a payment or start a job. [Config].SkipValueChecks does not apply.
func (p TransferParams) Validate() error { return validated(p.check) }

func (p UpdateAccountParams) Validate() error { return validated(p.check) }

func (p UpdateHookParams) Validate() error { return validated(p.check) }
