package conformance

import "slices"

// The rules below are the tables of section 2, and the two responses that only 4.4 describes.

func statuses() []string {
	return []string{
		"active", "pre_active", "inactive", "deactivated", "lost_or_stolen", "expired", "suspected_fraud", "closed",
		"inactive_pin_tries_exceeded", "vendor_inactive", "replaced",
	}
}

func errorShape() rule { return object("7", req(text, "error"), opt(text, "error_description")) }

func tokenShape() rule {
	return object("2.1", req(text, "access_token"), req(oneOf("bearer"), "token_type"), req(number, "expires_in"))
}

func productType() rule { return oneOf("reloadable", "gift", "loyalty") }

func reducedMembers() []member {
	return slices.Concat(
		req(number, "balance"), req(text, "card_number", "external_account_id"), req(integer, "company_id"),
		req(dateTime, "plastic_expiry"), req(productType(), "product_type"), req(oneOf(statuses()...), "status"),
		req(boolean, "is_plastic_enabled"),
	)
}

func statusShape() rule { return object("2.2", reducedMembers()) }

func createdShape() rule {
	return object("2.2", reducedMembers(), opt(dateTime, "first_transaction_occurred_at", "last_transaction_occurred_at"))
}

// updatedMembers are the members of an account that an update can have, in addition to the registration.
func updatedMembers() []member {
	return slices.Concat(
		opt(text, "display_name"),
		opt(matching(`^[\x20-\x7e]{0,255}$`, "at most 255 ASCII characters from 0x20 to 0x7E"), "client_account_key"),
		opt(object("2.7", req(text, "client_id", "program_id", "cardholder_id")), "portal_identifier"),
	)
}

// accountShape is an account with only the given optional groups.
func accountShape(groups ...[]member) rule {
	return object("2.2", append([][]member{
		reducedMembers(), req(text, "account_id"), req(dateTime, "account_expiry"), req(oneOf("proxy", "ledger"), "account_type"),
		opt(dateTime, "first_transaction_occurred_at", "last_transaction_occurred_at"),
		opt(text, "name_on_card", "client_id"), opt(boolean, "is_compliant"), updatedMembers(),
	}, groups...)...)
}

func addressShape(primary bool) rule {
	country := matching(`^[A-Z]{2}$`, "an ISO 3166 alpha-2 code")
	list := slices.Concat(
		opt(upTo(50), "address_line1", "address_line2", "city"),
		opt(matching(`^[0-9A-Za-z]{0,30}$`, "alphanumeric with at most 30 characters"), "postcode"),
	)
	if primary {
		return object("2.4", list, opt(upTo(50), "address_line3"), req(upTo(6), "state"), req(country, "country"))
	}
	return object("2.4", list, opt(upTo(6), "state"), opt(country, "country"))
}

func personalShape(section string, wallet bool) rule {
	contact := opt
	if wallet {
		contact = req
	}
	return object(section,
		opt(upTo(50), "title", "middle_name", "mobile_number", "phone_number"), req(upTo(50), "first_name"), req(text, "last_name"),
		req(addressShape(true), "primary_address"), opt(addressShape(false), "alternate_address"),
		contact(oneOf("M", "F"), "sex"), req(dateTime, "date_of_birth"),
		contact(matching(`^[^@\s]+@[^@\s]+$`, "an e-mail address"), "email_address"),
		opt(upTo(30), "driver_licence_number"),
		opt(object("2.5", req(upTo(10), "passport_number"), req(dateTime, "passport_expiry"),
			req(matching(`^[A-Z]{3}$`, "an ISO 3166 alpha-3 code"), "passport_issuing_country")), "passport"),
	)
}

func freeTextShape() rule {
	return object("2.6", req(text, "free_text1", "free_text2", "free_text3", "free_text4", "free_text5", "free_text6", "free_text7",
		"free_text8", "free_int1", "free_int2", "free_dec1", "free_dec2"))
}

func historyShape() rule {
	return object("2.8",
		req(text, "id", "parent_id", "account_id", "type_description", "card_acceptor_id", "terminal_id", "acquirer_id", "reference"),
		req(matching(`^[0-9]{4}$`, "four digits"), "type"), req(matching(`^[0-9]{4}$`, "four digits"), "merchant_category_code"),
		req(number, "amount", "fee_amount", "running_balance_amount"), req(dateTime, "occurred_at"),
		req(oneOf("AUD"), "amount_currency", "fee_amount_currency", "running_balance_amount_currency"),
	)
}

