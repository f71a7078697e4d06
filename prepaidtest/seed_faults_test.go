package prepaidtest

import (
	"strings"
)

const goodHook = `{"uri":"https://hooks.example.com/","scope":[42],"filter_spec":"*","enabled":true,"reliability_mode":"none",` +
	`"hmac_key_id":"k","hmac_key_secret":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}`

// faultySeed is the text after a good element of each list, and the whole error.
type faultySeed struct{ companies, accounts, reports, hooks, want string }

// faultySeeds has at least one fault of each rule of Load, and some of the rules of the document.
func faultySeeds() map[string]faultySeed {
	seeds := make(map[string]faultySeed)
	for faulty, want := range map[string]string{
		`{"id":8,"colour":"sekret"}`:                                       "colour is not known here; known are categories, client_id, id, loop, merchants, product_type, program_id, terminals",
		`{"id":7}`:                                                         "id is there twice",
		`{"id":8,"loop":"none","categories":[1]}`:                          "categories is not for a company with loop none",
		`{"id":8,"loop":"none","merchants":[]}`:                            "merchants is not for a company with loop none",
		`{"id":8,"loop":"none","terminals":[]}`:                            "terminals is not for a company with loop none",
		`{"id":8,"categories":[1,2,1]}`:                                    "categories[2] is there twice",
		`{"id":8,"merchants":[` + merchantText + `,` + merchantText + `]}`: "merchants[1] is there twice",
		`{"id":8,"terminals":[` + terminalText + `,` + terminalText + `]}`: "terminals[1] is there twice",
	} {
		seeds[faulty] = faultySeed{companies: "," + faulty, want: "companies[2]." + want}
	}
	for faulty, want := range map[string]string{
		`{"account_id":"there"}`:                "account_id exists on the server",
		`{"account_id":"a1"}`:                   "account_id is there twice",
		`{"status":"active","status":"sekret"}`: "names a member twice",
		`{"company_id":9}`:                      "company_id is not a company of the document or the server",
		`{"company_id":0}`:                      "company_id must be at least 1",
		`{"card_holder_type":3}`:                "card_holder_type must be one of 1, 2",
		`{"corresponding_account_id":"sekret"}`: "corresponding_account_id is not an account of the document or the server",
		`{"balance":1.0000000000000000001}`:     "balance must be a decimal number of at most 19 digits",
	} {
		dot := "."
		if want == "names a member twice" {
			dot = " "
		}
		seeds[faulty] = faultySeed{accounts: "," + faulty, want: "accounts[1]" + dot + want}
	}
	faultyTransactions(seeds)
	faultyTokens(seeds)
	for faulty, want := range map[string]string{
		`{"template":"t","csv":""}`:     "csv has no header row or is not CSV",
		`{"template":"t","csv":"\"a"}`:  "csv has no header row or is not CSV",
		`{"template":"good","csv":"a"}`: "template is there twice",
	} {
		seeds[faulty] = faultySeed{reports: "," + faulty, want: "reports[1]." + want}
	}
	for change, want := range map[string]string{
		`"uri":"http://sekret.example.com/"`: "uri must be a valid HTTPS URI",
		`"scope":[42,9]`:                     "scope[1] is not a company of the document or the server",
		`"filter_spec":"sekret"`:             "filter_spec must be *",
		`"hmac_key_id":"sek;ret"`:            "hmac_key_id must match ^[!-:<-~]*$",
	} {
		name, _, _ := strings.Cut(change, ":")
		seeds[change] = faultySeed{hooks: "," + withMember(goodHook, name, change), want: "hooks[1]." + want}
	}
	seeds["hook id"] = faultySeed{hooks: `,` + strings.Replace(goodHook, "{", `{"id":"sekret",`, 1), want: "hooks[1].id is not known here; " +
		"known are enabled, filter_spec, hmac_key_id, hmac_key_secret, reliability_mode, scope, uri"}
	return seeds
}

const (
	merchantText = `{"acquirer_id":1,"card_acceptor_id":"s","description":"s"}`
	terminalText = `{"acquirer_id":1,"card_acceptor_id":"s","terminal_id":"s"}`
	loadText     = `{"type":"2950","amount":2,"occurred_at":"2024-01-02T00:00:00Z"}`
)

func faultyTransactions(seeds map[string]faultySeed) {
	for change, want := range map[string]string{
		`"type":"295"`:                         "type must match ^[0-9]{4}$",
		`"occurred_at":"2024-01-01T23:59:59Z"`: "occurred_at must not be before the transaction above it",
		`"occurred_at":"2999-01-01T00:00:00Z"`: "occurred_at must not be in the future",
		`"fee_amount":-1`:                      "fee_amount must be at least 0",
		`"parent_id":"sekret"`: "parent_id is not known here; known are acquirer_id, amount, card_acceptor_id, fee_amount, " +
			"merchant_category_code, occurred_at, reference, terminal_id, type",
	} {
		name, _, _ := strings.Cut(change, ":")
		seeds["transaction "+change] = faultySeed{
			accounts: `,{"transactions":[` + loadText + `,` + withMember(loadText, name, change) + `]}`, want: "accounts[1].transactions[1]." + want,
		}
	}
	most := withMember(loadText, `"amount"`, `"amount":9999999999999999999`)
	least := withMember(loadText, `"amount"`, `"amount":-9999999999999999999`)
	for _, account := range []string{
		`"transactions":[` + most + `,` + most + `]`, `"balance":1,"transactions":[` + least + `]`, `"balance":-2,"transactions":[` + most + `]`,
		`"transactions":[` + least + `,` + withMember(loadText, `"fee_amount"`, `"fee_amount":3`) + `]`,
	} {
		seeds[account] = faultySeed{accounts: `,{` + account + `}`, want: "accounts[1].transactions lead to a balance out of range"}
	}
}

func faultyTokens(seeds map[string]faultySeed) {
	for token, want := range map[string]string{
		`"device":{"sekret":1}`:               "device.sekret is not known here; known are device_id, device_name, device_type, secure_element_id",
		`"account_pan_sequence_number":"100"`: "account_pan_sequence_number must match ^0[0-9]{2}$",
	} {
		seeds[token] = faultySeed{accounts: `,{"wallet_tokens":[{},{` + token + `}]}`, want: "accounts[1].wallet_tokens[1]." + want}
	}
}

// withMember replaces or omits a member of a flat object.
func withMember(object, name, member string) string {
	var kept []string
	for part := range strings.SplitSeq(strings.Trim(object, "{}"), `,"`) {
		part = `"` + strings.TrimPrefix(part, `"`)
		if !strings.HasPrefix(part, name+":") {
			kept = append(kept, part)
		}
	}
	if member != "" {
		kept = append(kept, member)
	}
	return "{" + strings.Join(kept, ",") + "}"
}
