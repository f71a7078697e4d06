package openapi

import (
	"reflect"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// field is a member of a response.
type field struct {
	name     string
	schema   *wire.Schema
	required bool
}

func must(name string, schema *wire.Schema, about string) field {
	schema.Description = about
	return field{name, schema, true}
}

func may(name string, schema *wire.Schema, about string) field {
	schema.Description = about
	return field{name, schema, false}
}

// object is an object in a response, with the section that describes it.
func object(section, about string, fields ...field) *wire.Schema {
	made := &wire.Schema{Type: wire.Types{"object"}, Description: about, Reference: section}
	for _, f := range fields {
		made.Properties.Put(f.name, f.schema)
		if f.required {
			made.Required = append(made.Required, f.name)
		}
	}
	return made
}

func text() *wire.Schema { return &wire.Schema{Type: wire.Types{"string"}} }
func word(values ...string) *wire.Schema {
	return &wire.Schema{Type: wire.Types{"string"}, Enum: values}
}
func form(pattern string) *wire.Schema {
	return &wire.Schema{Type: wire.Types{"string"}, Pattern: pattern}
}
func uuid() *wire.Schema                 { return &wire.Schema{Type: wire.Types{"string"}, Format: "uuid"} }
func dateTime() *wire.Schema             { return &wire.Schema{Type: wire.Types{"string"}, Format: "date-time"} }
func amount() *wire.Schema               { return ref("Amount") }
func integer() *wire.Schema              { return &wire.Schema{Type: wire.Types{"integer"}, Format: "int64"} }
func boolean() *wire.Schema              { return &wire.Schema{Type: wire.Types{"boolean"}} }
func array(of *wire.Schema) *wire.Schema { return &wire.Schema{Type: wire.Types{"array"}, Items: of} }
func ref(name string) *wire.Schema       { return &wire.Schema{Ref: "#/components/schemas/" + name} }
func own(s *wire.Schema, why string) *wire.Schema {
	s.Emulator = strings.TrimSpace(s.Emulator + " " + why)
	return s
}
func orNull(s *wire.Schema) *wire.Schema { s.Type = append(s.Type, "null"); return s }

// whole is an integer that the reference describes as a number.
func whole() *wire.Schema { return own(integer(), wholeNumber) }

const (
	wholeNumber = "An integer; the reference has a number."
	unmarked    = "The reference marks no member as required."
)

func productTypes() []string { return []string{"reloadable", "gift", "loyalty"} }

// responseSchemas are the bodies of responses, in the order of section 2.
func responseSchemas(with Options) wire.Ordered[*wire.Schema] {
	var all wire.Ordered[*wire.Schema]
	all.Put("Error", object("7", "The body of every error, and of the 204 of a report that is still processing.",
		must("error", text(), "Machine-readable code. x-error-codes of the response lists those known; there may be more."),
		may("error_description", text(), "For people."),
	))
	all.Put("Amount", &wire.Schema{
		Type: wire.Types{"number"}, Format: "decimal", GoType: "json.Number",
		Description: "A decimal number. Binary floating point does not hold each of them exactly.",
	})
	all.Put("Token", object("2.1", "",
		must("access_token", text(), ""),
		must("token_type", word("bearer"), ""),
		must("expires_in", whole(), "Seconds until the token expires."),
	))
	all = append(all, accountSchemas()...)
	all = append(all, historySchema(with))
	all = append(all, walletSchemas()...)
	all = append(all, provisioningSchema())
	all = append(all, policySchemas()...)
	all.Put("Report", object("2.11", "",
		must("reportdata", text(), "CSV text."),
		must("totalrecords", whole(), "Number of records."),
	))
	all.Put("FundingOutcome", object("2.12", "",
		must("outcome", word("approved", "declined"), ""),
		may("transaction_id", whole(), "Present only when approved."),
	))
	all = append(all, moneySchemas(with)...)
	all = append(all, hookSchemas(with)...)
	return append(all, simulationSchemas()...)
}

// stored is an object of a response. A struct describes its members.
func stored(section, about string, fields []wire.Field) *wire.Schema {
	made := object(section, about)
	for _, f := range fields {
		made.Properties.Put(f.Name, f.Schema())
		if f.Required {
			made.Required = append(made.Required, f.Name)
		}
	}
	return made
}

func accountSchemas() wire.Ordered[*wire.Schema] {
	account := stored("2.2", "A card account.", ledger.AccountFields(""))
	account.Properties.Get("card_holder_type").Values = cardholderTypes()
	return wire.Ordered[*wire.Schema]{
		{Name: "Account", Value: account},
		{Name: "CreatedAccount", Value: stored("2.2", "The account as its creation returns it.", ledger.AccountFields("created"))},
		{Name: "ReducedAccount", Value: stored("2.2", "The account as GET /accounts/{id}/status returns it.", ledger.AccountFields("status"))},
		{Name: "FreeText", Value: stored("2.6", "", wire.FieldsOf(reflect.TypeFor[state.FreeText]()))},
	}
}

func valued(s *wire.Schema, values wire.Ordered[string]) *wire.Schema {
	s.Values = values
	return s
}

func cardholderTypes() wire.Ordered[string] {
	return wire.Ordered[string]{{Name: "1", Value: "primary"}, {Name: "2", Value: "secondary"}}
}

func historySchema(with Options) wire.Member[*wire.Schema] {
	currency := func() *wire.Schema { return form("^[A-Z]{3}$") }
	var codes wire.Ordered[string]
	for _, code := range ledger.ReferenceCodes() {
		codes.Put(string(code), code.Describe())
	}
	others := make([]string, 0, len(ledger.OwnCodes()))
	for _, code := range ledger.OwnCodes() {
		others = append(others, string(code)+" "+code.Describe())
	}
	kind := own(valued(form(wire.FourDigits().Pattern), codes), "Also "+strings.Join(others, ", ")+". The reference has 2950 for transfers, and does not show it in a history.")
	category := own(form(wire.FourDigits().Pattern), "0000 without a merchant; a setting.")
	if with.EmptyCategory {
		category.Pattern = "^([0-9]{4})?$"
	}
	const alphabetic = "ISO 4217 alphabetic code, currently only AUD."
	return wire.Member[*wire.Schema]{Name: "Transaction", Value: object("2.8", "An item of an account's history.",
		must("id", text(), "Of the transaction."),
		must("parent_id", own(text(), "Empty without a parent."), "Of the parent transaction, if any."),
		must("account_id", text(), "EAID of the account."),
		must("type", kind, "Four-digit type code."),
		must("type_description", text(), ""),
		must("amount", amount(), "Base value of the transaction."),
		must("amount_currency", currency(), alphabetic),
		must("fee_amount", amount(), "Fees applied."),
		must("fee_amount_currency", currency(), alphabetic),
		must("running_balance_amount", amount(), "Balance after the transaction."),
		must("running_balance_amount_currency", currency(), alphabetic),
		must("occurred_at", dateTime(), "In UTC."),
		must("card_acceptor_id", own(text(), "Empty without a merchant."), "Merchant."),
		must("terminal_id", own(text(), "Empty without a merchant."), "Terminal."),
		must("acquirer_id", own(text(), "Empty without a merchant."), "Acquirer."),
		must("merchant_category_code", category, "Four-digit ISO 18245 code."),
		must("reference", text(), "Reference data."),
	)}
}

func walletSchemas() wire.Ordered[*wire.Schema] {
	token := stored("2.9", "A card in a mobile wallet.", wire.FieldsOf(reflect.TypeFor[state.WalletToken]()))
	sequence := token.Properties.Get("account_pan_sequence_number")
	sequence.Pattern, sequence.MaxLength = "", 3 // stricter in a seed
	device := stored("2.9", "The reference lists device_id twice.", wire.FieldsOf(reflect.TypeFor[state.WalletDevice]()))
	return wire.Ordered[*wire.Schema]{{Name: "WalletToken", Value: token}, {Name: "WalletDevice", Value: device}}
}

func provisioningSchema() wire.Member[*wire.Schema] {
	const elsewhere, certified = "Required for two of the wallets.", "Required for the wallet that uses it."
	return wire.Member[*wire.Schema]{Name: "WalletProvisioning", Value: own(object("4.4", "What a wallet needs to hold the card.",
		must("pan_last_four", form(wire.FourDigits().Pattern), ""),
		must("provider", own(text(), "mastercard; a setting."), "Card network: one of two, which the reference does not name."),
		must("pruduct_type", word(productTypes()...), "The name is spelled as the reference spells it."),
		must("registration", ref("WalletPersonal"), ""),
		may("issuer_initiated_digitization_data", text(), elsewhere),
		may("activation_data", text(), certified),
		may("encrypted_pass_data", text(), certified),
		may("ephemeral_public_key", text(), certified),
	), "Whether the first four members are always there is not shown.")}
}

func policySchemas() wire.Ordered[*wire.Schema] {
	section := "2.10"
	head := func(lists ...field) []field {
		return append([]field{
			must("default_action", word("allow", "deny"), "What is not listed: allow for an open loop and deny for a closed one by default."),
			must("description", text(), ""),
		}, lists...)
	}
	terminals := func() field { return may("terminals", array(ref("PolicyTerminal")), "") }
	categories := func() field { return may("categories", array(ref("PolicyCategory")), "") }
	merchants := func() field { return may("merchants", array(ref("PolicyMerchant")), "") }
	ruleType := func() field { return must("rule_type", word("must_allow", "must_block"), "") }
	var all wire.Ordered[*wire.Schema]
	all.Put("MerchantCategory", object(section, "", must("code", integer(), "Of ISO 18245."), must("description", text(), "")))
	all.Put("Policy", object(section, "", head(terminals(), categories(), merchants())...))
	all.Put("PolicyCategories", object(section, "", head(categories())...))
	all.Put("PolicyMerchants", object(section, "", head(merchants())...))
	all.Put("PolicyTerminals", object(section, "", head(terminals())...))
	all.Put("PolicyCategory", object(section, "", must("merchant_category_code", own(text(), "Four digits."), "")))
	all.Put("PolicyMerchant", stored(section, "", wire.FieldsOf(reflect.TypeFor[policy.MerchantRule]())))
	all.Put("PolicyTerminal", stored(section, "", wire.FieldsOf(reflect.TypeFor[policy.TerminalRule]())))
	all.Put("Restrictions", object(section, "The ruleset that the policy replaces.",
		may("type", word("open", "close"), "Open allows by default, close denies by default."),
		must("terminal_rules", array(ref("RestrictionTerminal")), ""),
		must("category_rules", array(ref("RestrictionCategory")), ""),
	))
	all.Get("Restrictions").Deprecated = true
	all.Put("RestrictionTerminal", object(section, "",
		ruleType(), must("acquirer", text(), ""), must("acceptor", text(), ""), must("terminal", text(), "")))
	all.Put("RestrictionCategory", object(section, "", ruleType(), must("category_code", text(), "")))
	return all
}

func moneySchemas(with Options) wire.Ordered[*wire.Schema] {
	empty := integer()
	if other := with.EmptyID; other != "" {
		empty = &wire.Schema{OneOf: []*wire.Schema{integer(), {Type: wire.Types{other}, Pattern: map[string]string{"string": "^$"}[other]}}}
	}
	own(empty, `Empty is "", and by a setting null, absent or 0.`)
	correlation := func() field { return must("correlation_id", text(), "") }
	const about = "The result of a transfer that was made, or that failed."
	var all wire.Ordered[*wire.Schema]
	all.Put("Transfer", object("4.4", about, may("transaction_id", empty, "Empty if the transfer failed."), correlation()))
	if with.EmptyIDs {
		all.Put("DirectEntryOut", all.Get("Transfer"))
	} else {
		all.Put("DirectEntryOut", object("4.4", "A direct entry that was made.", must("transaction_id", integer(), ""), correlation()))
	}
	all.Put("PINOperation", own(object("4.7", "",
		must("operation_id", uuid(), "For the steps that follow."),
		must("status", word("initiated", "validated", "executed"), ""),
	), "The reference shows no response of the PIN operations."))
	all.Put("PINSecret", object("4.7", "The text that is encrypted into encrypted_data: JSON, AES-128 in CBC mode with PKCS#7 padding.",
		must("otp", text(), "One-time password that the cardholder received."),
		must("pin", text(), "The new PIN."),
	))
	return all
}

func simulationSchemas() wire.Ordered[*wire.Schema] {
	reference := must("transaction_reference", text(), "")
	authorisation := must("authorization_id", text(), "For the requests that follow.")
	success, message := must("success", boolean(), ""), must("message", text(), "")
	own(success.schema, "A transaction that is declined, or an account that cannot be used, is 200 with false.")
	var all wire.Ordered[*wire.Schema]
	all.Put("SimulatedTransaction", own(object("2.15", "", reference, authorisation, success, message), unmarked))
	all.Put("SimulatedChange", own(object("2.15", "", authorisation, success, message), unmarked))
	all.Put("SimulatedClearing", own(object("2.15", "", success, message), unmarked))
	return all
}

func hookSchemas(with Options) wire.Ordered[*wire.Schema] {
	var all wire.Ordered[*wire.Schema]
	all.Put("Hook", object("2.13", "A webhook. Its secret is never returned.",
		must("id", uuid(), ""),
		must("uri", text(), "HTTPS address that receives the messages."),
		must("scope", array(integer()), "Companies that are monitored."),
		must("filter_spec", text(), "Filter; * matches everything. The grammar of others is not shown."),
		must("enabled", boolean(), "A disabled webhook receives no messages, and stores none that are undeliverable."),
		must("reliability_mode", word("none", "store_undeliverable"), ""),
		must("last_undeliverable", orNull(text()), "Latest undeliverable message that is not dismissed; null without one, and unless the mode is store_undeliverable."),
		must("last_undeliverable_timestamp", orNull(dateTime()), "Of that message, with the same nulls."),
		must("hmac_key_id", text(), "Of the current HMAC key."),
	))
	own(all.Get("Hook"), unmarked)
	filter := all.Get("Hook").Properties.Get("filter_spec")
	filter.Values = wire.Ordered[string]{{Name: "*", Value: "every transaction"}}
	all.Put("CreatedHook", object("4.8", "", must("id", uuid(), "")))
	kind := own(valued(text(), wire.Ordered[string]{{Name: "transaction", Value: "a transaction of a company in the scope that passes the filter"}}),
		with.PingType+" for a ping, "+with.AlertType+" for an undeliverable alert; both are settings.")
	const payload = "The payload beyond the envelope is not shown by the reference."
	all.Put("Message", object("2.14", "A webhook message (section 6), also one that is undeliverable.",
		must("id", own(text(), "A UUID."), "Of the message."),
		must("hook_id", uuid(), "Of the webhook."),
		must("timestamp", dateTime(), "In UTC."),
		must("type", kind, ""),
		may("company_id", own(integer(), payload), "Of a transaction."),
		may("transaction", own(ref("Transaction"), payload), "Of a transaction."),
	))
	return all
}

// clonePersonal is a registration that requires two more members: the wallet's response always has them.
func clonePersonal(personal *wire.Schema) *wire.Schema {
	made := *personal
	made.Required = append(slices.Clone(personal.Required), "sex", "email_address")
	made.Description = "A registration with sex and email_address."
	return &made
}
