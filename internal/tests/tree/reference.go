package tree

import "strings"

// Operation describes one operation, independently of reference/openapi.yaml: it is written from the text of the reference. Tests compare
// it with that document and the fixtures. Spaces separate names. A name inside an object follows the object's name and a dot.
type Operation struct {
	// Contract has the safety class, the lane, the success statuses and the rule of the body, in the words of the document.
	Contract string
	// Query, Request and Response list all members.
	Query, Request, Response string
	// Required lists the members that the reference requires in the response. Empty means that all members are
	// required: some tables of the reference mark no member (simulator, webhooks).
	Required string
}

// under returns an object's name, then its members, each after the object's name and a dot.
func under(object, members string) string {
	var b strings.Builder
	b.WriteString(object)
	for member := range strings.FieldsSeq(members) {
		b.WriteString(" " + object + "." + member)
	}
	return b.String() + " "
}

const (
	referenceAddress = "address_line1 address_line2 city state country postcode "
	referenceStatus  = `balance card_number company_id external_account_id plastic_expiry product_type status
		is_plastic_enabled `
	referenceReduced = referenceStatus + "first_transaction_occurred_at last_transaction_occurred_at "
	referenceItem    = `id parent_id account_id type type_description amount amount_currency fee_amount fee_amount_currency
		running_balance_amount running_balance_amount_currency occurred_at card_acceptor_id terminal_id acquirer_id
		merchant_category_code reference`
	referenceHead    = "default_action description "
	referenceFunding = `amount account_id merchant_name_location originating_transaction currency card_acceptor_id
		correlation_id merchant_category terminal_id acquirer_id `
	referenceCleared = "transaction_type account_id amount acquirer_id merchant_id terminal_id mcc authorization_id "
	referenceLocated = "bank_name location location_code currency_code "
	referenceHook    = "uri scope filter_spec enabled reliability_mode hmac_key_id "
	referenceStored  = referenceHook + "id last_undeliverable last_undeliverable_timestamp"
	referenceSealed  = `device_id ip_address operation_id encrypted_data public_key_fingerprint encrypted_key
		oaep_hashing_algorithm iv`
	referencePages = "page_number page_size "
)

var (
	referencePersonal = `title first_name middle_name last_name sex mobile_number phone_number date_of_birth
		email_address driver_licence_number ` +
		under("primary_address", referenceAddress+"address_line3") + under("alternate_address", referenceAddress) +
		under("passport", "passport_number passport_expiry passport_issuing_country")
	referenceFreeText = under("free_text", `free_text1 free_text2 free_text3 free_text4 free_text5 free_text6 free_text7
		free_text8 free_int1 free_int2 free_dec1 free_dec2`)
	referencePortal    = under("portal_identifier", "client_id program_id cardholder_id")
	referenceUngrouped = referenceReduced + `account_id account_expiry account_type display_name name_on_card
		is_compliant client_id client_account_key ` + referencePortal
	referenceSearch = referenceUngrouped + `bpay_biller_code bpay_reference_number direct_entry_bsb
		direct_entry_account_number ` + under("personal", referencePersonal) + referenceFreeText
	referenceToken = `storage_technology last_comment_id token_type payment_app_instance_id wallet_id
		token_requestor_name token_requestor_id token_assurance_level provisioning_status_description
		provisioning_status_code suspenders current_status_date_time current_status_code current_status_description
		correlation_id activation_code_expiration_date_time final_tokenization_decision token_activated_date_time
		digitization_request_date_time account_pan_sequence_number expiration_date token_suffix
		primary_account_number_unique_reference token_unique_reference token_deleted_from_consumer_app ` +
		under("device", "device_id device_name secure_element_id device_type")
	referenceTerminals = under("terminals", "acquirer_id card_acceptor_id terminal_id card_acceptor_name_location description id")
	referenceMerchants = under("merchants", "acquirer_id card_acceptor_id description id")
	referenceCategory  = under("categories", "merchant_category_code")
)

const (
	requiredAccount = `account_id balance card_number company_id external_account_id plastic_expiry account_expiry product_type
		status is_plastic_enabled account_type `
	requiredAddress = "primary_address primary_address.state primary_address.country "
	requiredPerson  = "first_name last_name date_of_birth " + requiredAddress +
		"passport.passport_number passport.passport_expiry passport.passport_issuing_country "
	requiredWallet = `storage_technology device last_comment_id token_type token_requestor_id token_assurance_level
		current_status_date_time current_status_code current_status_description account_pan_sequence_number
		expiration_date token_unique_reference token_deleted_from_consumer_app`
	requiredHook = "id uri scope filter_spec enabled reliability_mode hmac_key_id"
)

