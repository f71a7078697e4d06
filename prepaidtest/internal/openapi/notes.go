package openapi

import (
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func (b *builder) info() info {
	return info{
		Title: "Card account service, as prepaid-emulator understands it", Version: b.with.Version,
		Summary: "Card accounts, policy, reports, funding, simulator, PIN change and webhooks",
		Description: "Generated from the tables of prepaid-emulator. The reference stays the contract: where the two differ, the reference is " +
			"right. x-reference is the section of the reference. x-safety is the class of docs/operations.md, of which docs/safety.json has " +
			"the rules; with the values in x-safety-when it is another one, and keyed needs a request_id. x-emulator is left open by the reference and chosen here: the real service may differ. x-values are " +
			"known values of a list that may grow. x-error-codes are known codes of a response, with their source.\n\n" +
			"JSON bodies have the media type " + b.with.MediaType + ", in which the vendor's word is a setting. Some proxies substitute " +
			"application/json. The emulator refuses members and parameters that are not listed here.",
	}
}

func servers() []server {
	host := func(what string) wire.Ordered[*variable] {
		return wire.Ordered[*variable]{{Name: "host", Value: &variable{Default: "api.example", Description: "The host of the " + what + " address."}}}
	}
	return []server{
		{URL: "http://127.0.0.1:8480/3.0", Description: "prepaid-emulator on this machine"},
		{URL: "https://{host}/3.0", Description: "Test environment: {test_url} of the reference", Variables: host("test")},
		{URL: "https://{host}/3.0", Description: "Production environment: {base_url} of the reference", Variables: host("production")},
	}
}

// sectionTags are the names of the sections.
func sectionTags() wire.Ordered[string] {
	return wire.Ordered[string]{
		{Name: "4.1", Value: "Token"}, {Name: "4.2", Value: "Reporting"}, {Name: "4.3", Value: "Policy"}, {Name: "4.4", Value: "Accounts"},
		{Name: "4.5", Value: "Funding"}, {Name: "4.6", Value: "Simulation"}, {Name: "4.7", Value: "PIN"}, {Name: "4.8", Value: "Hooks"},
	}
}

func tags() []tag {
	about := notes{
		"Token": "Access tokens", "Reporting": "Reports from named templates", "Policy": "Where the cards of a program (company) can be used",
		"Accounts": "Card accounts, their history, transfers and wallets", "Funding": "Redemptions, reversals and refunds",
		"Simulation": "Simulated card transactions, in the test environment only", "PIN": "PIN change with encrypted data",
		"Hooks": "Webhooks and their undeliverable messages",
	}
	all := make([]tag, 0, len(sectionTags()))
	for _, t := range sectionTags() {
		all = append(all, tag{t.Value, about[t.Value] + " (section " + t.Name + ")."})
	}
	return all
}

// queryNotes are the meanings of query parameters.
func queryNotes() notes {
	group := func(what string) string { return "Includes " + what + "." }
	return notes{
		"include_column_headers":      "Whether the report begins with a row of names. Default false.",
		"page_number":                 "From 1 to X-TotalPages.",
		"page_size":                   "A size below the internal minimum or above the internal maximum is replaced.",
		"start_date":                  "Earliest time, inclusive.",
		"end_date":                    "Latest time, inclusive.",
		"client_id":                   "Of the program.",
		"with_personal":               group("personal"),
		"with_directentry":            group("direct_entry_bsb and direct_entry_account_number"),
		"with_freetext":               group("free_text"),
		"with_bpay":                   group("bpay_biller_code and bpay_reference_number"),
		"with_tokeninfo":              group("mdes_config_id"),
		"with_correspondingaccountid": group("corresponding_account_id"),
		"with_cardholdertype":         group("card_holder_type"),
	}
}

// notes are meanings by the name of a member or parameter.
type notes = map[string]string

// requestNotes are the meanings of members of requests, by the name of the schema. Several requests can share notes, so
// a note can be about a member that a request lacks.
func requestNotes() map[string]notes {
	funding := notes{
		"merchant_name_location": "Card data element 43.", "card_acceptor_id": "Card data element 42.",
		"terminal_id": "Card data element 41.", "acquirer_id": "Card data element 32.",
		"currency": "ISO 4217 numeric.", "originating_transaction": "Sequence number of the proxy card transaction.",
		"correlation_id": "ID of the originating transaction, made by the caller.", "account_id": "EAID.",
		"parent_transaction_id": "transaction_id of the redemption.",
	}
	sealed := notes{
		"encrypted_data":         "The JSON of PINSecret, encrypted.",
		"public_key_fingerprint": "Of the operator's certificate.",
		"encrypted_key":          "The ephemeral AES key, encrypted with the operator's public key.",
		"oaep_hashing_algorithm": "SHA256 if it is left out.", "iv": "The initialisation vector, 16 bytes.",
	}
	hook := notes{
		"scope": "Companies to monitor.", "filter_spec": "* matches everything.",
		"hmac_key_secret": "A 256-bit value. Never returned.",
	}
	simulated := notes{
		"transaction_type": "Case sensitive. As in the original transact request.", "account_id": "EAID.",
		"authorization_id": "From the response to transact.",
	}
	return map[string]notes{
		"Personal": {
			"mobile_number": "Needed to reveal a PIN or tokenise a card.",
			"email_address": "Needed to reveal a PIN or tokenise a card.",
		},
		"Address": {"city": "City or suburb."},
		"CreateAccountRequest": {
			"company_id":               "Company in which the account is created.",
			"initial_load_amount":      "Decimal is recommended. A leading 0 or 0o means octal, and 0x hexadecimal: neither is JSON.",
			"display_name":             "For a fringe-benefit card program.",
			"is_plastic_enabled":       "Default true.",
			"plastic_expiry":           "Effective only for a manufacturing batch that allows it.",
			"mdes_config_id":           "Configuration of the wallet token service.",
			"account_expiry":           "Deprecated: use gift_card_expiry.",
			"gift_card_expiry":         "A digital gift card that is active at once must set it. Otherwise `PUT /accounts/{id}/expiry` can, whose shape is not described.",
			"corresponding_account_id": "EAID of the card that is replaced, for the activation portal.",
			"card_holder_type":         "1 primary, 2 secondary.",
			"request_type":             "Default new.",
			"account_id_to_replace":    "An account that is lost_or_stolen.",
		},
		"DirectEntryOutRequest": {
			"request_id": "See the operation.", "bsb": "Its role next to destination_account_info.bsb is not clear.",
		},
		"TransferRequest": {
			"request_id": "See the operation.", "destination_account_id": "EAID of the destination.",
		},
		"ExchangeKeyRequest": {
			"application_id": "Of the requesting application.", "key_id": "Of the application's key.",
			"ephemeral_key": "Random single-use 256-bit value in Base64.",
		},
		"RedeemFundingRequest": funding,
		"RefundFundingRequest": funding, "ReverseFundingRequest": funding,
		"SimulateTransactRequest": {"transaction_type": "Case sensitive.", "account_id": "EAID."}, "SimulateAdviceRequest": simulated,
		"SimulateReverseRequest": simulated, "SimulateClearRequest": simulated,
		"SimulateReverseClearRequest": simulated,
		"InitiatePINRequest":          {"eaid": "EAID of the account."},
		"ValidatePINRequest":          sealed, "ExecutePINRequest": sealed,
		"CreateHookRequest": hook, "UpdateHookRequest": hook,
	}
}

// annotate puts the notes in front of the descriptions that the rules give.
func (b *builder) annotate() {
	for name, about := range requestNotes() {
		for _, member := range b.schemas.Get(name).Properties {
			member.Value.Description = strings.TrimSpace(about[member.Name] + " " + member.Value.Description)
		}
	}
	creation := b.schemas.Get("CreateAccountRequest").Properties
	creation.Get("account_expiry").Deprecated = true
	creation.Get("card_holder_type").Values = cardholderTypes()
	for _, name := range []string{"Redeem", "Reverse", "Refund"} {
		for _, member := range b.schemas.Get(name + "FundingRequest").Properties {
			if slices.Contains(member.Value.Type, "integer") {
				own(member.Value, wholeNumber)
			}
		}
	}
	for _, name := range []string{"RedeemFundingRequest", "RefundFundingRequest"} {
		own(b.schemas.Get(name).Properties.Get("amount"), "Not negative; the reference has no limit.")
	}
	for _, name := range []string{"CreateHookRequest", "UpdateHookRequest"} {
		own(b.schemas.Get(name).Properties.Get("filter_spec"), "The grammar is not shown: the known filters are a setting.")
	}
	for _, member := range []string{"add", "remove"} {
		own(b.schemas.Get("ChangePolicyCategoriesRequest").Properties.Get(member), "Codes from 0 to 9999; the reference has integers.")
	}
	own(creation.Get("initial_load_amount"), "Octal and hexadecimal are also read from a string.")
	b.schemas.Get("TransferRequest").Properties.Get("transaction_type").Values = wire.Ordered[string]{
		{Name: "0", Value: "card to card, as any other value"}, {Name: "2950", Value: "load"},
	}
}
