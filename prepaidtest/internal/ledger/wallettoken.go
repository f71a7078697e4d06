package ledger

import (
	"time"
	"unicode/utf8"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// WalletToken is a card in a mobile wallet (2.9), with the values used on the wire. A seed document may omit required
// members: they are filled in.
type WalletToken struct {
	StorageTechnology                   string       `json:"storage_technology" rule:"in=unknown|device_memory|device_memory_protected_by_tpm|server|trusted_execution_environment|secure_element|virtual_execution_environment"`
	Device                              WalletDevice `json:"device" ref:"WalletDevice"`
	LastCommentID                       string       `json:"last_comment_id" seed:"min=1"`
	TokenType                           string       `json:"token_type" rule:"in=unknown|embedded_secure_element_token|master_card_cloud_based_payments_token|cof_token"`
	PaymentAppInstanceID                string       `json:"payment_app_instance_id,omitzero"`
	WalletID                            string       `json:"wallet_id,omitzero"`
	TokenRequestorName                  string       `json:"token_requestor_name,omitzero"`
	TokenRequestorID                    string       `json:"token_requestor_id" rule:"max=11" seed:"min=1"`
	TokenAssuranceLevel                 string       `json:"token_assurance_level" seed:"min=1" about:"0 means not authenticated, any other authenticated."`
	ProvisioningStatusDescription       string       `json:"provisioning_status_description,omitzero"`
	ProvisioningStatusCode              string       `json:"provisioning_status_code,omitzero" rule:"in=unknown|token_being_prepared|awaiting_cardholder_tc_acceptance|token_being_delivered|awaiting_activation|success|failed"`
	Suspenders                          []string     `json:"suspenders,omitzero"`
	CurrentStatusDateTime               string       `json:"current_status_date_time" rule:"date-time" about:"In UTC."`
	CurrentStatusCode                   string       `json:"current_status_code" rule:"in=unknown|unmapped|active|suspended|deleted"`
	CurrentStatusDescription            string       `json:"current_status_description" seed:"min=1"`
	CorrelationID                       string       `json:"correlation_id,omitzero"`
	ActivationCodeExpirationDateTime    string       `json:"activation_code_expiration_date_time,omitzero" rule:"date-time" about:"In UTC."`
	FinalTokenizationDecision           string       `json:"final_tokenization_decision,omitzero" rule:"in=unknown|digitisation_declined|digitisation_approved|digitisation_approved_prior_authentication_required"`
	TokenActivatedDateTime              string       `json:"token_activated_date_time,omitzero" rule:"date-time" about:"In UTC."`
	DigitizationRequestDateTime         string       `json:"digitization_request_date_time,omitzero" rule:"date-time" about:"In UTC."`
	AccountPANSequenceNumber            string       `json:"account_pan_sequence_number" rule:"sequence-number" about:"000 to 099."`
	ExpirationDate                      string       `json:"expiration_date" rule:"month-year" about:"Month and year: mmyy."`
	TokenSuffix                         string       `json:"token_suffix,omitzero" rule:"four-digits" about:"Last four digits."`
	PrimaryAccountNumberUniqueReference string       `json:"primary_account_number_unique_reference,omitzero"`
	TokenUniqueReference                string       `json:"token_unique_reference" rule:"token-reference"`
	TokenDeletedFromConsumerApp         bool         `json:"token_deleted_from_consumer_app"`
}

// WalletDevice is the device of a wallet token; every field is optional.
type WalletDevice struct {
	DeviceID        string `json:"device_id,omitzero" about:"It may be masked."`
	DeviceName      string `json:"device_name,omitzero"`
	SecureElementID string `json:"secure_element_id,omitzero"`
	DeviceType      string `json:"device_type,omitzero" rule:"in=unknown|watch1|smartphone_with_fixed_secure_element|tablet_or_ereader_with_fixed_secure_element|smartphone_with_payment_app_in_host_processor|tablet_or_ereader_with_payment_app_in_tee|watch_with_payment_app_in_tee|watch_with_payment_app_in_host_processor|phone|tablet|watch2|sticker|personal_computer|device_peripheral|tag|jewelry|fashion_accessory|garment|domestic_appliance|vehicle|media_or_gaming_device|undefined"`
}

// Rules implements wire.Named.
func (*WalletToken) Rules() map[string]func(wire.Value) wire.Value {
	return map[string]func(wire.Value) wire.Value{
		"sequence-number": func(v wire.Value) wire.Value { return v.Form(SequenceNumber()) },
		"month-year":      func(v wire.Value) wire.Value { return v.Form(MonthYear()) },
		"token-reference": func(v wire.Value) wire.Value { return v.Form(TokenReference()) },
	}
}

func isSequenceNumber(text string) bool {
	return len(text) == 3 && text[0] == '0' && wire.IsDigits(text)
}

// SequenceNumber is the form of account_pan_sequence_number.
func SequenceNumber() wire.Form {
	return wire.Form{Holds: isSequenceNumber, Rule: "must be from 000 to 099", Pattern: "^0[0-9]{2}$"}
}

// MonthYear is the form of expiration_date.
func MonthYear() wire.Form {
	return wire.Form{Holds: isMonthYear, Rule: "must have the form mmyy", Pattern: "^(0[1-9]|1[0-2])[0-9]{2}$"}
}

// TokenReference is the form of token_unique_reference.
func TokenReference() wire.Form {
	return wire.Form{Holds: IsTokenReference, Rule: "must have 48 characters", Pattern: `^[\s\S]{48}$`}
}

func isMonthYear(text string) bool {
	_, err := time.Parse("0106", text)
	return err == nil
}

// IsTokenReference checks the length of token_unique_reference.
func IsTokenReference(text string) bool { return utf8.RuneCountInString(text) == 48 }