// Reference returns the operations by name.
func Reference() map[string]Operation {
	inside := func(object, members string) string { return strings.TrimPrefix(under(object, members), object) } // for an optional object
	account := requiredAccount + inside("personal", requiredPerson) + inside("portal_identifier", "client_id program_id cardholder_id")
	accounts := account + strings.TrimPrefix(referenceFreeText, "free_text")
	terminals := inside("terminals", "acquirer_id card_acceptor_id terminal_id id")
	merchants := inside("merchants", "acquirer_id card_acceptor_id description id")
	categories := inside("categories", "merchant_category_code")
	return map[string]Operation{
		"Token":            {Contract: "token token 200 json", Response: "access_token token_type expires_in"},
		"Reporting.Start":  {Contract: "never call 200 text", Query: "include_column_headers"},
		"Reporting.Result": {Contract: "read call 200,204 json", Response: "reportdata totalrecords"},

		"Policy.MerchantCategoryCodes": {Contract: "read call 200,204 json", Query: referencePages, Response: "code description"},
		"Policy.Restrictions": {
			Contract: "read call 200 json",
			Response: "type " + under("terminal_rules", "rule_type acquirer acceptor terminal") +
				under("category_rules", "rule_type category_code"),
		},
		"Policy.Get": {
			Contract: "read call 200 json",
			Response: referenceHead + referenceTerminals + referenceCategory + referenceMerchants,
			Required: referenceHead + terminals + merchants + categories,
		},
		"Policy.Categories":       {Contract: "read call 200 json", Response: referenceHead + referenceCategory, Required: referenceHead + categories},
		"Policy.Merchants":        {Contract: "read call 200 json", Response: referenceHead + referenceMerchants, Required: referenceHead + merchants},
		"Policy.Terminals":        {Contract: "read call 200 json", Response: referenceHead + referenceTerminals, Required: referenceHead + terminals},
		"Policy.ChangeCategories": {Contract: "never call 200,204 none", Request: "reason require_approval add remove"},
		"Policy.ChangeMerchants": {
			Contract: "never call 200,204 none",
			Request: "reason require_approval " +
				under("add", "acquirer_id card_acceptor_id description") + under("remove", "acquirer_id card_acceptor_id"),
		},
		"Policy.ChangeTerminals": {
			Contract: "never call 200,204 none",
			Request: "reason require_approval " +
				under("add", "acquirer_id card_acceptor_id terminal_id card_acceptor_name_location description") +
				under("remove", "acquirer_id card_acceptor_id terminal_id"),
		},

		"Accounts.Search": {
			Contract: "read call 200,204 json",
			Query:    "client_id client_account_key with_personal with_directentry with_freetext with_bpay " + referencePages,
			Response: referenceSearch,
			Required: accounts,
		},
		"Accounts.Create": {
			Contract: "never call 201 json",
			Request: `company_id initial_load_amount name_on_card client_account_key display_name initiating_user_id
				is_plastic_enabled plastic_expiry mdes_config_id account_expiry gift_card_expiry
				corresponding_account_id card_holder_type request_type account_id_to_replace ` +
				under("registration", referencePersonal) + referencePortal,
			Response: referenceReduced,
			Required: referenceStatus,
		},
		"Accounts.SearchCompany": {
			Contract: "read call 200,204 json",
			Query:    "client_id program_id status first_name last_name mobile with_personal " + referencePages,
			Response: referenceUngrouped + under("personal", referencePersonal),
			Required: account,
		},
		"Accounts.Get": {
			Contract: "read call 200 json",
			Query: `with_personal with_directentry with_freetext with_bpay with_tokeninfo with_correspondingaccountid
				with_cardholdertype`,
			Response: referenceSearch + "mdes_config_id corresponding_account_id card_holder_type",
			Required: accounts,
		},
		"Accounts.Update": {
			Contract: "never call 200,204 none",
			Request: "client_account_key display_name initiating_user_id " +
				under("registration", referencePersonal) + referencePortal,
		},
		"Accounts.Transactions":      {Contract: "read call 200,204 json", Query: "start_date end_date " + referencePages, Response: referenceItem},
		"Accounts.Summary":           {Contract: "read call 200 json", Response: referenceStatus},
		"Accounts.SetStatus":         {Contract: "repeated call 200,204 none", Request: "status"},
		"Accounts.SetPlasticEnabled": {Contract: "repeated call 200,204 none", Request: "plastic_enabled initiating_user_id"},
		"Accounts.WalletTokens":      {Contract: "read call 200,204 json", Response: referenceToken, Required: requiredWallet},
		"Accounts.ProvisionWallet": {
			Contract: "never call 200 json",
			Request:  "token_unique_reference initiating_user_id nonce nonce_signature certificates",
			Response: `pan_last_four provider pruduct_type issuer_initiated_digitization_data activation_data
				encrypted_pass_data ephemeral_public_key ` + under("registration", referencePersonal),
			Required: `pan_last_four provider pruduct_type registration activation_data encrypted_pass_data
			ephemeral_public_key ` + under("registration", requiredPerson+"sex email_address"),
		},
		"Accounts.ExchangeKey": {Contract: "never call 200 data", Request: "application_id key_id ephemeral_key"},
		"Accounts.DirectEntryOut": {
			Contract: "keyed money 200 json",
			Request: "initiating_user_id request_id amount source_reference destination_reference bsb " +
				under("destination_account_info", "bsb account_number account_name"),
			Response: "transaction_id correlation_id",
		},
		"Accounts.Transfer": {
			Contract: "keyed money 200 refusal",
			Request: `initiator_username request_id amount source_reference destination_reference
				destination_account_id transaction_type`,
			Response: "transaction_id correlation_id",
			Required: "correlation_id",
		},

		"Funding.Redeem": {
			Contract: "never money 200 refusal",
			Request:  referenceFunding + "funding_exception clearing_adjustment",
			Response: "outcome transaction_id",
			Required: "outcome",
		},
		"Funding.Reverse": {
			Contract: "never money 200 refusal",
			Request:  "account_id originating_transaction correlation_id parent_transaction_id clearing_adjustment",
			Response: "outcome transaction_id",
			Required: "outcome",
		},
		"Funding.Refund": {
			Contract: "never money 200 refusal",
			Request:  referenceFunding + "parent_transaction_id",
			Response: "outcome transaction_id",
			Required: "outcome",
		},

		"Simulation.Transact": {
			Contract: "never call 200 refusal",
			Request:  strings.ReplaceAll(referenceCleared, "authorization_id", "") + referenceLocated,
			Response: "transaction_reference authorization_id success message",
		},
		"Simulation.Advise":       {Contract: "never call 200 refusal", Request: referenceCleared + referenceLocated, Response: "authorization_id success message"},
		"Simulation.Reverse":      {Contract: "never call 200 refusal", Request: referenceCleared + referenceLocated, Response: "authorization_id success message"},
		"Simulation.Clear":        {Contract: "never call 200 refusal", Request: referenceCleared, Response: "success message"},
		"Simulation.ReverseClear": {Contract: "never call 200 refusal", Request: referenceCleared, Response: "success message"},

		"PIN.Initiate": {Contract: "never call 200,201,202,204 any", Request: "eaid device_id ip_address communication_method"},
		"PIN.Validate": {Contract: "never call 200,201,202,204 any", Request: referenceSealed},
		"PIN.Execute":  {Contract: "never call 200,201,202,204 any", Request: referenceSealed},

		"Hooks.List":          {Contract: "read call 200,204 json", Query: referencePages, Response: referenceStored, Required: requiredHook},
		"Hooks.Get":           {Contract: "read call 200 json", Response: referenceStored, Required: requiredHook},
		"Hooks.Create":        {Contract: "never call 201 json", Request: referenceHook + "hmac_key_secret", Response: "id"},
		"Hooks.Update":        {Contract: "never call 200,204 none", Request: referenceHook + "hmac_key_secret"},
		"Hooks.Delete":        {Contract: "repeated call 204,200 none"},
		"Hooks.Undeliverable": {Contract: "read call 200,204 json", Query: referencePages, Response: "id hook_id timestamp type"},
		"Hooks.Dismiss":       {Contract: "never call 204,200 none", Request: "message_ids"},
	}
}
