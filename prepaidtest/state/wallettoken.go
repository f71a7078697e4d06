package state

// WalletToken is a card in a mobile wallet (2.9), with the values used on the wire.
type WalletToken struct {
	// StorageTechnology is where the wallet keeps the token.
	StorageTechnology string `json:"storage_technology" rule:"in=unknown|device_memory|device_memory_protected_by_tpm|server|trusted_execution_environment|secure_element|virtual_execution_environment"`
	// Device is the token's device.
	Device WalletDevice `json:"device" ref:"WalletDevice"`
	// LastCommentID is required.
	LastCommentID string `json:"last_comment_id" seed:"min=1"`
	// TokenType is the kind of token.
	TokenType string `json:"token_type" rule:"in=unknown|embedded_secure_element_token|master_card_cloud_based_payments_token|cof_token"`
	// PaymentAppInstanceID is optional.
	PaymentAppInstanceID string `json:"payment_app_instance_id,omitzero"`
	// WalletID is optional.
	WalletID string `json:"wallet_id,omitzero"`
	// TokenRequestorName is optional.
	TokenRequestorName string `json:"token_requestor_name,omitzero"`
	// TokenRequestorID has up to 11 characters.
	TokenRequestorID string `json:"token_requestor_id" rule:"max=11" seed:"min=1"`
	// TokenAssuranceLevel is "0" when not authenticated.
	TokenAssuranceLevel string `json:"token_assurance_level" seed:"min=1" about:"0 means not authenticated, any other authenticated."`
	// ProvisioningStatusDescription is optional.
	ProvisioningStatusDescription string `json:"provisioning_status_description,omitzero"`
	// ProvisioningStatusCode is optional.
	ProvisioningStatusCode string `json:"provisioning_status_code,omitzero" rule:"in=unknown|token_being_prepared|awaiting_cardholder_tc_acceptance|token_being_delivered|awaiting_activation|success|failed"`
	// Suspenders lists the parties that suspended the token.
	Suspenders []string `json:"suspenders,omitzero"`
	// CurrentStatusDateTime is a date-time.
	CurrentStatusDateTime string `json:"current_status_date_time" rule:"date-time" about:"In UTC."`
	// CurrentStatusCode is unknown, unmapped, active, suspended or deleted.
	CurrentStatusCode string `json:"current_status_code" rule:"in=unknown|unmapped|active|suspended|deleted"`
	// CurrentStatusDescription is required.
	CurrentStatusDescription string `json:"current_status_description" seed:"min=1"`
	// CorrelationID is optional.
	CorrelationID string `json:"correlation_id,omitzero"`
	// ActivationCodeExpirationDateTime is an optional date-time.
	ActivationCodeExpirationDateTime string `json:"activation_code_expiration_date_time,omitzero" rule:"date-time" about:"In UTC."`
	// FinalTokenizationDecision is optional.
	FinalTokenizationDecision string `json:"final_tokenization_decision,omitzero" rule:"in=unknown|digitisation_declined|digitisation_approved|digitisation_approved_prior_authentication_required"`
	// TokenActivatedDateTime is an optional date-time.
	TokenActivatedDateTime string `json:"token_activated_date_time,omitzero" rule:"date-time" about:"In UTC."`
	// DigitizationRequestDateTime is an optional date-time.
	DigitizationRequestDateTime string `json:"digitization_request_date_time,omitzero" rule:"date-time" about:"In UTC."`
	// AccountPANSequenceNumber is from 000 to 099.
	AccountPANSequenceNumber string `json:"account_pan_sequence_number" rule:"sequence-number" about:"000 to 099."`
	// ExpirationDate has the form mmyy.
	ExpirationDate string `json:"expiration_date" rule:"month-year" about:"Month and year: mmyy."`
	// TokenSuffix is the last four digits.
	TokenSuffix string `json:"token_suffix,omitzero" rule:"four-digits" about:"Last four digits."`
	// PrimaryAccountNumberUniqueReference is optional.
	PrimaryAccountNumberUniqueReference string `json:"primary_account_number_unique_reference,omitzero"`
	// TokenUniqueReference has 48 characters.
	TokenUniqueReference string `json:"token_unique_reference" rule:"token-reference"`
	// TokenDeletedFromConsumerApp is required.
	TokenDeletedFromConsumerApp bool `json:"token_deleted_from_consumer_app"`
}

// WalletDevice is the device of a wallet token; every field is optional.
type WalletDevice struct {
	// DeviceID may be masked.
	DeviceID string `json:"device_id,omitzero" about:"It may be masked."`
	// DeviceName is free text.
	DeviceName string `json:"device_name,omitzero"`
	// SecureElementID names the chip.
	SecureElementID string `json:"secure_element_id,omitzero"`
	// DeviceType is one of the values of 2.9.
	DeviceType string `json:"device_type,omitzero" rule:"in=unknown|watch1|smartphone_with_fixed_secure_element|tablet_or_ereader_with_fixed_secure_element|smartphone_with_payment_app_in_host_processor|tablet_or_ereader_with_payment_app_in_tee|watch_with_payment_app_in_tee|watch_with_payment_app_in_host_processor|phone|tablet|watch2|sticker|personal_computer|device_peripheral|tag|jewelry|fashion_accessory|garment|domestic_appliance|vehicle|media_or_gaming_device|undefined"`
}
