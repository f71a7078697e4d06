package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// The members of the reference's tables, written down from its text: what the fixtures hold is compared with them,
// so that none is forgotten and none is invented.

// under puts an object's name before its members.
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

// referenceOperation is what the reference says of one operation. Names are parted by spaces.
type referenceOperation struct{ query, request, response string }

func referenceOperations() map[string]referenceOperation {
	return map[string]referenceOperation{
		"Token":            {response: "access_token token_type expires_in"},
		"Reporting.Start":  {query: "include_column_headers"},
		"Reporting.Result": {response: "reportdata totalrecords"},

		"Policy.MerchantCategoryCodes": {query: referencePages, response: "code description"},
		"Policy.Restrictions": {response: "type " + under("terminal_rules", "rule_type acquirer acceptor terminal") +
			under("category_rules", "rule_type category_code")},
		"Policy.Get":              {response: referenceHead + referenceTerminals + referenceCategory + referenceMerchants},
		"Policy.Categories":       {response: referenceHead + referenceCategory},
		"Policy.Merchants":        {response: referenceHead + referenceMerchants},
		"Policy.Terminals":        {response: referenceHead + referenceTerminals},
		"Policy.ChangeCategories": {request: "reason require_approval add remove"},
		"Policy.ChangeMerchants": {request: "reason require_approval " +
			under("add", "acquirer_id card_acceptor_id description") + under("remove", "acquirer_id card_acceptor_id")},
		"Policy.ChangeTerminals": {request: "reason require_approval " +
			under("add", "acquirer_id card_acceptor_id terminal_id card_acceptor_name_location description") +
			under("remove", "acquirer_id card_acceptor_id terminal_id")},

		"Accounts.Search": {
			query:    "client_id client_account_key with_personal with_directentry with_freetext with_bpay " + referencePages,
			response: referenceSearch,
		},
		"Accounts.Create": {
			request: `company_id initial_load_amount name_on_card client_account_key display_name initiating_user_id
				is_plastic_enabled plastic_expiry mdes_config_id account_expiry gift_card_expiry
				corresponding_account_id card_holder_type request_type account_id_to_replace ` +
				under("registration", referencePersonal) + referencePortal,
			response: referenceReduced,
		},
		"Accounts.SearchCompany": {
			query:    "client_id program_id status first_name last_name mobile with_personal " + referencePages,
			response: referenceUngrouped + under("personal", referencePersonal),
		},
		"Accounts.Get": {
			query: `with_personal with_directentry with_freetext with_bpay with_tokeninfo with_correspondingaccountid
				with_cardholdertype`,
			response: referenceSearch + "mdes_config_id corresponding_account_id card_holder_type",
		},
		"Accounts.Update": {request: "client_account_key display_name initiating_user_id " +
			under("registration", referencePersonal) + referencePortal},
		"Accounts.Transactions":      {query: "start_date end_date " + referencePages, response: referenceItem},
		"Accounts.Summary":           {response: referenceStatus},
		"Accounts.SetStatus":         {request: "status"},
		"Accounts.SetPlasticEnabled": {request: "plastic_enabled initiating_user_id"},
		"Accounts.WalletTokens":      {response: referenceToken},
		"Accounts.ProvisionWallet": {
			request: "token_unique_reference initiating_user_id nonce nonce_signature certificates",
			response: `pan_last_four provider pruduct_type issuer_initiated_digitization_data activation_data
				encrypted_pass_data ephemeral_public_key ` + under("registration", referencePersonal),
		},
		"Accounts.ExchangeKey": {request: "application_id key_id ephemeral_key"},
		"Accounts.DirectEntryOut": {
			request: "initiating_user_id request_id amount source_reference destination_reference bsb " +
				under("destination_account_info", "bsb account_number account_name"),
			response: "transaction_id correlation_id",
		},
		"Accounts.Transfer": {
			request: `initiator_username request_id amount source_reference destination_reference
				destination_account_id transaction_type`,
			response: "transaction_id correlation_id",
		},

		"Funding.Redeem": {
			request: referenceFunding + "funding_exception clearing_adjustment", response: "outcome transaction_id",
		},
		"Funding.Reverse": {
			request:  "account_id originating_transaction correlation_id parent_transaction_id clearing_adjustment",
			response: "outcome transaction_id",
		},
		"Funding.Refund": {request: referenceFunding + "parent_transaction_id", response: "outcome transaction_id"},

		"Simulation.Transact": {
			request:  strings.ReplaceAll(referenceCleared, "authorization_id", "") + referenceLocated,
			response: "transaction_reference authorization_id success message",
		},
		"Simulation.Advise":       {request: referenceCleared + referenceLocated, response: "authorization_id success message"},
		"Simulation.Reverse":      {request: referenceCleared + referenceLocated, response: "authorization_id success message"},
		"Simulation.Clear":        {request: referenceCleared, response: "success message"},
		"Simulation.ReverseClear": {request: referenceCleared, response: "success message"},

		"PIN.Initiate": {request: "eaid device_id ip_address communication_method"},
		"PIN.Validate": {request: referenceSealed},
		"PIN.Execute":  {request: referenceSealed},

		"Hooks.List":          {query: referencePages, response: referenceStored},
		"Hooks.Get":           {response: referenceStored},
		"Hooks.Create":        {request: referenceHook + "hmac_key_secret", response: "id"},
		"Hooks.Update":        {request: referenceHook + "hmac_key_secret"},
		"Hooks.Delete":        {},
		"Hooks.Undeliverable": {query: referencePages, response: "id hook_id timestamp type"},
		"Hooks.Dismiss":       {request: "message_ids"},
	}
}

