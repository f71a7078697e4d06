package contract

import (
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const createOperation = "POST /accounts"

// creation has every field of a new account; the value of a text not listed here is the name of its field.
func creation() prepaid.CreateAccountParams {
	params := prepaid.CreateAccountParams{
		CompanyID: company, InitialLoadAmount: prepaid.MustAmount("25.50"), Cardholder: cardholder(), NameOnCard: "G.HOPPER",
		ClientAccountKey: "emp-9", DisplayName: "Açmé, meals", InitiatingUserID: "ada", PlasticEnabled: new(false), PlasticExpiry: expiry,
		PortalIdentifier: &portal, MDESConfigID: "mdes-1", GiftCardExpiry: expiry.AddDate(1, 0, 0),
		CardholderType: prepaid.CardholderTypeSecondary, RequestType: prepaid.RequestTypeNew,
	}
	for field, value := range reflect.ValueOf(&params).Elem().Fields() {
		if field.Type == reflect.TypeFor[string]() && value.IsZero() {
			value.SetString(field.Name)
		}
	}
	return params
}

func TestE2ECreateAccount(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{CustomPlasticExpiry: true, InitialStatus: "inactive"}, func(t *testing.T, s *stage) {
		s.AddCompany(prepaidtest.Company{ID: 42, ClientID: "acme", ProductType: "gift"})
		params := creation()
		params.CorrespondingAccountID = s.seed("0")
		summary, err := s.client.Accounts.Create(t.Context(), params)
		require.NoError(t, err)

		id := s.AccountIDs()[1]
		account, err := s.client.Accounts.Get(t.Context(), id, allIncludes()...)
		require.NoError(t, err)
		require.Equal(t, &prepaid.AccountSummary{
			ExternalAccountID: account.ExternalAccountID, CompanyID: company, Balance: params.InitialLoadAmount, CardNumber: account.CardNumber,
			PlasticExpiry: expiry, ProductType: prepaid.ProductTypeGift, Status: prepaid.AccountStatusInactive,
			FirstTransactionOccurredAt: account.FirstTransactionOccurredAt, LastTransactionOccurredAt: account.LastTransactionOccurredAt,
		}, summary)
		require.NotZero(t, summary.FirstTransactionOccurredAt)
		for field, value := range reflect.ValueOf(params).Fields() {
			if got := reflect.ValueOf(*account).FieldByName(field.Name); got.IsValid() && field.Name != "AccountExpiry" {
				require.False(t, value.IsZero(), field.Name)
				if field.Type == reflect.TypeFor[*bool]() {
					value = value.Elem()
				}
				require.Equal(t, value.Interface(), got.Interface(), field.Name)
			}
		}
		require.Equal(t, params.GiftCardExpiry, account.AccountExpiry)
		s.holds(id, "25.50")
		require.Contains(t, s.sent(createOperation), `"initiating_user_id":"ada"`)
		require.Contains(t, s.sent(createOperation), `"date_of_birth":"1986-12-09T00:00:00Z"`)
	})
}

// Client and emulator, which are written independently, refuse each text of a creation from the same length on.
func TestE2ECreateAccountLimits(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{RateLimit: -1}, func(t *testing.T, s *stage) {
		config := s.Config()
		config.SkipValueChecks = true
		lax := harness.NewClient(t, config)
		for field := range reflect.TypeFor[prepaid.CreateAccountParams]().Fields() {
			refusedFrom := func(client *prepaid.Client) int {
				return sort.Search(300, func(n int) bool {
					params := creation()
					reflect.ValueOf(&params).Elem().FieldByIndex(field.Index).SetString(strings.Repeat("A", n+2))
					_, err := client.Accounts.Create(t.Context(), params)
					_, invalid := errors.AsType[*prepaid.ValidationError](err)
					return invalid || client == lax && err != nil
				})
			}
			if field.Type == reflect.TypeFor[string]() {
				require.Equal(t, refusedFrom(s.client), refusedFrom(lax), field.Name)
			}
		}
	})
}

// An account with only the required fields: no others are sent.
func TestE2ECreateAccountLeast(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		summary, err := s.client.Accounts.Create(t.Context(), prepaid.CreateAccountParams{
			CompanyID: company, Cardholder: &prepaid.Cardholder{
				FirstName: "Ada", LastName: "Lovelace", DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 1},
				PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
			},
			AccountExpiry: expiry,
		})
		require.NoError(t, err)
		require.Equal(t, prepaid.AccountStatusPreActive, summary.Status)
		require.True(t, summary.PlasticEnabled)
		require.Zero(t, summary.FirstTransactionOccurredAt)
		require.JSONEq(t, `{"company_id":42,"initial_load_amount":0.00,"account_expiry":"2031-03-31T00:00:00Z","registration":{
		"first_name":"Ada","last_name":"Lovelace","date_of_birth":"1990-05-01T00:00:00Z","primary_address":{"state":"NSW","country":"AU"}}}`,
			s.sent(createOperation))
	})
}

