package prepaidtest

import "time"

// bind reads a wallet token (2.9) of a document. Required fields that are left out are filled in later.
func (t *WalletToken) bind(b *binder) {
	dateTime := func(name string, into *string) {
		var at time.Time
		if b.dateTime(name, &at).usable {
			*into = stamp(at).String()
		}
	}
	b.string("storage_technology", &t.StorageTechnology).oneOf(storageTechnologies()...)
	b.object("device", t.Device.bind)
	b.string("last_comment_id", &t.LastCommentID).min(1)
	b.string("token_type", &t.TokenType).oneOf(tokenTypes()...)
	b.string("payment_app_instance_id", &t.PaymentAppInstanceID)
	b.string("wallet_id", &t.WalletID)
	b.string("token_requestor_name", &t.TokenRequestorName)
	b.string("token_requestor_id", &t.TokenRequestorID).min(1).max(11)
	b.string("token_assurance_level", &t.TokenAssuranceLevel).min(1)
	b.string("provisioning_status_description", &t.ProvisioningStatusDescription)
	b.string("provisioning_status_code", &t.ProvisioningStatusCode).oneOf(provisioningStatuses()...)
	b.strings("suspenders", &t.Suspenders)
	dateTime("current_status_date_time", &t.CurrentStatusDateTime)
	b.string("current_status_code", &t.CurrentStatusCode).oneOf("unknown", "unmapped", "active", "suspended", "deleted")
	b.string("current_status_description", &t.CurrentStatusDescription).min(1)
	b.string("correlation_id", &t.CorrelationID)
	dateTime("activation_code_expiration_date_time", &t.ActivationCodeExpirationDateTime)
	b.string("final_tokenization_decision", &t.FinalTokenizationDecision).oneOf(tokenizationDecisions()...)
	dateTime("token_activated_date_time", &t.TokenActivatedDateTime)
	dateTime("digitization_request_date_time", &t.DigitizationRequestDateTime)
	b.string("account_pan_sequence_number", &t.AccountPANSequenceNumber).form(isSequenceNumber, "must be from 000 to 099")
	b.string("expiration_date", &t.ExpirationDate).form(isMonthYear, "must have the form mmyy")
	b.string("token_suffix", &t.TokenSuffix).form(isCategory, "must have four digits")
	b.string("primary_account_number_unique_reference", &t.PrimaryAccountNumberUniqueReference)
	b.string("token_unique_reference", &t.TokenUniqueReference).form(isTokenReference, "must have 48 characters")
	b.boolean("token_deleted_from_consumer_app", &t.TokenDeletedFromConsumerApp)
}

func (d *WalletDevice) bind(b *binder) {
	b.string("device_id", &d.DeviceID)
	b.string("device_name", &d.DeviceName)
	b.string("secure_element_id", &d.SecureElementID)
	b.string("device_type", &d.DeviceType).oneOf(deviceTypes()...)
}

func isSequenceNumber(text string) bool { return len(text) == 3 && text[0] == '0' && isDigits(text) }

func isMonthYear(text string) bool {
	_, err := time.Parse("0106", text)
	return err == nil
}

func storageTechnologies() []string {
	return []string{
		"unknown", "device_memory", "device_memory_protected_by_tpm", "server", "trusted_execution_environment", "secure_element",
		"virtual_execution_environment",
	}
}

func tokenTypes() []string {
	return []string{"unknown", "embedded_secure_element_token", "master_card_cloud_based_payments_token", "cof_token"}
}

func provisioningStatuses() []string {
	return []string{
		"unknown", "token_being_prepared", "awaiting_cardholder_tc_acceptance", "token_being_delivered", "awaiting_activation", "success",
		"failed",
	}
}

func tokenizationDecisions() []string {
	return []string{
		"unknown", "digitisation_declined", "digitisation_approved", "digitisation_approved_prior_authentication_required",
	}
}

func deviceTypes() []string {
	return []string{
		"unknown", "watch1", "smartphone_with_fixed_secure_element", "tablet_or_ereader_with_fixed_secure_element",
		"smartphone_with_payment_app_in_host_processor", "tablet_or_ereader_with_payment_app_in_tee", "watch_with_payment_app_in_tee",
		"watch_with_payment_app_in_host_processor", "phone", "tablet", "watch2", "sticker", "personal_computer", "device_peripheral", "tag",
		"jewelry", "fashion_accessory", "garment", "domestic_appliance", "vehicle", "media_or_gaming_device", "undefined",
	}
}
