package ledger

import (
	"time"
	"unicode/utf8"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// WalletToken is a card in a mobile wallet (2.9), in wire words.
type WalletToken struct {
	StorageTechnology                   string       `json:"storage_technology"`
	Device                              WalletDevice `json:"device"`
	LastCommentID                       string       `json:"last_comment_id"`
	TokenType                           string       `json:"token_type"`
	PaymentAppInstanceID                string       `json:"payment_app_instance_id,omitzero"`
	WalletID                            string       `json:"wallet_id,omitzero"`
	TokenRequestorName                  string       `json:"token_requestor_name,omitzero"`
	TokenRequestorID                    string       `json:"token_requestor_id"`
	TokenAssuranceLevel                 string       `json:"token_assurance_level"`
	ProvisioningStatusDescription       string       `json:"provisioning_status_description,omitzero"`
	ProvisioningStatusCode              string       `json:"provisioning_status_code,omitzero"`
	Suspenders                          []string     `json:"suspenders,omitzero"`
	CurrentStatusDateTime               string       `json:"current_status_date_time"`
	CurrentStatusCode                   string       `json:"current_status_code"`
	CurrentStatusDescription            string       `json:"current_status_description"`
	CorrelationID                       string       `json:"correlation_id,omitzero"`
	ActivationCodeExpirationDateTime    string       `json:"activation_code_expiration_date_time,omitzero"`
	FinalTokenizationDecision           string       `json:"final_tokenization_decision,omitzero"`
	TokenActivatedDateTime              string       `json:"token_activated_date_time,omitzero"`
	DigitizationRequestDateTime         string       `json:"digitization_request_date_time,omitzero"`
	AccountPANSequenceNumber            string       `json:"account_pan_sequence_number"`
	ExpirationDate                      string       `json:"expiration_date"`
	TokenSuffix                         string       `json:"token_suffix,omitzero"`
	PrimaryAccountNumberUniqueReference string       `json:"primary_account_number_unique_reference,omitzero"`
	TokenUniqueReference                string       `json:"token_unique_reference"`
	TokenDeletedFromConsumerApp         bool         `json:"token_deleted_from_consumer_app"`
}

// WalletDevice is the device of a wallet token; every field is optional.
type WalletDevice struct {
	DeviceID        string `json:"device_id,omitzero"`
	DeviceName      string `json:"device_name,omitzero"`
	SecureElementID string `json:"secure_element_id,omitzero"`
	DeviceType      string `json:"device_type,omitzero"`
}

// Bind reads a wallet token (2.9) of a document. Required fields that are left out are filled in later.
func (t *WalletToken) Bind(b *wire.Reader) {
	dateTime := func(name string, into *string) {
		var at time.Time
		if b.DateTime(name, &at).Usable {
			*into = wire.DateTime(at).String()
		}
	}
	b.String("storage_technology", &t.StorageTechnology).OneOf(StorageTechnologies()...)
	b.Object("device", t.Device.bind)
	b.String("last_comment_id", &t.LastCommentID).Min(1)
	b.String("token_type", &t.TokenType).OneOf(TokenTypes()...)
	b.String("payment_app_instance_id", &t.PaymentAppInstanceID)
	b.String("wallet_id", &t.WalletID)
	b.String("token_requestor_name", &t.TokenRequestorName)
	b.String("token_requestor_id", &t.TokenRequestorID).Min(1).Max(11)
	b.String("token_assurance_level", &t.TokenAssuranceLevel).Min(1)
	b.String("provisioning_status_description", &t.ProvisioningStatusDescription)
	b.String("provisioning_status_code", &t.ProvisioningStatusCode).OneOf(ProvisioningStatuses()...)
	b.Strings("suspenders", &t.Suspenders)
	dateTime("current_status_date_time", &t.CurrentStatusDateTime)
	b.String("current_status_code", &t.CurrentStatusCode).OneOf(TokenStatuses()...)
	b.String("current_status_description", &t.CurrentStatusDescription).Min(1)
	b.String("correlation_id", &t.CorrelationID)
	dateTime("activation_code_expiration_date_time", &t.ActivationCodeExpirationDateTime)
	b.String("final_tokenization_decision", &t.FinalTokenizationDecision).OneOf(TokenizationDecisions()...)
	dateTime("token_activated_date_time", &t.TokenActivatedDateTime)
	dateTime("digitization_request_date_time", &t.DigitizationRequestDateTime)
	b.String("account_pan_sequence_number", &t.AccountPANSequenceNumber).Form(SequenceNumber())
	b.String("expiration_date", &t.ExpirationDate).Form(MonthYear())
	b.String("token_suffix", &t.TokenSuffix).Form(wire.FourDigits())
	b.String("primary_account_number_unique_reference", &t.PrimaryAccountNumberUniqueReference)
	b.String("token_unique_reference", &t.TokenUniqueReference).Form(TokenReference())
	b.Boolean("token_deleted_from_consumer_app", &t.TokenDeletedFromConsumerApp)
}

func (d *WalletDevice) bind(b *wire.Reader) {
	b.String("device_id", &d.DeviceID)
	b.String("device_name", &d.DeviceName)
	b.String("secure_element_id", &d.SecureElementID)
	b.String("device_type", &d.DeviceType).OneOf(DeviceTypes()...)
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

// StorageTechnologies are the values of storage_technology.
func StorageTechnologies() []string {
	return []string{
		"unknown", "device_memory", "device_memory_protected_by_tpm", "server", "trusted_execution_environment", "secure_element",
		"virtual_execution_environment",
	}
}

// TokenTypes are the values of token_type.
func TokenTypes() []string {
	return []string{"unknown", "embedded_secure_element_token", "master_card_cloud_based_payments_token", "cof_token"}
}

// ProvisioningStatuses are the values of provisioning_status_code.
func ProvisioningStatuses() []string {
	return []string{
		"unknown", "token_being_prepared", "awaiting_cardholder_tc_acceptance", "token_being_delivered", "awaiting_activation", "success",
		"failed",
	}
}

// TokenStatuses are the values of current_status_code.
func TokenStatuses() []string {
	return []string{"unknown", "unmapped", "active", "suspended", "deleted"}
}

// TokenizationDecisions are the values of final_tokenization_decision.
func TokenizationDecisions() []string {
	return []string{
		"unknown", "digitisation_declined", "digitisation_approved", "digitisation_approved_prior_authentication_required",
	}
}

// DeviceTypes are the values of device_type.
func DeviceTypes() []string {
	return []string{
		"unknown", "watch1", "smartphone_with_fixed_secure_element", "tablet_or_ereader_with_fixed_secure_element",
		"smartphone_with_payment_app_in_host_processor", "tablet_or_ereader_with_payment_app_in_tee", "watch_with_payment_app_in_tee",
		"watch_with_payment_app_in_host_processor", "phone", "tablet", "watch2", "sticker", "personal_computer", "device_peripheral", "tag",
		"jewelry", "fashion_accessory", "garment", "domestic_appliance", "vehicle", "media_or_gaming_device", "undefined",
	}
}

// IsTokenReference checks the length of token_unique_reference.
func IsTokenReference(text string) bool { return utf8.RuneCountInString(text) == 48 }