// TestFixturesHoldEveryMember compares the members of the tables with those of the files, in both directions.
func TestFixturesHoldEveryMember(t *testing.T) {
	t.Parallel()
	type members struct{ query, request, response map[string]bool }
	held := map[string]members{}
	for _, f := range ReadFixtures(t) {
		if _, ok := held[f.Operation]; !ok {
			held[f.Operation] = members{map[string]bool{}, map[string]bool{}, map[string]bool{}}
		}
		m := held[f.Operation]
		for name := range f.Request.Query {
			m.query[name] = true
		}
		collectMembers(t, f.Request.Body, m.request)
		switch {
		case f.Response.Status >= 300 || f.Response.Status == 204, strings.HasPrefix(f.Operation, "PIN."),
			strings.Contains(f.Outcome, "unknown-values"):
			// Error bodies, bodies that the reference does not show, and those meant to hold more than it lists.
		default:
			collectMembers(t, f.Response.Body, m.response)
		}
	}
	reference := referenceOperations()
	for _, row := range tree.Operations(t) {
		require.Contains(t, reference, row.Name)
	}
	for name, want := range reference {
		got := held[name]
		maps.DeleteFunc(got.response, func(member string, _ bool) bool { // the payload of a message is not shown
			return name == "Hooks.Undeliverable" && strings.HasPrefix(member, "transaction")
		})
		for _, part := range []struct {
			what, want string
			got        map[string]bool
		}{{"query", want.query, got.query}, {"request", want.request, got.request}, {"response", want.response, got.response}} {
			listed := slices.Compact(slices.Sorted(strings.FieldsSeq(part.want)))
			require.Equal(t, listed, slices.Sorted(maps.Keys(part.got)), "%s: %s", name, part.what)
		}
	}
}

// collectMembers adds the names of all members in a JSON value, those of inner objects after their object's name.
func collectMembers(t *testing.T, data json.RawMessage, into map[string]bool) {
	t.Helper()
	if data == nil {
		return
	}
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		switch value := value.(type) {
		case []any:
			for _, element := range value {
				walk(prefix, element)
			}
		case map[string]any:
			for name, inner := range value {
				into[prefix+name] = true
				walk(prefix+name+".", inner)
			}
		}
	}
	walk("", fixtureJSON(t, data))
}
