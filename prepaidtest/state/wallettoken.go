package state

// WalletToken is a card in a mobile wallet (2.9), with the values used on the wire.
type WalletToken struct {
	// StorageTechnology is where the wallet keeps the token.
	StorageTechnology string `json:"storage_technology"`
	// Device is the token's device.
	Device WalletDevice `json:"device"`
	// LastCommentID is required.
	LastCommentID string `json:"last_comment_id"`
	// TokenType is the kind of token.
	TokenType string `json:"token_type"`
	// PaymentAppInstanceID is optional.
	PaymentAppInstanceID string `json:"payment_app_instance_id,omitzero"`
	// WalletID is optional.
	WalletID string `json:"wallet_id,omitzero"`
	// TokenRequestorName is optional.
	TokenRequestorName string `json:"token_requestor_name,omitzero"`
	// TokenRequestorID names the wallet provider's service.
	TokenRequestorID string `json:"token_requestor_id"`
	// TokenAssuranceLevel is "0" when not authenticated.
	TokenAssuranceLevel string `json:"token_assurance_level"`
	// ProvisioningStatusDescription is optional.
	ProvisioningStatusDescription string `json:"provisioning_status_description,omitzero"`
	// ProvisioningStatusCode is optional.
	ProvisioningStatusCode string `json:"provisioning_status_code,omitzero"`
	// Suspenders lists the parties that suspended the token.
	Suspenders []string `json:"suspenders,omitzero"`
	// CurrentStatusDateTime is a date-time.
	CurrentStatusDateTime string `json:"current_status_date_time"`
	// CurrentStatusCode is unknown, unmapped, active, suspended or deleted.
	CurrentStatusCode string `json:"current_status_code"`
	// CurrentStatusDescription is required.
	CurrentStatusDescription string `json:"current_status_description"`
	// CorrelationID is optional.
	CorrelationID string `json:"correlation_id,omitzero"`
	// ActivationCodeExpirationDateTime is an optional date-time.
	ActivationCodeExpirationDateTime string `json:"activation_code_expiration_date_time,omitzero"`
	// FinalTokenizationDecision is optional.
	FinalTokenizationDecision string `json:"final_tokenization_decision,omitzero"`
	// TokenActivatedDateTime is an optional date-time.
	TokenActivatedDateTime string `json:"token_activated_date_time,omitzero"`
	// DigitizationRequestDateTime is an optional date-time.
	DigitizationRequestDateTime string `json:"digitization_request_date_time,omitzero"`
	// AccountPANSequenceNumber is from 000 to 099.
	AccountPANSequenceNumber string `json:"account_pan_sequence_number"`
	// ExpirationDate has the form mmyy.
	ExpirationDate string `json:"expiration_date"`
	// TokenSuffix is the last four digits.
	TokenSuffix string `json:"token_suffix,omitzero"`
	// PrimaryAccountNumberUniqueReference is optional.
	PrimaryAccountNumberUniqueReference string `json:"primary_account_number_unique_reference,omitzero"`
	// TokenUniqueReference names the token.
	TokenUniqueReference string `json:"token_unique_reference"`
	// TokenDeletedFromConsumerApp is required.
	TokenDeletedFromConsumerApp bool `json:"token_deleted_from_consumer_app"`
}

// WalletDevice is the device of a wallet token; every field is optional.
type WalletDevice struct {
	// DeviceID may be masked.
	DeviceID string `json:"device_id,omitzero"`
	// DeviceName is free text.
	DeviceName string `json:"device_name,omitzero"`
	// SecureElementID names the chip.
	SecureElementID string `json:"secure_element_id,omitzero"`
	// DeviceType is one of the values of 2.9.
	DeviceType string `json:"device_type,omitzero"`
}
