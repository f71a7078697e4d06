package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

var (
	expiry = time.Date(2031, time.March, 31, 0, 0, 0, 0, time.UTC)
	portal = prepaid.PortalIdentifier{ClientID: "p-client", ProgramID: "p-program", CardholderID: "p-holder"}
)

// whole loads the example of a seed document, and returns its account that has every member of 2.2, and these members.
func (s *stage) whole() (prepaid.AccountID, map[string]any) {
	s.t.Helper()
	text, err := os.ReadFile("../../../prepaidtest/testdata/seed.json")
	require.NoError(s.t, err)
	require.NoError(s.t, s.Load(bytes.NewReader(text)))
	var document struct{ Accounts []map[string]any }
	require.NoError(s.t, json.Unmarshal(text, &document))
	return "EA-MAYA", document.Accounts[0]
}

// get returns an account and the members of its JSON.
func (s *stage) get(id prepaid.AccountID, groups ...prepaid.Include) (account *prepaid.Account, members map[string]any) {
	s.t.Helper()
	account, err := s.client.Accounts.Get(s.t.Context(), id, groups...)
	require.NoError(s.t, err)
	text, err := json.Marshal(account)
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(text, &members))
	return account, members
}

func allIncludes() []prepaid.Include {
	return []prepaid.Include{
		prepaid.IncludeCardholder, prepaid.IncludeDirectEntry, prepaid.IncludeFreeText, prepaid.IncludeBPay,
		prepaid.IncludeTokenInfo, prepaid.IncludeCorrespondingAccountID, prepaid.IncludeCardholderType,
	}
}

// Every field of an account arrives, and each optional group only if it is requested.
func TestE2EGetAccount(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{StartAt: expiry.AddDate(-1, 0, 0)}, func(t *testing.T, s *stage) { // after the history of the seed document
		id, written := s.whole()
		account, all := s.get(id, allIncludes()...)
		for field, value := range reflect.ValueOf(*account).Fields() {
			require.False(t, value.IsZero(), field.Name)
		}
		require.Equal(t, prepaid.MustAmount(written["balance"].(string)), account.Balance)
		history := s.Transactions(id)
		require.Equal(t, history[0].OccurredAt, account.FirstTransactionOccurredAt)
		require.Equal(t, s.last(id).OccurredAt, account.LastTransactionOccurredAt)
		require.Equal(t, []any{"harbour-rewards", new(true)}, []any{account.ProgramClientID, account.Compliant})
		require.Regexp(t, `^\d{6}\*{6}\d{4}$`, account.CardNumber)
		require.Regexp(t, `^\d{6}$`, account.BPayBillerCode)
		require.Regexp(t, `^\d{6}$`, account.DirectEntryBSB)
		for _, other := range []string{"balance", "transactions", "wallet_tokens"} {
			delete(written, other)
		}
		require.Subset(t, all, written)

		groups := map[prepaid.Include][]string{
			"": {}, prepaid.IncludeCardholder: {"personal"}, prepaid.IncludeFreeText: {"free_text"},
			prepaid.IncludeBPay:        {"bpay_biller_code", "bpay_reference_number"},
			prepaid.IncludeDirectEntry: {"direct_entry_bsb", "direct_entry_account_number"},
			prepaid.IncludeTokenInfo:   {"mdes_config_id"}, prepaid.IncludeCorrespondingAccountID: {"corresponding_account_id"},
			prepaid.IncludeCardholderType: {"card_holder_type"},
		}
		for group := range groups {
			want, asked := maps.Clone(all), []prepaid.Include{group}
			for other, names := range groups {
				maps.DeleteFunc(want, func(name string, _ any) bool { return other != group && slices.Contains(names, name) })
			}
			if group == "" {
				asked = nil
			}
			_, got := s.get(id, asked...)
			require.Equal(t, want, got, group)
		}
	})
}

// If something else changes, a day of birth with a time, such as midnight in Sydney, and values that the reference's limits
// no longer allow are put back as the service holds them.
func TestE2EUpdatePutsBackWhatIsHeld(t *testing.T) {
	t.Parallel()
	held := prepaidtest.Cardholder{
		FirstName: "Ada", LastName: "Lovelace", DateOfBirth: "1990-05-03T14:00:00Z",
		PrimaryAddress: prepaidtest.Address{State: "NSW", Country: "AU"},
	}
	legacy := held
	legacy.EmailAddress = "a..b@example.com"
	legacy.PrimaryAddress = prepaidtest.Address{State: "London", Country: "gb", Postcode: "SW1A 1AA"}
	legacy.Passport = &prepaidtest.Passport{Number: "P1", Expiry: "2001-02-03T04:05:06Z", IssuingCountry: "GBR"}
	for name, row := range map[string]struct {
		personal prepaidtest.Cardholder
		options  prepaidtest.Options
	}{"a time": {held, prepaidtest.Options{}}, "beyond the limits": {legacy, prepaidtest.Options{Lenient: true}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStage(t, row.options, func(t *testing.T, s *stage) {
				id := s.AddAccount(prepaidtest.SeedAccount{Cardholder: &row.personal})
				account, err := s.client.Accounts.Get(t.Context(), id, prepaid.IncludeCardholder)
				require.NoError(t, err)
				require.Equal(t, prepaid.Date{Year: 1990, Month: time.May, Day: 3}, account.Cardholder.DateOfBirth, "the day as written")
				account.Cardholder.MobileNumber = "+61400000002"
				require.NoError(t, s.client.Accounts.Update(t.Context(), id, prepaid.UpdateAccountParams{Cardholder: account.Cardholder}))
				want := row.personal
				want.MobileNumber = "+61400000002"
				asJSON, err := json.Marshal(map[string]any{"registration": want})
				require.NoError(t, err)
				require.JSONEq(t, string(asJSON), s.sent("PUT /accounts/{id}"))
			})
		})
	}
}

