package contract

import (
	"time"

	"github.com/cardprograms/prepaid"
)

const fixtureTokenReference = "DM4MMC000000000100000000000000000000000000000007"

func walletFixtures() []Case {
	return append(walletTokenFixtures(), provisionFixtures()...)
}

func walletTokenFixtures() []Case {
	tokens := fixtureWith[[]prepaid.WalletToken]("Accounts.WalletTokens", fixtureID)
	device := func(device prepaid.WalletDevice) prepaid.WalletToken {
		token := fixtureLeastToken()
		token.Device = device
		return token
	}
	return append(tokens.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		tokens.gives("200", []prepaid.WalletToken{fixtureWholeToken(), fixtureLeastToken()}),
		tokens.gives("200-device-id-twice", []prepaid.WalletToken{
			device(prepaid.WalletDevice{ID: "dev-****-32", Type: prepaid.WalletDeviceTypeWatch2}), device(prepaid.WalletDevice{ID: "dev-****-33"}),
		}),
		tokens.gives("200-every-value", fixtureEveryToken()),
		tokens.gives("200-empty", []prepaid.WalletToken{}),
		tokens.gives("204", nil),
		tokens.unknownAccount(),
	)
}

func fixtureWholeToken() prepaid.WalletToken {
	token := fixtureLeastToken()
	token.Device = prepaid.WalletDevice{
		ID: "dev-****-31", Name: "Canary-Mira’s phone", SecureElementID: "SE-0000-1111", Type: prepaid.WalletDeviceTypePhone,
	}
	token.PaymentAppInstanceID, token.WalletID, token.TokenRequestorName = "pai-900", "327", "Example Wallet"
	token.TokenAssuranceLevel, token.Suspenders, token.CorrelationID = "1", []string{"issuer", "cardholder"}, "corr-31"
	token.ProvisioningStatusDescription, token.ProvisioningStatus = "Provisioned", prepaid.ProvisioningStatusSuccess
	token.ActivationCodeExpiresAt = fixtureTime(2026, time.March, 5, 5, 6, 7)
	token.FinalTokenizationDecision = prepaid.TokenizationDecisionDigitisationApproved
	token.ActivatedAt, token.DigitizationRequestedAt = fixtureTime(2026, time.March, 4, 5, 6, 7), fixtureTime(2026, time.March, 4, 5, 0, 0)
	token.TokenSuffix, token.PrimaryAccountNumberUniqueReference, token.DeletedFromConsumerApp = "4321", "PUR-0001", true
	return token
}

// fixtureLeastToken returns a token with only the required members.
func fixtureLeastToken() prepaid.WalletToken {
	return prepaid.WalletToken{
		TokenUniqueReference: fixtureTokenReference, StorageTechnology: prepaid.StorageTechnologySecureElement,
		LastCommentID: "c-55", Type: prepaid.WalletTokenTypeEmbeddedSecureElementToken,
		TokenRequestorID: "50110030273", TokenAssuranceLevel: "0",
		Status: prepaid.WalletTokenStatusActive, StatusDescription: "Active", StatusAt: fixtureTime(2026, time.March, 4, 5, 6, 7),
		PANSequenceNumber: "001", ExpirationDate: "1129",
	}
}

