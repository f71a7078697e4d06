package conformance

import (
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// refuse makes a case with a request that must be refused.
func refuse(name, operation string, changes values, code string, statuses []int, needs ...string) Case {
	section := reference.Read().Operation(operation).Section
	return with(section, name, operation, changes, func(p *probe) { p.call(operation, changes).refused(code, statuses...) }, needs...)
}

func refusalCases() []Case {
	const dip, dismiss = "Accounts.ExchangeKey", "Hooks.Dismiss"
	bad, unknown := []int{400}, []int{400, 404}
	return []Case{
		refuse("unknown_template", "Reporting.Start", values{"templatename": noAccount}, "", bad),
		refuse("unknown_report", "Reporting.Result", values{"reportid": unknownUUID}, "", bad),
		refuse("replacement_of_unknown_account", "Accounts.Create", values{"request_type": "replace", "account_id_to_replace": noAccount},
			"", []int{404}, "CreateAccounts"),
		refuse("unsupported_wallet", "Accounts.ProvisionWallet", values{"provider": noAccount}, "", []int{404}),
		refuse("dip_bad_application_id", dip, values{"application_id": "conformance"}, "bad_application_id", bad),
		refuse("dip_bad_key_id", dip, values{"key_id": "conformance"}, "bad_key_id", bad),
		refuse("dip_bad_ephemeral_key", dip, values{"ephemeral_key": "AAAA"}, "bad_ephemeral_key", bad),
		refuse("dip_bad_account", dip, values{"id": noAccount}, "bad_account", bad),
		refuse("transfer_amount_must_be_positive", "Accounts.Transfer", values{"amount": 0}, "", bad, "MoveMoney"),
		refuse("direct_entry_amount_must_be_positive", "Accounts.DirectEntryOut", values{"amount": 0}, "", bad, "PayOut"),
		// A PIN change is final, and the reference shows neither its statuses nor bodies.
		refuse("initiate_is_refused", "PIN.Initiate", values{"eaid": noAccount}, "", unknown),
		refuse("validate_is_refused", "PIN.Validate", nil, "", unknown),
		refuse("execute_is_refused", "PIN.Execute", nil, "", unknown),
		refuse("undeliverable_of_an_unknown_hook", "Hooks.Undeliverable", values{"id": unknownUUID}, "invalid_hook_id", bad),
		refuse("dismiss_without_ids", dismiss, values{"id": unknownUUID, "message_ids": []string{}}, "", bad),
	}
}

// unknownCases call each operation without a token and with a bad token, and those of an account also with an unknown account. The
// requests have unknown IDs and no members: they change nothing even if a service accepts them.
func unknownCases() []Case {
	nowhere := Target{
		CompanyID: noCompany, AccountID: noAccount, ProgramClientID: noAccount, AccountKey: noAccount, ReportTemplate: noAccount,
		WalletProvider: noAccount,
	}
	var cases []Case
	for _, o := range reference.Read().Operations {
		if o.Safety == "token" {
			continue
		}
		unknown := values{"reportid": unknownUUID}
		if o.Tags[0] == "Hooks" {
			unknown["id"] = unknownUUID
		}
		allowed := []int{401}
		if o.Also["400"] == "token" {
			allowed = append(allowed, 400)
		}
		c := with("5", "token_is_required_by_"+o.Name, o.Name, nil, func(p *probe) {
			r := newRequest(&nowhere, o.Name, unknown)
			if r.body != "" {
				r.body = "{}"
			}
			p.send(r, "").refused("", allowed...)
			p.send(r, "Bearer conformance-bad").refused("", allowed...)
		})
		c.Needs = nil
		cases = append(cases, c)
		_, refuses := o.Results.Get("404")
		if refuses && strings.HasPrefix(o.Path, "/accounts/{id}") && !strings.Contains(o.Path, "/{provider}") {
			cases = append(cases, refuse("unknown_account_"+o.Name, o.Name, values{"id": noAccount}, "", []int{404}))
		}
	}
	return cases
}
