package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// toleratedMembers are the required members that may be missing or null, which reads as zero, and why. For all
// others this is an error.
func toleratedMembers() []struct{ operations, members, why string } {
	return []struct{ operations, members, why string }{
		{
			"Accounts.Get Accounts.Search Accounts.SearchCompany Accounts.Create Accounts.Summary",
			"card_number plastic_expiry is_plastic_enabled", "a ledger has no plastic",
		},
		{
			"Accounts.Get Accounts.Search Accounts.SearchCompany Accounts.Create Accounts.Summary", "external_account_id product_type",
			"empty is no value of theirs, and nothing is decided by it",
		},
		{"Accounts.Get Accounts.Search Accounts.SearchCompany", "account_expiry account_type", "zero is no value of theirs"},
		{"Accounts.Create Accounts.Summary", "company_id", "the caller named the company or the account"},
		{"Accounts.Get Accounts.Search Accounts.SearchCompany", "personal", "zero is no value; a change of it is checked before it is sent"},
		{"Accounts.ProvisionWallet", "registration", "zero is no value of its members; the wallet's data is what counts"},
		{"Accounts.Get Accounts.Search", "free_text", "empty is what a program has not set"},
		{"Accounts.Get Accounts.Search Accounts.SearchCompany", "portal_identifier", "empty is no identifier"},
		{
			"Accounts.Transactions", "parent_id type_description amount_currency fee_amount_currency running_balance_amount_currency " +
				"card_acceptor_id terminal_id acquirer_id merchant_category_code reference",
			"most movements lack some of these, and empty is no value",
		},
		{"Accounts.Transactions", "fee_amount", "no fee is a fee of 0"},
		{"Accounts.Transactions", "account_id", "the caller named the account"},
		{"Accounts.Transactions", "type", "empty is no type, and matches none"},
		{
			"Accounts.WalletTokens", "storage_technology device last_comment_id token_type token_requestor_id token_assurance_level " +
				"current_status_date_time current_status_description account_pan_sequence_number expiration_date",
			"for display; zero is no value",
		},
		{"Accounts.WalletTokens", "token_deleted_from_consumer_app", "for display; current_status_code says whether it can pay"},
		{"Accounts.ProvisionWallet", "pan_last_four provider pruduct_type", "for display; the wallet's data is what counts"},
		{"Policy.MerchantCategoryCodes Policy.Get Policy.Categories Policy.Merchants Policy.Terminals", "description", "for display"},
		{"Policy.Get Policy.Terminals", "terminals", "zero identifies nothing, and is refused when it is sent back"},
		{"Policy.Get Policy.Merchants", "merchants", "zero identifies nothing, and is refused when it is sent back"},
		{"Policy.Get Policy.Categories", "categories", "empty identifies nothing, and is refused when it is sent back"},
		{"Policy.Restrictions", "terminal_rules category_rules", "deprecated, read only; null is a way to write an empty list"},
		{"Simulation.Transact Simulation.Advise Simulation.Reverse Simulation.Clear Simulation.ReverseClear", "message", "for display"},
		{"Simulation.Transact", "transaction_reference", "for display"},
		{"Simulation.Transact Simulation.Advise Simulation.Reverse", "authorization_id", "a refusal has none"},
		{"Hooks.List Hooks.Get", "filter_spec reliability_mode hmac_key_id scope", "zero is no value of theirs"},
		{"Hooks.List Hooks.Get", "enabled", "enabling a hook that is enabled changes nothing"},
		{"Hooks.Undeliverable", "id hook_id timestamp type", "a ping may have none, and one message must not hide the others"},
	}
}

// tolerated returns the reason why a member may be missing. A list's or object's reason covers its members too.
func tolerated(used map[string]bool, operation, member string) string {
	operation, _, _ = strings.Cut(operation, "/")
	outer, _, _ := strings.Cut(member, ".")
	for _, row := range toleratedMembers() {
		if !slices.Contains(strings.Fields(row.operations), operation) {
			continue
		}
		for _, name := range []string{member, outer} {
			if slices.Contains(strings.Fields(row.members), name) {
				used[operation+" "+name] = true
				return row.why
			}
		}
	}
	return ""
}