func walletTokenShape() rule {
	device := object("2.9", opt(text, "device_id", "device_name", "secure_element_id"), opt(oneOf("unknown", "watch1",
		"smartphone_with_fixed_secure_element", "tablet_or_ereader_with_fixed_secure_element",
		"smartphone_with_payment_app_in_host_processor", "tablet_or_ereader_with_payment_app_in_tee",
		"watch_with_payment_app_in_tee", "watch_with_payment_app_in_host_processor", "phone", "tablet", "watch2", "sticker",
		"personal_computer", "device_peripheral", "tag", "jewelry", "fashion_accessory", "garment", "domestic_appliance",
		"vehicle", "media_or_gaming_device", "undefined"), "device_type"))
	return object("2.9",
		req(oneOf("unknown", "device_memory", "device_memory_protected_by_tpm", "server", "trusted_execution_environment",
			"secure_element", "virtual_execution_environment"), "storage_technology"),
		req(device, "device"), req(text, "last_comment_id", "token_assurance_level", "current_status_description"),
		req(oneOf("unknown", "embedded_secure_element_token", "master_card_cloud_based_payments_token", "cof_token"), "token_type"),
		opt(text, "payment_app_instance_id", "wallet_id", "token_requestor_name", "provisioning_status_description", "correlation_id",
			"primary_account_number_unique_reference"),
		req(upTo(11), "token_requestor_id"),
		opt(oneOf("unknown", "token_being_prepared", "awaiting_cardholder_tc_acceptance", "token_being_delivered",
			"awaiting_activation", "success", "failed"), "provisioning_status_code"),
		opt(listOf(text), "suspenders"), req(dateTime, "current_status_date_time"),
		req(oneOf("unknown", "unmapped", "active", "suspended", "deleted"), "current_status_code"),
		opt(dateTime, "activation_code_expiration_date_time", "token_activated_date_time", "digitization_request_date_time"),
		opt(oneOf("unknown", "digitisation_declined", "digitisation_approved",
			"digitisation_approved_prior_authentication_required"), "final_tokenization_decision"),
		req(matching(`^0[0-9]{2}$`, "from 000 to 099"), "account_pan_sequence_number"),
		req(matching(`^(0[1-9]|1[0-2])[0-9]{2}$`, "of the form mmyy"), "expiration_date"),
		opt(matching(`^[0-9]{4}$`, "four digits"), "token_suffix"), req(matching(`^.{48}$`, "48 characters"), "token_unique_reference"),
		req(boolean, "token_deleted_from_consumer_app"),
	)
}

func walletShape() rule {
	return object("4.4", req(text, "pan_last_four", "provider"), req(productType(), "pruduct_type"),
		req(personalShape("4.4", true), "registration"),
		opt(text, "issuer_initiated_digitization_data", "activation_data", "encrypted_pass_data", "ephemeral_public_key"))
}

func movementShape() rule {
	return object("4.4", req(integer, "transaction_id"), req(text, "correlation_id"))
}

func categoryShape() rule { return object("2.10", req(integer, "code"), req(text, "description")) }

func restrictionsShape() rule {
	kind := req(oneOf("must_allow", "must_block"), "rule_type")
	return object("2.10", req(oneOf("open", "close"), "type"),
		req(listOf(object("2.10", kind, req(text, "acquirer", "acceptor", "terminal"))), "terminal_rules"),
		req(listOf(object("2.10", kind, req(text, "category_code"))), "category_rules"))
}

// policyShape is a policy with only the named lists.
func policyShape(lists ...string) rule {
	rules := map[string]rule{
		"terminals": object("2.10", req(integer, "acquirer_id", "id"), req(text, "card_acceptor_id", "terminal_id"),
			opt(text, "card_acceptor_name_location", "description")),
		"categories": object("2.10", req(text, "merchant_category_code")),
		"merchants":  object("2.10", req(integer, "acquirer_id", "id"), req(text, "card_acceptor_id", "description")),
	}
	all := slices.Concat(req(oneOf("allow", "deny"), "default_action"), req(text, "description"))
	for _, name := range lists {
		all = append(all, opt(listOf(rules[name]), name)...)
	}
	return object("2.10", all)
}

func reportShape() rule { return object("2.11", req(text, "reportdata"), req(number, "totalrecords")) }

func fundingShape() rule {
	return object("2.12", req(oneOf("approved", "declined"), "outcome"), opt(number, "transaction_id"))
}

func uuid() rule { return matching(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, "a UUID") }

func hookShape() rule {
	return object("2.13", req(uuid(), "id"), req(matching(`^https://`, "an HTTPS address"), "uri"), req(listOf(integer), "scope"),
		req(text, "filter_spec"), req(boolean, "enabled"), req(oneOf("none", "store_undeliverable"), "reliability_mode"),
		req(orNull(text), "last_undeliverable"), req(orNull(dateTime), "last_undeliverable_timestamp"),
		req(matching(`^[!-:<-~]{1,64}$`, "1 to 64 visible ASCII characters, no semicolon"), "hmac_key_id"))
}

func messageShape() rule {
	return openObject("2.14", req(text, "id", "type"), req(uuid(), "hook_id"), req(dateTime, "timestamp"))
}

// simulatedShape has the fields of 2.15 that the operation returns.
func simulatedShape(fields ...string) rule {
	return object("2.15", req(text, append(fields, "message")...), req(boolean, "success"))
}
