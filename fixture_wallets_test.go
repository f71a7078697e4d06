package prepaid

import (
	"context"
	"time"
)

const fixtureTokenReference = "DM4MMC000000000100000000000000000000000000000007"

func walletFixtures() []fixtureCase {
	return append(walletTokenFixtures(), provisionFixtures()...)
}

func walletTokenFixtures() []fixtureCase {
	tokens := fixtureOf("Accounts.WalletTokens", func(ctx context.Context, client *Client) ([]WalletToken, error) {
		return client.Accounts.WalletTokens(ctx, fixtureID)
	})
	device := func(device WalletDevice) WalletToken {
		token := fixtureLeastToken()
		token.Device = device
		return token
	}
	return append(tokens.usual(exampleInvalidToken, OutcomeNotProcessed),
		tokens.gives("200", []WalletToken{fixtureWholeToken(), fixtureLeastToken()}),
		tokens.gives("200-device-id-twice", []WalletToken{
			device(WalletDevice{ID: "dev-****-32", Type: WalletDeviceTypeWatch2}), device(WalletDevice{ID: "dev-****-33"}),
		}),
		tokens.gives("200-every-value", fixtureEveryToken()),
		tokens.gives("200-empty", []WalletToken{}),
		tokens.gives("204", nil),
		tokens.unknownAccount(),
	)
}

func fixtureWholeToken() WalletToken {
	return WalletToken{
		TokenUniqueReference: fixtureTokenReference,
		StorageTechnology:    StorageTechnologySecureElement,
		Device: WalletDevice{
			ID: "dev-****-31", Name: "Canary-Mira’s phone", SecureElementID: "SE-0000-1111", Type: WalletDeviceTypePhone,
		},
		LastCommentID: "c-55", Type: WalletTokenTypeEmbeddedSecureElementToken,
		PaymentAppInstanceID: "pai-900", WalletID: "327",
		TokenRequestorName: "Example Wallet", TokenRequestorID: "50110030273", TokenAssuranceLevel: "1",
		ProvisioningStatusDescription: "Provisioned", ProvisioningStatus: ProvisioningStatusSuccess,
		Suspenders: []string{"issuer", "cardholder"},
		Status:     WalletTokenStatusActive, StatusDescription: "Active",
		StatusAt: fixtureTime(2026, time.March, 4, 5, 6, 7), CorrelationID: "corr-31",
		ActivationCodeExpiresAt:   fixtureTime(2026, time.March, 5, 5, 6, 7),
		FinalTokenizationDecision: TokenizationDecisionDigitisationApproved,
		ActivatedAt:               fixtureTime(2026, time.March, 4, 5, 6, 7),
		DigitizationRequestedAt:   fixtureTime(2026, time.March, 4, 5, 0, 0),
		PANSequenceNumber:         "001", ExpirationDate: "1129", TokenSuffix: "4321",
		PrimaryAccountNumberUniqueReference: "PUR-0001", DeletedFromConsumerApp: true,
	}
}

// fixtureLeastToken has the required members only.
func fixtureLeastToken() WalletToken {
	return WalletToken{
		TokenUniqueReference: fixtureTokenReference, StorageTechnology: StorageTechnologySecureElement,
		LastCommentID: "c-55", Type: WalletTokenTypeEmbeddedSecureElementToken,
		TokenRequestorID: "50110030273", TokenAssuranceLevel: "0",
		Status: WalletTokenStatusActive, StatusDescription: "Active", StatusAt: fixtureTime(2026, time.March, 4, 5, 6, 7),
		PANSequenceNumber: "001", ExpirationDate: "1129",
	}
}

