package openapi

import "encoding/json"

// example is the body of a request that the emulator accepts if the accounts and other objects in it exist.
func example(operation string) json.RawMessage {
	const (
		registration = `{
			"title": "Ms", "first_name": "Ada", "last_name": "Lovelace", "sex": "F", "date_of_birth": "1990-05-01T00:00:00Z",
			"mobile_number": "+61400000000", "email_address": "ada@example.com",
			"primary_address": {"address_line1": "1 Example Street", "city": "Sydney", "state": "NSW", "country": "AU", "postcode": "2000"}}`
		merchant = `"amount": 12.50, "account_id": "emp-1", "merchant_name_location": "CAFE SYDNEY AU", "originating_transaction": 1001,
			"currency": "036", "card_acceptor_id": "M0000001", "correlation_id": "purchase-1001", "merchant_category": "5812",
			"terminal_id": "T0000001", "acquirer_id": "1"`
		simulated = `"transaction_type": "Purchase", "account_id": "emp-1", "amount": 12.50, "acquirer_id": "1", "merchant_id": "M0000001",
			"terminal_id": "T0000001", "mcc": "5812"`
		place  = simulated + `, "bank_name": "Example Bank", "location": "Sydney", "location_code": "2000", "currency_code": "AUD"`
		linked = `, "authorization_id": "as transact returned it"`
		sealed = `{"device_id": "phone-1", "ip_address": "192.0.2.1", "operation_id": "0a1b2c3d-0000-4000-8000-000000000003",
			"encrypted_data": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "public_key_fingerprint": "aabbccdd",
			"encrypted_key": "00112233", "oaep_hashing_algorithm": "SHA256", "iv": "000102030405060708090a0b0c0d0e0f"}`
	)
	return map[string]json.RawMessage{
		"issueToken": json.RawMessage(`{"grant_type": "client_credentials"}`),
		"changePolicyCategories": json.RawMessage(
			`{"reason": "No gambling", "require_approval": false, "add": [7995], "remove": [5812]}`),
		"changePolicyMerchants": json.RawMessage(`{"reason": "Canteen only",
			"add": [{"acquirer_id": 1, "card_acceptor_id": "M0000001", "description": "Canteen"}],
			"remove": [{"acquirer_id": 1, "card_acceptor_id": "M0000002"}]}`),
		"changePolicyTerminals": json.RawMessage(`{"reason": "One till",
			"add": [{"acquirer_id": 1, "card_acceptor_id": "M0000001", "terminal_id": "T0000001",
				"card_acceptor_name_location": "CAFE SYDNEY AU", "description": "Till 1"}],
			"remove": [{"acquirer_id": 1, "card_acceptor_id": "M0000001", "terminal_id": "T0000002"}]}`),
		"createAccount": json.RawMessage(`{"company_id": 42, "initial_load_amount": 100, "client_account_key": "employee-3",
			"name_on_card": "ADA.LOVELACE", "registration": ` + registration + `}`),
		"updateAccount":     json.RawMessage(`{"display_name": "Ada", "registration": ` + registration + `}`),
		"setAccountStatus":  json.RawMessage(`{"status": "lost_or_stolen"}`),
		"setPlasticEnabled": json.RawMessage(`{"plastic_enabled": false}`),
		"provisionWallet":   json.RawMessage(`{"initiating_user_id": "support-1"}`),
		"exchangeKey": json.RawMessage(`{"application_id": "0a1b2c3d-0000-4000-8000-000000000001",
			"key_id": "0a1b2c3d-0000-4000-8000-000000000002", "ephemeral_key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}`),
		"directEntryOut": json.RawMessage(`{"request_id": "payout-2026-11-0001", "amount": 25.50, "source_reference": "Payout 1",
			"destination_reference": "Salary", "destination_account_info": {"bsb": "062000", "account_number": "12345678", "account_name": "Ada Lovelace"},
			"bsb": "062000"}`),
		"transfer": json.RawMessage(`{"request_id": "transfer-2026-11-0001", "amount": 10, "source_reference": "To emp-2",
			"destination_reference": "From emp-1", "destination_account_id": "emp-2", "transaction_type": 2950}`),
		"redeemFunding": json.RawMessage(`{` + merchant + `, "funding_exception": "no_exception", "clearing_adjustment": false}`),
		"reverseFunding": json.RawMessage(`{"account_id": "emp-1", "originating_transaction": 1002, "correlation_id": "reversal-1002",
			"parent_transaction_id": 1, "clearing_adjustment": false}`),
		"refundFunding":        json.RawMessage(`{` + merchant + `, "parent_transaction_id": 1}`),
		"simulateTransact":     json.RawMessage(`{` + place + `}`),
		"simulateAdvice":       json.RawMessage(`{` + place + linked + `}`),
		"simulateReverse":      json.RawMessage(`{` + place + linked + `}`),
		"simulateClear":        json.RawMessage(`{` + simulated + linked + `}`),
		"simulateReverseClear": json.RawMessage(`{` + simulated + linked + `}`),
		"initiatePIN": json.RawMessage(
			`{"eaid": "emp-1", "device_id": "phone-1", "ip_address": "192.0.2.1", "communication_method": "sms"}`),
		"validatePIN": json.RawMessage(sealed),
		"executePIN":  json.RawMessage(sealed),
		"createHook": json.RawMessage(`{"uri": "https://partner.example/hooks", "scope": [42], "filter_spec": "*", "enabled": false,
			"reliability_mode": "store_undeliverable", "hmac_key_id": "key-1",
			"hmac_key_secret": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}`),
		"updateHook":           json.RawMessage(`{"enabled": false}`),
		"dismissUndeliverable": json.RawMessage(`{"message_ids": ["as the list of undeliverable messages has it"]}`),
	}[operation]
}
