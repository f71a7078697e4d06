package prepaid

// StorageTechnology is where a wallet keeps a token.
type StorageTechnology string

const (
	// StorageTechnologyUnknown is "unknown".
	StorageTechnologyUnknown StorageTechnology = "unknown"
	// StorageTechnologyDeviceMemory is "device_memory".
	StorageTechnologyDeviceMemory StorageTechnology = "device_memory"
	// StorageTechnologyDeviceMemoryProtectedByTPM is "device_memory_protected_by_tpm".
	StorageTechnologyDeviceMemoryProtectedByTPM StorageTechnology = "device_memory_protected_by_tpm"
	// StorageTechnologyServer is "server".
	StorageTechnologyServer StorageTechnology = "server"
	// StorageTechnologyTrustedExecutionEnvironment is "trusted_execution_environment".
	StorageTechnologyTrustedExecutionEnvironment StorageTechnology = "trusted_execution_environment"
	// StorageTechnologySecureElement is "secure_element".
	StorageTechnologySecureElement StorageTechnology = "secure_element"
	// StorageTechnologyVirtualExecutionEnvironment is "virtual_execution_environment".
	StorageTechnologyVirtualExecutionEnvironment StorageTechnology = "virtual_execution_environment"
)

// WalletTokenType is the kind of a wallet token.
type WalletTokenType string

const (
	// WalletTokenTypeUnknown is "unknown".
	WalletTokenTypeUnknown WalletTokenType = "unknown"
	// WalletTokenTypeEmbeddedSecureElementToken is "embedded_secure_element_token".
	WalletTokenTypeEmbeddedSecureElementToken WalletTokenType = "embedded_secure_element_token"
	// WalletTokenTypeMasterCardCloudBasedPaymentsToken is "master_card_cloud_based_payments_token".
	WalletTokenTypeMasterCardCloudBasedPaymentsToken WalletTokenType = "master_card_cloud_based_payments_token"
	// WalletTokenTypeCOFToken is "cof_token".
	WalletTokenTypeCOFToken WalletTokenType = "cof_token"
)

// WalletDeviceType is the kind of a device.
type WalletDeviceType string

const (
	// WalletDeviceTypeUnknown is "unknown".
	WalletDeviceTypeUnknown WalletDeviceType = "unknown"
	// WalletDeviceTypeWatch1 is "watch1".
	WalletDeviceTypeWatch1 WalletDeviceType = "watch1"
	// WalletDeviceTypeSmartphoneWithFixedSecureElement is "smartphone_with_fixed_secure_element".
	WalletDeviceTypeSmartphoneWithFixedSecureElement WalletDeviceType = "smartphone_with_fixed_secure_element"
	// WalletDeviceTypeTabletOrEreaderWithFixedSecureElement is "tablet_or_ereader_with_fixed_secure_element".
	WalletDeviceTypeTabletOrEreaderWithFixedSecureElement WalletDeviceType = "tablet_or_ereader_with_fixed_secure_element"
	// WalletDeviceTypeSmartphoneWithPaymentAppInHostProcessor is "smartphone_with_payment_app_in_host_processor".
	WalletDeviceTypeSmartphoneWithPaymentAppInHostProcessor WalletDeviceType = "smartphone_with_payment_app_in_host_processor"
	// WalletDeviceTypeTabletOrEreaderWithPaymentAppInTEE is "tablet_or_ereader_with_payment_app_in_tee".
	WalletDeviceTypeTabletOrEreaderWithPaymentAppInTEE WalletDeviceType = "tablet_or_ereader_with_payment_app_in_tee"
	// WalletDeviceTypeWatchWithPaymentAppInTEE is "watch_with_payment_app_in_tee".
	WalletDeviceTypeWatchWithPaymentAppInTEE WalletDeviceType = "watch_with_payment_app_in_tee"
	// WalletDeviceTypeWatchWithPaymentAppInHostProcessor is "watch_with_payment_app_in_host_processor".
	WalletDeviceTypeWatchWithPaymentAppInHostProcessor WalletDeviceType = "watch_with_payment_app_in_host_processor"
	// WalletDeviceTypePhone is "phone".
	WalletDeviceTypePhone WalletDeviceType = "phone"
	// WalletDeviceTypeTablet is "tablet".
	WalletDeviceTypeTablet WalletDeviceType = "tablet"
	// WalletDeviceTypeWatch2 is "watch2".
	WalletDeviceTypeWatch2 WalletDeviceType = "watch2"
	// WalletDeviceTypeSticker is "sticker".
	WalletDeviceTypeSticker WalletDeviceType = "sticker"
	// WalletDeviceTypePersonalComputer is "personal_computer".
	WalletDeviceTypePersonalComputer WalletDeviceType = "personal_computer"
	// WalletDeviceTypeDevicePeripheral is "device_peripheral".
	WalletDeviceTypeDevicePeripheral WalletDeviceType = "device_peripheral"
	// WalletDeviceTypeTag is "tag".
	WalletDeviceTypeTag WalletDeviceType = "tag"
	// WalletDeviceTypeJewelry is "jewelry".
	WalletDeviceTypeJewelry WalletDeviceType = "jewelry"
	// WalletDeviceTypeFashionAccessory is "fashion_accessory".
	WalletDeviceTypeFashionAccessory WalletDeviceType = "fashion_accessory"
	// WalletDeviceTypeGarment is "garment".
	WalletDeviceTypeGarment WalletDeviceType = "garment"
	// WalletDeviceTypeDomesticAppliance is "domestic_appliance".
	WalletDeviceTypeDomesticAppliance WalletDeviceType = "domestic_appliance"
	// WalletDeviceTypeVehicle is "vehicle".
	WalletDeviceTypeVehicle WalletDeviceType = "vehicle"
	// WalletDeviceTypeMediaOrGamingDevice is "media_or_gaming_device".
	WalletDeviceTypeMediaOrGamingDevice WalletDeviceType = "media_or_gaming_device"
	// WalletDeviceTypeUndefined is "undefined".
	WalletDeviceTypeUndefined WalletDeviceType = "undefined"
)