// A lost card is replaced, and the portal closes the old account when its balance is zero.
func TestE2EReplaceAccount(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		old := s.seed("0")
		params := creation()
		params.RequestType, params.AccountIDToReplace, params.CorrespondingAccountID = prepaid.RequestTypeReplace, old, old
		_, err := s.client.Accounts.Create(t.Context(), params)
		refused(t, err, 404, "invalid_request") // not lost yet

		require.NoError(t, s.client.Accounts.SetStatus(t.Context(), old, prepaid.SetStatusParams{Status: prepaid.AccountStatusLostOrStolen}))
		_, err = s.client.Accounts.Create(t.Context(), params)
		require.NoError(t, err)
		require.Equal(t, "lost_or_stolen", s.Status(old))

		require.NoError(t, s.client.Accounts.SetStatus(t.Context(), old, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}))
		fresh := s.AccountIDs()[1]
		s.ActivateThroughPortal(fresh)
		account, err := s.client.Accounts.Summary(t.Context(), old)
		require.NoError(t, err)
		require.Equal(t, prepaid.AccountStatusClosed, account.Status)
		require.Equal(t, "active", s.Status(fresh))
	})
}

// The 404 of a creation may mean bad input: it is not ErrNotFound.
func TestE2ECreateAccountRefused(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		stranger, orphan := creation(), creation()
		stranger.CompanyID = 77
		orphan.CorrespondingAccountID = "nobody"
		replacement := creation()
		replacement.RequestType, replacement.AccountIDToReplace = prepaid.RequestTypeReplace, "nobody"
		for _, params := range []prepaid.CreateAccountParams{orphan, replacement} {
			_, err := s.client.Accounts.Create(t.Context(), params)
			require.NotErrorIs(t, refused(t, err, 404, "account_not_found"), prepaid.ErrNotFound)
		}
		_, err := s.client.Accounts.Create(t.Context(), stranger)
		require.ErrorIs(t, refused(t, err, 400, "invalid_request"), prepaid.ErrBadRequest)
		require.Empty(t, s.AccountIDs())

		_, err = s.client.Accounts.Create(t.Context(), prepaid.CreateAccountParams{
			InitialLoadAmount: prepaid.Cents(-1), NameOnCard: "A LOVELACE", RequestType: prepaid.RequestTypeReplace, Cardholder: new(prepaid.Cardholder),
		})
		invalid(t, err, "company_id", "initial_load_amount", "registration.first_name", "registration.last_name",
			"registration.primary_address.state", "registration.primary_address.country", "registration.date_of_birth",
			"name_on_card", "account_id_to_replace")
	})
}

// With a wrong client_id the card is created, and only the company has it: the error names the settings at once, and a
// second run creates nothing.
func TestE2EIssueUnderAWrongClientID(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		params := prepaid.IssueParams{
			Account:         prepaid.CreateAccountParams{CompanyID: company, ClientAccountKey: "emp-7", Cardholder: cardholder()},
			ProgramClientID: "wrong-id",
		}
		for i, elsewhere := range []string{
			"the account has another client_id", "the company has an account with this client_account_key under another client_id",
		} {
			outcome := []prepaid.Outcome{prepaid.OutcomeApplied, prepaid.OutcomeNotProcessed}[i]
			began := time.Now()
			_, err := s.client.Accounts.Issue(t.Context(), params)
			require.ErrorIs(t, err, prepaid.ErrNotSeen)
			require.Equal(t, outcome, prepaid.OutcomeOf(err))
			require.ErrorContains(t, err, fmt.Sprintf(`under client_id "wrong-id" of company %d: %s`, prepaidtest.DefaultCompany, elsewhere))
			require.Less(t, time.Since(began), 10*time.Second)
			params.Again = true
		}
		require.Equal(t, []int{201}, s.statuses("POST /accounts"))
		params.ProgramClientID = prepaidtest.DefaultProgramClientID
		issued, err := s.client.Accounts.Issue(t.Context(), params)
		require.NoError(t, err)
		require.False(t, issued.Created, "fixed, it is found")
	})
}