// fixtureEveryToken returns tokens with every value of every enumeration, and a last token with unknown values. Values
// of short enumerations occur several times.
func fixtureEveryToken() []prepaid.WalletToken {
	technologies := []prepaid.StorageTechnology{
		prepaid.StorageTechnologyUnknown, prepaid.StorageTechnologyDeviceMemory, prepaid.StorageTechnologyDeviceMemoryProtectedByTPM,
		prepaid.StorageTechnologyServer, prepaid.StorageTechnologyTrustedExecutionEnvironment, prepaid.StorageTechnologySecureElement,
		prepaid.StorageTechnologyVirtualExecutionEnvironment,
	}
	types := []prepaid.WalletTokenType{
		prepaid.WalletTokenTypeUnknown, prepaid.WalletTokenTypeEmbeddedSecureElementToken,
		prepaid.WalletTokenTypeMasterCardCloudBasedPaymentsToken, prepaid.WalletTokenTypeCOFToken,
	}
	provisionings := []prepaid.ProvisioningStatus{
		prepaid.ProvisioningStatusUnknown, prepaid.ProvisioningStatusTokenBeingPrepared, prepaid.ProvisioningStatusAwaitingCardholderTCAcceptance,
		prepaid.ProvisioningStatusTokenBeingDelivered, prepaid.ProvisioningStatusAwaitingActivation, prepaid.ProvisioningStatusSuccess,
		prepaid.ProvisioningStatusFailed,
	}
	statuses := []prepaid.WalletTokenStatus{
		prepaid.WalletTokenStatusUnknown, prepaid.WalletTokenStatusUnmapped, prepaid.WalletTokenStatusActive, prepaid.WalletTokenStatusSuspended,
		prepaid.WalletTokenStatusDeleted,
	}
	decisions := []prepaid.TokenizationDecision{
		prepaid.TokenizationDecisionUnknown, prepaid.TokenizationDecisionDigitisationDeclined, prepaid.TokenizationDecisionDigitisationApproved,
		prepaid.TokenizationDecisionDigitisationApprovedPriorAuthenticationRequired,
	}
	devices := []prepaid.WalletDeviceType{
		prepaid.WalletDeviceTypeUnknown, prepaid.WalletDeviceTypeWatch1, prepaid.WalletDeviceTypeSmartphoneWithFixedSecureElement,
		prepaid.WalletDeviceTypeTabletOrEreaderWithFixedSecureElement, prepaid.WalletDeviceTypeSmartphoneWithPaymentAppInHostProcessor,
		prepaid.WalletDeviceTypeTabletOrEreaderWithPaymentAppInTEE, prepaid.WalletDeviceTypeWatchWithPaymentAppInTEE,
		prepaid.WalletDeviceTypeWatchWithPaymentAppInHostProcessor, prepaid.WalletDeviceTypePhone, prepaid.WalletDeviceTypeTablet,
		prepaid.WalletDeviceTypeWatch2, prepaid.WalletDeviceTypeSticker, prepaid.WalletDeviceTypePersonalComputer,
		prepaid.WalletDeviceTypeDevicePeripheral, prepaid.WalletDeviceTypeTag, prepaid.WalletDeviceTypeJewelry, prepaid.WalletDeviceTypeFashionAccessory,
		prepaid.WalletDeviceTypeGarment, prepaid.WalletDeviceTypeDomesticAppliance, prepaid.WalletDeviceTypeVehicle,
		prepaid.WalletDeviceTypeMediaOrGamingDevice, prepaid.WalletDeviceTypeUndefined,
	}
	var tokens []prepaid.WalletToken
	for i, device := range devices {
		token := fixtureLeastToken()
		token.StorageTechnology, token.Type = technologies[i%len(technologies)], types[i%len(types)]
		token.ProvisioningStatus, token.Status = provisionings[i%len(provisionings)], statuses[i%len(statuses)]
		token.FinalTokenizationDecision, token.Device.Type = decisions[i%len(decisions)], device
		tokens = append(tokens, token)
	}
	const later = "from_a_later_version"
	last := fixtureLeastToken()
	last.StorageTechnology, last.Type, last.ProvisioningStatus, last.Status = later, later, later, later
	last.FinalTokenizationDecision, last.Device.Type = later, later
	return append(tokens, last)
}

func provisionFixtures() []Case {
	provision := func(provider prepaid.WalletProvider, params prepaid.ProvisionWalletParams) fixtureCall[*prepaid.WalletProvisioning] {
		return fixtureWith[*prepaid.WalletProvisioning]("Accounts.ProvisionWallet", fixtureID, provider, params)
	}
	nonce := provision("wallet-a", prepaid.ProvisionWalletParams{
		TokenUniqueReference: fixtureTokenReference, InitiatingUserID: "ops-3",
		Nonce: "canary-nonce-9c02", NonceSignature: "canary-signature-40aa",
		Certificates: []string{"canary-leaf-certificate", "canary-root-certificate"},
	})
	registration := fixtureLeastCardholder()
	registration.Sex, registration.EmailAddress = prepaid.SexMale, "canary.mira@example.com"
	return append(nonce.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		nonce.gives("200", &prepaid.WalletProvisioning{
			PANLastFour: "9917", Provider: "card_network_1", ProductType: prepaid.ProductTypeReloadable, Cardholder: fixtureCardholder(),
			ActivationData: "canary-activation-data", EncryptedPassData: "canary-encrypted-pass", EphemeralPublicKey: "canary-ephemeral-key",
		}),
		provision("wallet-b", prepaid.ProvisionWalletParams{}).gives("200-push", &prepaid.WalletProvisioning{
			PANLastFour: "9917", Provider: "card_network_2", ProductType: prepaid.ProductTypeGift, Cardholder: registration,
			IssuerInitiatedDigitizationData: "canary-digitization-data",
		}),
		nonce.refused("404", "unsupported_provider", nil, prepaid.OutcomeRejected),
		nonce.fails("404", prepaid.OutcomeRejected, requireNotErrNotFound),
	)
}