// ProvisioningStatus is the state of a provisioning.
type ProvisioningStatus string

const (
	// ProvisioningStatusUnknown is "unknown".
	ProvisioningStatusUnknown ProvisioningStatus = "unknown"
	// ProvisioningStatusTokenBeingPrepared is "token_being_prepared".
	ProvisioningStatusTokenBeingPrepared ProvisioningStatus = "token_being_prepared"
	// ProvisioningStatusAwaitingCardholderTCAcceptance is "awaiting_cardholder_tc_acceptance".
	ProvisioningStatusAwaitingCardholderTCAcceptance ProvisioningStatus = "awaiting_cardholder_tc_acceptance"
	// ProvisioningStatusTokenBeingDelivered is "token_being_delivered".
	ProvisioningStatusTokenBeingDelivered ProvisioningStatus = "token_being_delivered"
	// ProvisioningStatusAwaitingActivation is "awaiting_activation".
	ProvisioningStatusAwaitingActivation ProvisioningStatus = "awaiting_activation"
	// ProvisioningStatusSuccess is "success".
	ProvisioningStatusSuccess ProvisioningStatus = "success"
	// ProvisioningStatusFailed is "failed".
	ProvisioningStatusFailed ProvisioningStatus = "failed"
)

// WalletTokenStatus is the state of a wallet token.
type WalletTokenStatus string

const (
	// WalletTokenStatusUnknown is "unknown".
	WalletTokenStatusUnknown WalletTokenStatus = "unknown"
	// WalletTokenStatusUnmapped is "unmapped".
	WalletTokenStatusUnmapped WalletTokenStatus = "unmapped"
	// WalletTokenStatusActive is "active".
	WalletTokenStatusActive WalletTokenStatus = "active"
	// WalletTokenStatusSuspended is "suspended".
	WalletTokenStatusSuspended WalletTokenStatus = "suspended"
	// WalletTokenStatusDeleted is "deleted".
	WalletTokenStatusDeleted WalletTokenStatus = "deleted"
)

// TokenizationDecision is the issuer's decision.
type TokenizationDecision string

const (
	// TokenizationDecisionUnknown is "unknown".
	TokenizationDecisionUnknown TokenizationDecision = "unknown"
	// TokenizationDecisionDigitisationDeclined is "digitisation_declined".
	TokenizationDecisionDigitisationDeclined TokenizationDecision = "digitisation_declined"
	// TokenizationDecisionDigitisationApproved is "digitisation_approved".
	TokenizationDecisionDigitisationApproved TokenizationDecision = "digitisation_approved"
	// TokenizationDecisionDigitisationApprovedPriorAuthenticationRequired is "digitisation_approved_prior_authentication_required".
	TokenizationDecisionDigitisationApprovedPriorAuthenticationRequired TokenizationDecision = "digitisation_approved_prior_authentication_required"
)