// TestRequiredMembers removes each required member of each response, or sets it to null: this is an error, or
// tolerated for a reason.
func TestRequiredMembers(t *testing.T) {
	t.Parallel()
	fixtures := ReadFixtures(t)
	required := map[string]string{"Accounts.ProvisionWallet/200-push": "issuer_initiated_digitization_data"}
	for _, operation := range operations.All() {
		if operation.Required != "" {
			required[operation.Name] = operation.Required
		}
	}
	required["Accounts.ProvisionWallet"] += " activation_data encrypted_pass_data ephemeral_public_key"
	cases := map[string][]Case{}
	for _, c := range Cases() {
		if !c.Refusal {
			cases[c.Fixture] = append(cases[c.Fixture], c)
		}
	}
	used := map[string]bool{}
	for name, members := range required {
		file, ok := name, strings.Contains(name, "/")
		for _, outcome := range []string{"200", "201", "200-approved"} {
			if _, there := fixtures[name+"/"+outcome]; !ok && there {
				file, ok = name+"/"+outcome, true
			}
		}
		require.NotEmpty(t, cases[file], name)
		for member := range strings.FieldsSeq(members) {
			why := tolerated(used, name, member)
			for form, edit := range map[string]func(object map[string]any, member string){
				"missing": func(object map[string]any, member string) { delete(object, member) },
				"null":    func(object map[string]any, member string) { object[member] = nil },
			} {
				body := fixtureJSON(t, fixtures[file].Body())
				require.True(t, editMember(body, strings.Split(member, "."), edit), "%s has no %s", file, member)
				for _, c := range cases[file] {
					err := callWithBody(t, c, fixtures[file], body)
					if why != "" {
						require.NoError(t, err, "%s: %s %s is tolerated: %s", file, member, form, why)
						continue
					}
					require.Error(t, err, "%s: %s %s", file, member, form)
					_, undecodable := errors.AsType[*prepaid.DecodeError](err)
					require.True(t, undecodable || errors.Is(err, prepaid.ErrTransferFailed), "%v", err)
					requireFixtureQuiet(t, err)
				}
			}
		}
	}
	for _, row := range toleratedMembers() {
		require.NotEmpty(t, row.why)
		for operation := range strings.FieldsSeq(row.operations) {
			for member := range strings.FieldsSeq(row.members) {
				require.True(t, used[operation+" "+member], "%s: %s is not required", operation, member)
			}
		}
	}
}

// editMember changes the last member at path, in the last element of each list on the way.
func editMember(value any, path []string, edit func(object map[string]any, member string)) bool {
	switch value := value.(type) {
	case []any:
		for _, element := range slices.Backward(value) {
			if editMember(element, path, edit) {
				return true
			}
		}
	case map[string]any:
		inner, ok := value[path[0]]
		if !ok {
			return false
		}
		if len(path) > 1 {
			return editMember(inner, path[1:], edit)
		}
		edit(value, path[0])
		return true
	}
	return false
}

// callWithBody makes the call of a fixture and responds with another body.
func callWithBody(t *testing.T, c Case, f *Fixture, body any) error {
	t.Helper()
	content, err := json.Marshal(body)
	require.NoError(t, err)
	header := http.Header{}
	for name, value := range f.Response.Header {
		header.Set(name, value)
	}
	config := Config(harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: f.Response.Status, Header: maps.Clone(header), Request: r, Body: io.NopCloser(bytes.NewReader(content)),
		}, nil
	}))
	if f.Operation == "Token" {
		config.TokenSource = nil
	}
	client := harness.NewClient(t, config)
	return c.Call(t.Context(), client)
}
