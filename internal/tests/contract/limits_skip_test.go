package contract

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// neverSkipped are the fields whose checks hold with Config.SkipValueChecks: further members, request ids, amounts, ids that are numbers,
// paging, keys, the PIN envelope, and values that have no form on the wire.
var neverSkipped = regexp.MustCompile(`^(extra(\.[a-z_]+)?|request_id|amount|initial_load_amount|parent_transaction_id|(add|remove)\[[0-9]+\](\.[a-z_]+)?|` +
	`paging\.[a-z]+|before|from|to|scope|message_ids|hmac_key_secret|ephemeral_key|` +
	`encrypted_data|encrypted_key|iv|oaep_hashing_algorithm|public_key_fingerprint)$`)

func isNeverSkipped(field, rule string) bool {
	ofTheService := strings.HasPrefix(field, "registration.") || strings.HasPrefix(field, "portal_identifier.") || strings.HasSuffix(field, "_reference")
	switch {
	case strings.Contains(rule, "calendar"), strings.Contains(rule, "UTF-8"):
		return true
	case strings.Contains(rule, "is required"):
		return !ofTheService
	}
	return neverSkipped.MatchString(field)
}

// Values that SkipValueChecks admits are sent as they are, and the rest of the client works as usual.
func TestSkipValueChecksSendsTheValues(t *testing.T) {
	t.Parallel()
	config := harness.ServiceConfig()
	config.SkipValueChecks = true
	params := validCreate()
	params.Cardholder = &prepaid.Cardholder{Sex: "X", PrimaryAddress: prepaid.Address{Country: "gb", Postcode: "SW1A 1AA"}, EmailAddress: "a..b@example.com"}
	params.NameOnCard, params.CardholderType = "A LEE", 3
	sent := sendsWith(t, config, "creation", harness.Calling("Accounts.Create", params))
	require.JSONEq(t, `{"company_id":7,"initial_load_amount":1.00,"name_on_card":"A LEE","card_holder_type":3,"registration":{
		"first_name":"","last_name":"","date_of_birth":"","sex":"X","email_address":"a..b@example.com",
		"primary_address":{"state":"","country":"gb","postcode":"SW1A 1AA"}}}`, sent.body)
	sent = sendsWith(t, config, "search", harness.Calling("Accounts.SearchCompanyPage", 7, prepaid.SearchCompanyParams{Status: "frozen", Include: []prepaid.Include{prepaid.IncludeBPay}}))
	require.Contains(t, sent.query, "status=frozen&with_bpay=1")
	sent = sendsWith(t, config, "policy change", harness.Calling("Policy.ChangeCategories", 7, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"12345"}}))
	require.JSONEq(t, `{"add":[12345]}`, sent.body)
}