// The company search ends at the last page, with and without paging headers.
func TestE2ESearchCompany(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]prepaidtest.Options{
		"reported":     {PageSizes: prepaidtest.PageSizes{Least: 1, Normal: 2, Most: 2}},
		"not reported": {PageSizes: prepaidtest.PageSizes{Least: 1, Normal: 2, Most: 2}, NoCompanySearchPaging: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStage(t, options, func(t *testing.T, s *stage) {
				plain := []prepaid.AccountID{}
				for range 4 {
					plain = append(plain, s.AddAccount(prepaidtest.SeedAccount{}))
				}
				special := s.AddAccount(prepaidtest.SeedAccount{
					Status: "inactive", Portal: &prepaidtest.PortalIdentifier{ProgramID: portal.ProgramID},
					Cardholder: &prepaidtest.Cardholder{FirstName: "Grace", LastName: "Hopper", MobileNumber: "+61499999999"},
				})
				for filter, c := range map[string]struct {
					params prepaid.SearchCompanyParams
					want   []prepaid.AccountID
				}{
					"none":    {prepaid.SearchCompanyParams{}, append(plain, special)},
					"client":  {prepaid.SearchCompanyParams{ProgramClientID: "acme"}, append(plain, special)},
					"other":   {prepaid.SearchCompanyParams{ProgramClientID: "other"}, []prepaid.AccountID{}},
					"program": {prepaid.SearchCompanyParams{ProgramID: portal.ProgramID}, []prepaid.AccountID{special}},
					"status":  {prepaid.SearchCompanyParams{Status: prepaid.AccountStatusInactive}, []prepaid.AccountID{special}},
					"first":   {prepaid.SearchCompanyParams{FirstName: "Grace"}, []prepaid.AccountID{special}},
					"last":    {prepaid.SearchCompanyParams{LastName: "Hopper"}, []prepaid.AccountID{special}},
					"mobile":  {prepaid.SearchCompanyParams{Mobile: "+61499999999"}, []prepaid.AccountID{special}},
					"all": {prepaid.SearchCompanyParams{
						ProgramClientID: "acme", ProgramID: portal.ProgramID, Status: prepaid.AccountStatusInactive,
						FirstName: "Grace", LastName: "Hopper", Mobile: "+61499999999",
					}, []prepaid.AccountID{special}},
				} {
					c.params.Include = []prepaid.Include{prepaid.IncludeCardholder}
					for _, prefetch := range []int{0, 3} {
						c.params.Paging.Prefetch = prefetch
						found := []prepaid.AccountID{}
						for account, err := range s.client.Accounts.SearchCompany(t.Context(), company, c.params) {
							require.NoError(t, err, filter)
							require.NotNil(t, account.Cardholder)
							found = append(found, account.ID)
						}
						require.Equal(t, c.want, found, filter)
					}
				}
				page, err := s.client.Accounts.SearchCompanyPage(t.Context(), company, prepaid.SearchCompanyParams{Paging: prepaid.Paging{Page: 3}})
				require.NoError(t, err)
				require.Len(t, page.Items, 1)
				require.Nil(t, page.Items[0].Cardholder)
			})
		})
	}
}

func TestE2EAccountNotFound(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		ctx, accounts := t.Context(), s.client.Accounts
		failed := map[string]error{
			"update":       accounts.Update(ctx, "nobody", prepaid.UpdateAccountParams{Cardholder: cardholder()}),
			"set status":   accounts.SetStatus(ctx, "nobody", prepaid.SetStatusParams{Status: prepaid.AccountStatusClosed}),
			"plastic":      accounts.SetPlasticEnabled(ctx, "nobody", prepaid.SetPlasticEnabledParams{}),
			"transactions": done(accounts.TransactionsPage(ctx, "nobody", prepaid.ListTransactionsParams{})),
		}
		for _, o := range operations.All() {
			if id := harness.OnlyID(o.Name, prepaid.AccountID("nobody")); id != nil {
				failed[o.Name] = done(harness.Call(ctx, s.client, o.Name, id))
			}
		}
		for name, err := range failed {
			require.ErrorIs(t, refused(t, err, 404, "account_not_found"), prepaid.ErrNotFound, name)
			call := harness.As[*prepaid.CallError](t, err)
			require.Equal(t, prepaid.AccountID("nobody"), call.AccountID)
		}
	})
}
