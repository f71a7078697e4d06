package prepaidtest

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// The types that partners see are declared in this package, with their comments, and again where the service uses them: an
// alias of an internal type would hide its fields on the reference page. Types with the same fields are converted as they are;
// those below, which have such types in them, field by field. TestConversionsLoseNothing compares all fields.

// internal returns a registration as the ledger holds it, which shares nothing with p.
func (p Cardholder) internal() ledger.Personal {
	held := ledger.Personal{
		Title: p.Title, FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName,
		PrimaryAddress: ledger.Address(p.PrimaryAddress), Sex: p.Sex, MobileNumber: p.MobileNumber, PhoneNumber: p.PhoneNumber,
		DateOfBirth: p.DateOfBirth, EmailAddress: p.EmailAddress, DriverLicenceNumber: p.DriverLicenceNumber,
	}
	if p.AlternateAddress != nil {
		held.AlternateAddress = new(ledger.Address(*p.AlternateAddress))
	}
	if p.Passport != nil {
		held.Passport = new(ledger.Passport(*p.Passport))
	}
	return held
}

// personalOf is the way back.
func personalOf(held ledger.Personal) Cardholder {
	p := Cardholder{
		Title: held.Title, FirstName: held.FirstName, MiddleName: held.MiddleName, LastName: held.LastName,
		PrimaryAddress: Address(held.PrimaryAddress), Sex: held.Sex, MobileNumber: held.MobileNumber, PhoneNumber: held.PhoneNumber,
		DateOfBirth: held.DateOfBirth, EmailAddress: held.EmailAddress, DriverLicenceNumber: held.DriverLicenceNumber,
	}
	if held.AlternateAddress != nil {
		p.AlternateAddress = new(Address(*held.AlternateAddress))
	}
	if held.Passport != nil {
		p.Passport = new(Passport(*held.Passport))
	}
	return p
}

// internal returns a token as the ledger holds it.
func (t WalletToken) internal() ledger.WalletToken {
	return ledger.WalletToken{
		StorageTechnology: t.StorageTechnology, Device: ledger.WalletDevice(t.Device), LastCommentID: t.LastCommentID, TokenType: t.TokenType,
		PaymentAppInstanceID: t.PaymentAppInstanceID, WalletID: t.WalletID, TokenRequestorName: t.TokenRequestorName,
		TokenRequestorID: t.TokenRequestorID, TokenAssuranceLevel: t.TokenAssuranceLevel,
		ProvisioningStatusDescription: t.ProvisioningStatusDescription, ProvisioningStatusCode: t.ProvisioningStatusCode,
		Suspenders: slices.Clone(t.Suspenders), CurrentStatusDateTime: t.CurrentStatusDateTime, CurrentStatusCode: t.CurrentStatusCode,
		CurrentStatusDescription: t.CurrentStatusDescription, CorrelationID: t.CorrelationID,
		ActivationCodeExpirationDateTime: t.ActivationCodeExpirationDateTime, FinalTokenizationDecision: t.FinalTokenizationDecision,
		TokenActivatedDateTime: t.TokenActivatedDateTime, DigitizationRequestDateTime: t.DigitizationRequestDateTime,
		AccountPANSequenceNumber: t.AccountPANSequenceNumber, ExpirationDate: t.ExpirationDate, TokenSuffix: t.TokenSuffix,
		PrimaryAccountNumberUniqueReference: t.PrimaryAccountNumberUniqueReference, TokenUniqueReference: t.TokenUniqueReference,
		TokenDeletedFromConsumerApp: t.TokenDeletedFromConsumerApp,
	}
}

// walletTokenOf is the way back.
func walletTokenOf(t ledger.WalletToken) WalletToken {
	return WalletToken{
		StorageTechnology: t.StorageTechnology, Device: WalletDevice(t.Device), LastCommentID: t.LastCommentID, TokenType: t.TokenType,
		PaymentAppInstanceID: t.PaymentAppInstanceID, WalletID: t.WalletID, TokenRequestorName: t.TokenRequestorName,
		TokenRequestorID: t.TokenRequestorID, TokenAssuranceLevel: t.TokenAssuranceLevel,
		ProvisioningStatusDescription: t.ProvisioningStatusDescription, ProvisioningStatusCode: t.ProvisioningStatusCode,
		Suspenders: slices.Clone(t.Suspenders), CurrentStatusDateTime: t.CurrentStatusDateTime, CurrentStatusCode: t.CurrentStatusCode,
		CurrentStatusDescription: t.CurrentStatusDescription, CorrelationID: t.CorrelationID,
		ActivationCodeExpirationDateTime: t.ActivationCodeExpirationDateTime, FinalTokenizationDecision: t.FinalTokenizationDecision,
		TokenActivatedDateTime: t.TokenActivatedDateTime, DigitizationRequestDateTime: t.DigitizationRequestDateTime,
		AccountPANSequenceNumber: t.AccountPANSequenceNumber, ExpirationDate: t.ExpirationDate, TokenSuffix: t.TokenSuffix,
		PrimaryAccountNumberUniqueReference: t.PrimaryAccountNumberUniqueReference, TokenUniqueReference: t.TokenUniqueReference,
		TokenDeletedFromConsumerApp: t.TokenDeletedFromConsumerApp,
	}
}

// companyIDs returns a copy of a list in the form of the other side, never nil.
func companyIDs[To, From ~int64](list []From) []To {
	ids := make([]To, len(list))
	for i, id := range list {
		ids[i] = To(id)
	}
	return ids
}

// internal returns a seed as the service takes it. Its balance is booked by the caller.
func (s SeedAccount) internal() service.Seed {
	seed := service.Seed{
		ID: string(s.ID), ExternalID: s.ExternalID, CompanyID: int64(s.CompanyID), Key: s.Key, Status: s.Status, ProductType: s.ProductType,
		AccountType: s.AccountType, PlasticDisabled: s.PlasticDisabled, PlasticExpiry: s.PlasticExpiry, AccountExpiry: s.AccountExpiry,
		DisplayName: s.DisplayName, NameOnCard: s.NameOnCard, FreeText: ledger.FreeText(s.FreeText), MDESConfigID: s.MDESConfigID,
		CorrespondingAccountID: string(s.CorrespondingAccountID), CardholderType: s.CardholderType,
	}
	if s.Cardholder != nil {
		seed.Personal = new(s.Cardholder.internal())
	}
	if s.Portal != nil {
		seed.Portal = new(ledger.Portal(*s.Portal))
	}
	return seed
}