// fixtureEveryToken goes through the values of all enumerations, the short ones several times, and ends with a
// value that is none of them.
func fixtureEveryToken() []WalletToken {
	technologies := []StorageTechnology{
		StorageTechnologyUnknown, StorageTechnologyDeviceMemory, StorageTechnologyDeviceMemoryProtectedByTPM,
		StorageTechnologyServer, StorageTechnologyTrustedExecutionEnvironment, StorageTechnologySecureElement,
		StorageTechnologyVirtualExecutionEnvironment,
	}
	types := []WalletTokenType{
		WalletTokenTypeUnknown, WalletTokenTypeEmbeddedSecureElementToken,
		WalletTokenTypeMasterCardCloudBasedPaymentsToken, WalletTokenTypeCOFToken,
	}
	provisionings := []ProvisioningStatus{
		ProvisioningStatusUnknown, ProvisioningStatusTokenBeingPrepared, ProvisioningStatusAwaitingCardholderTCAcceptance,
		ProvisioningStatusTokenBeingDelivered, ProvisioningStatusAwaitingActivation, ProvisioningStatusSuccess,
		ProvisioningStatusFailed,
	}
	statuses := []WalletTokenStatus{
		WalletTokenStatusUnknown, WalletTokenStatusUnmapped, WalletTokenStatusActive, WalletTokenStatusSuspended,
		WalletTokenStatusDeleted,
	}
	decisions := []TokenizationDecision{
		TokenizationDecisionUnknown, TokenizationDecisionDigitisationDeclined, TokenizationDecisionDigitisationApproved,
		TokenizationDecisionDigitisationApprovedPriorAuthenticationRequired,
	}
	devices := []WalletDeviceType{
		WalletDeviceTypeUnknown, WalletDeviceTypeWatch1, WalletDeviceTypeSmartphoneWithFixedSecureElement,
		WalletDeviceTypeTabletOrEreaderWithFixedSecureElement, WalletDeviceTypeSmartphoneWithPaymentAppInHostProcessor,
		WalletDeviceTypeTabletOrEreaderWithPaymentAppInTEE, WalletDeviceTypeWatchWithPaymentAppInTEE,
		WalletDeviceTypeWatchWithPaymentAppInHostProcessor, WalletDeviceTypePhone, WalletDeviceTypeTablet,
		WalletDeviceTypeWatch2, WalletDeviceTypeSticker, WalletDeviceTypePersonalComputer,
		WalletDeviceTypeDevicePeripheral, WalletDeviceTypeTag, WalletDeviceTypeJewelry, WalletDeviceTypeFashionAccessory,
		WalletDeviceTypeGarment, WalletDeviceTypeDomesticAppliance, WalletDeviceTypeVehicle,
		WalletDeviceTypeMediaOrGamingDevice, WalletDeviceTypeUndefined,
	}
	var tokens []WalletToken
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

func provisionFixtures() []fixtureCase {
	provision := func(provider string, params ProvisionWalletParams) fixtureCall[*WalletProvisioning] {
		return fixtureOf("Accounts.ProvisionWallet", func(ctx context.Context, client *Client) (*WalletProvisioning, error) {
			return client.Accounts.ProvisionWallet(ctx, fixtureID, provider, params)
		})
	}
	nonce := provision("wallet-a", ProvisionWalletParams{
		TokenUniqueReference: fixtureTokenReference, InitiatingUserID: "ops-3",
		Nonce: "canary-nonce-9c02", NonceSignature: "canary-signature-40aa",
		Certificates: []string{"canary-leaf-certificate", "canary-root-certificate"},
	})
	registration := fixtureLeastCardholder()
	registration.Sex, registration.EmailAddress = SexMale, "canary.mira@example.com"
	return append(nonce.usual(exampleInvalidToken, OutcomeUnknown),
		nonce.gives("200", &WalletProvisioning{
			PANLastFour: "9917", Provider: "card_network_1", ProductType: ProductTypeReloadable, Registration: fixtureCardholder(),
			ActivationData: "canary-activation-data", EncryptedPassData: "canary-encrypted-pass", EphemeralPublicKey: "canary-ephemeral-key",
		}),
		provision("wallet-b", ProvisionWalletParams{}).gives("200-push", &WalletProvisioning{
			PANLastFour: "9917", Provider: "card_network_2", ProductType: ProductTypeGift, Registration: registration,
			IssuerInitiatedDigitizationData: "canary-digitization-data",
		}),
		nonce.refused("404", "unsupported_provider", nil, OutcomeRejected),
		nonce.fails("404", OutcomeRejected, requireNotErrNotFound),
	)
}
