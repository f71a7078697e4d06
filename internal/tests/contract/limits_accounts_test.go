package contract

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

func validCreate() prepaid.CreateAccountParams {
	return prepaid.CreateAccountParams{CompanyID: 7, InitialLoadAmount: prepaid.Cents(100), Cardholder: validCardholder()}
}

// Section 4.4, "Account creation request", row by row; sections 2.3, 2.4, 2.5, 2.7 and 8 inside it.
func createLimits() []limit[prepaid.CreateAccountParams] {
	type P = prepaid.CreateAccountParams
	rows := []limit[P]{
		{
			ref: "4.4", field: "company_id", rule: "is required",
			bad: func(p *P) { p.CompanyID = 0 }, good: func(p *P) { p.CompanyID = 1 },
		},
		{
			ref: "4.4", field: "initial_load_amount", rule: "must not be below zero", shown: "9.17",
			bad: func(p *P) { p.InitialLoadAmount = prepaid.MustAmount("-9.17") }, good: func(p *P) { p.InitialLoadAmount = prepaid.Amount{} },
		},
		{
			ref: "4.4", field: "registration", rule: "is required",
			bad: func(p *P) { p.Cardholder = nil },
			good: func(p *P) { // only the required fields
				p.Cardholder = &prepaid.Cardholder{
					FirstName: "A", LastName: "B", DateOfBirth: today, PrimaryAddress: prepaid.Address{State: "S", Country: "AU"},
				}
			},
		},
	}
	rows = append(rows, within("registration.", func(p *P) *prepaid.Cardholder { return p.Cardholder }, cardholderLimits())...)
	rows = append(rows, forms("4.4, 8", "name_on_card", "2 to 19 characters", func(p *P) *string { return &p.NameOnCard },
		[2]string{"Q", "QZ"}, [2]string{strings.Repeat("QZ", 10), strings.Repeat("QZ", 9) + "X"}, [2]string{"QZ XW", "QZ-/.0189"},
		[2]string{"qzxw", "AZ"}, [2]string{"QZ'XW", "--"}, [2]string{"QZÉXW", "09"}, [2]string{"QZ,XW", ""}, [2]string{"QZ_XW", "///"},
	)...)
	rows = append(rows, accountKeyLimits("4.4, 8", func(p *P) *string { return &p.ClientAccountKey })...)
	portal := func(p *P) *prepaid.PortalIdentifier {
		p.PortalIdentifier = &prepaid.PortalIdentifier{ClientID: "a", ProgramID: "b", CardholderID: "c"}
		return p.PortalIdentifier
	}
	rows = append(rows, within("portal_identifier.", portal, portalLimits())...)
	for _, pair := range [][2]prepaid.CardholderType{{3, prepaid.CardholderTypePrimary}, {-1, prepaid.CardholderTypeSecondary}, {977, 0}} {
		rows = append(rows, limit[P]{
			ref: "4.4", field: "card_holder_type", rule: "must be 1 (primary) or 2 (secondary)", shown: "977",
			bad:  func(p *P) { p.CardholderType = pair[0] },
			good: func(p *P) { p.CardholderType = pair[1] },
		})
	}
	rows = append(rows, forms("4.4", "request_type", "must be one of new, replace", func(p *P) *prepaid.RequestType { return &p.RequestType },
		[2]prepaid.RequestType{"QZXWV", prepaid.RequestTypeNew}, [2]prepaid.RequestType{"NEW", ""})...)
	return append(rows, limit[P]{
		ref: "4.4", field: "account_id_to_replace", rule: "is required",
		bad:  func(p *P) { p.RequestType = prepaid.RequestTypeReplace },
		good: func(p *P) { p.RequestType, p.AccountIDToReplace = prepaid.RequestTypeReplace, "old" },
	})
}

// Sections 2.2 and 8: 255 characters, ASCII 0x20 to 0x7E.
func accountKeyLimits[P any](ref string, at func(*P) *string) []limit[P] {
	const rule = "at most 255 printable ASCII characters"
	var all strings.Builder
	for c := byte(0x20); c <= 0x7e; c++ {
		all.WriteByte(c)
	}
	return forms(ref, "client_account_key", rule, at,
		[2]string{strings.Repeat("q7Z", 85) + "q", strings.Repeat("q7Z", 85)}, [2]string{"q7Z\x1fq7Z", all.String()},
		[2]string{"q7Z\x7fq7Z", "~"}, [2]string{"q7Zéq7Z", " "})
}

func TestValidationCreateAccount(t *testing.T) {
	t.Parallel()
	requireLimits(t, validCreate, method[prepaid.CreateAccountParams]("Accounts.Create"), createLimits()...)
}

// Section 4.4, PUT /accounts/{id}.
func TestValidationUpdateAccount(t *testing.T) {
	t.Parallel()
	type P = prepaid.UpdateAccountParams
	rows := []limit[P]{{
		ref: "4.4", field: "registration", rule: "is required",
		bad: func(p *P) { p.Cardholder = nil }, good: func(*P) {},
	}}
	rows = append(rows, within("registration.", func(p *P) *prepaid.Cardholder { return p.Cardholder }, cardholderLimits())...)
	requireLimits(t, func() P { return P{Cardholder: validCardholder()} }, method[prepaid.UpdateAccountParams]("Accounts.Update", "eaid"), rows...)
}

// Values that the service holds are sent back unchanged, also if a creation refuses them.
func TestUpdatePutsBackWhatIsHeld(t *testing.T) {
	t.Parallel()
	key, name := strings.Repeat("é", 256), harness.WideText(101)
	sent := sends(t, "held", harness.Calling("Accounts.Update", "eaid", prepaid.UpdateAccountParams{
		Cardholder: validCardholder(), ClientAccountKey: &key, DisplayName: &name, PortalIdentifier: &prepaid.PortalIdentifier{},
	}))
	require.Contains(t, sent.body, `"client_account_key":"`+key+`","display_name":"`+name+`"`)
	require.Contains(t, sent.body, `"portal_identifier":{"client_id":"","program_id":"","cardholder_id":""}`)
}

// Issue refuses values that Create would refuse, and needs its search key, before it searches.
func TestValidationIssue(t *testing.T) {
	t.Parallel()
	type P = prepaid.IssueParams
	rows := []limit[P]{needed("4.4", "program_client_id", func(p *P) *string { return &p.ProgramClientID })}
	rows = append(rows, form("4.4", "client_account_key", "is required",
		func(p *P) *string { return &p.Account.ClientAccountKey }, "", "k"))
	for _, row := range within("", func(p *P) *prepaid.CreateAccountParams { return &p.Account }, createLimits()) {
		if row.field == "client_account_key" {
			row.good = nil // an empty one is legal for Create alone
		}
		rows = append(rows, row)
	}
	valid := func() P {
		account := validCreate()
		account.ClientAccountKey = "key"
		return P{Account: account, ProgramClientID: "client"}
	}
	requireLimits(t, valid, method[P]("Accounts.Issue"), rows...)
}

// Section 4.4, PUT /accounts/{id}/status with section 3.1: one of eleven.
func TestValidationSetStatus(t *testing.T) {
	t.Parallel()
	statuses := []prepaid.AccountStatus{
		"active", "pre_active", "inactive", "deactivated", "lost_or_stolen", "expired", "suspected_fraud", "closed",
		"inactive_pin_tries_exceeded", "vendor_inactive", "replaced",
	}
	rows := []limit[prepaid.AccountStatus]{form("4.4", "status", "is required", func(s *prepaid.AccountStatus) *prepaid.AccountStatus { return s }, "", statuses[0])}
	for _, status := range statuses[1:] {
		rows = append(rows, form("4.4, 3.1", "status", "must be one of active, pre_active",
			func(s *prepaid.AccountStatus) *prepaid.AccountStatus { return s }, "QZXWV", status))
	}
	set := func(ctx context.Context, c *prepaid.Client, s prepaid.AccountStatus) error {
		return c.Accounts.SetStatus(ctx, "eaid", prepaid.SetStatusParams{Status: s})
	}
	requireLimits(t, func() prepaid.AccountStatus { return prepaid.AccountStatusClosed }, set, rows...)
}

// Section 4.4, the two searches. A page is valid from 1 (section 1); zero is the client's "first".
func TestValidationSearches(t *testing.T) {
	t.Parallel()
	keyed := append([]limit[prepaid.SearchAccountsParams]{
		needed("4.4", "program_client_id", func(p *prepaid.SearchAccountsParams) *string { return &p.ProgramClientID }),
		form("4.4", "client_account_key", "is required", func(p *prepaid.SearchAccountsParams) *string { return &p.ClientAccountKey }, "", "k"),
	}, within("", func(p *prepaid.SearchAccountsParams) *prepaid.Paging { return &p.Paging }, pagingLimits())...)
	keyed = append(keyed, accountKeyLimits("2.2, 8", func(p *prepaid.SearchAccountsParams) *string { return &p.ClientAccountKey })...)
	for _, foreign := range []prepaid.Include{prepaid.IncludeTokenInfo, prepaid.IncludeCorrespondingAccountID, prepaid.IncludeCardholderType, "qzxwv"} {
		keyed = append(keyed, limit[prepaid.SearchAccountsParams]{
			ref: "4.4", field: "include[1]", rule: "is not accepted by this operation",
			bad: func(p *prepaid.SearchAccountsParams) { p.Include = []prepaid.Include{prepaid.IncludeBPay, foreign} },
			good: func(p *prepaid.SearchAccountsParams) {
				p.Include = []prepaid.Include{prepaid.IncludeCardholder, prepaid.IncludeDirectEntry, prepaid.IncludeFreeText, prepaid.IncludeBPay}
			},
		})
	}
	keyed = append(keyed, limit[prepaid.SearchAccountsParams]{
		ref: "4.4", field: "include[0]", rule: "is required",
		bad: func(p *prepaid.SearchAccountsParams) { p.Include = []prepaid.Include{""} }, good: func(p *prepaid.SearchAccountsParams) { p.Include = []prepaid.Include{} },
	})
	valid := func() prepaid.SearchAccountsParams {
		return prepaid.SearchAccountsParams{ProgramClientID: "c", ClientAccountKey: "k"}
	}
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		requireLimits(t, valid, method[prepaid.SearchAccountsParams]("Accounts.SearchPage"), keyed...)
	})
	t.Run("iterator", func(t *testing.T) {
		t.Parallel()
		requireLimits(t, valid, method[prepaid.SearchAccountsParams]("Accounts.Search"), keyed...)
	})

	type P = prepaid.SearchCompanyParams
	company := within("", func(p *P) *prepaid.Paging { return &p.Paging }, pagingLimits())
	company = append(company, form("4.4, 3.1", "status", "must be one of active", func(p *P) *prepaid.AccountStatus { return &p.Status }, "ACTIVE", "expired"))
	for _, foreign := range []prepaid.Include{prepaid.IncludeDirectEntry, prepaid.IncludeFreeText, prepaid.IncludeBPay, prepaid.IncludeTokenInfo, prepaid.IncludeCorrespondingAccountID, prepaid.IncludeCardholderType} {
		company = append(company, limit[P]{
			ref: "4.4", field: "include[0]", rule: "is not accepted by this operation",
			bad: func(p *P) { p.Include = []prepaid.Include{foreign} }, good: func(p *P) { p.Include = []prepaid.Include{prepaid.IncludeCardholder} },
		})
	}
	t.Run("company", func(t *testing.T) {
		t.Parallel()
		requireLimits(t, zero[P], method[P]("Accounts.SearchCompanyPage", 7), company...)
	})
}

func pagingLimits() []limit[prepaid.Paging] {
	row := func(field string, at func(*prepaid.Paging) *int) limit[prepaid.Paging] {
		return limit[prepaid.Paging]{ref: "1", field: "paging." + field, rule: "must not be negative", shown: "-977", bad: put(at, -977), good: put(at, 1)}
	}
	return []limit[prepaid.Paging]{
		row("page", func(p *prepaid.Paging) *int { return &p.Page }),
		row("size", func(p *prepaid.Paging) *int { return &p.Size }),
		row("prefetch", func(p *prepaid.Paging) *int { return &p.Prefetch }),
	}
}

// Section 4.4, GET /accounts/{id}/transactions: both ends are optional, and any window is legal.
func TestValidationTransactions(t *testing.T) {
	t.Parallel()
	type P = prepaid.ListTransactionsParams
	day := time.Date(1973, 5, 4, 0, 0, 0, 0, time.UTC)
	rows := append(within("", func(p *P) *prepaid.Paging { return &p.Paging }, pagingLimits()), limit[P]{
		ref: "4.4", field: "before", rule: "must not be set together with to", shown: "1973",
		bad:  func(p *P) { p.To, p.Before = day, day },
		good: func(p *P) { p.From, p.To = day, day },
	}, limit[P]{
		ref: "4.4", field: "to", rule: "must not be before from", shown: "1973",
		bad:  func(p *P) { p.From, p.To = day, day.Add(-1) },
		good: func(p *P) { p.To = day },
	}, limit[P]{
		ref: "4.4", field: "before", rule: "must be after from", shown: "1973",
		bad:  func(p *P) { p.From, p.Before = day, day },
		good: func(p *P) { p.From, p.Before = day, day.Add(1) },
	})
	requireLimits(t, zero[P], method[P]("Accounts.TransactionsPage", "eaid"), rows...)
	requireLimits(t, zero[P], method[P]("Accounts.Transactions", "eaid"), rows...)
}

// An invalid search for a movement or an account sends nothing.
func TestValidationLooks(t *testing.T) {
	t.Parallel()
	type P = prepaid.FindMovementParams
	from := time.Date(1973, 5, 4, 0, 0, 0, 0, time.UTC)
	valid := func() P {
		return P{AccountID: "eaid", Amount: prepaid.Cents(1), From: from, To: from, VisibleWithin: 1}
	}
	requireLimits(t, valid, method[P]("Accounts.FindMovement"),
		needed("4.4", "account_id", func(p *P) *prepaid.AccountID { return &p.AccountID }),
		limit[P]{ref: "4.4", field: "amount", rule: "is required and must not be zero", bad: func(p *P) { p.Amount = prepaid.Amount{} }, good: func(p *P) { p.Amount = prepaid.Cents(-1) }},
		limit[P]{ref: "4.4", field: "amount", rule: "must be made by", bad: func(p *P) { p.Amount = prepaid.Amount{{50, 1}} }, good: func(p *P) { p.Amount = prepaid.Cents(1) }},
		limit[P]{ref: "4.4", field: "from", rule: "is required", bad: func(p *P) { p.From = time.Time{} }},
		limit[P]{
			ref: "4.4", field: "to", rule: "must not be before from", shown: "1973",
			bad: func(p *P) { p.To = from.Add(-1) }, good: func(p *P) { p.To = from },
		},
	)
	requireRefusal(t, sendsNothing(t, harness.Calling("Accounts.FindMovement", P{})), "", fields("account_id", "amount", "from", "to")...)

	find := func(params prepaid.FindCreatedParams) error {
		return sendsNothing(t, harness.Calling("Accounts.FindCreated", params))
	}
	requireRefusal(t, find(prepaid.FindCreatedParams{}), "", harness.Fault{Field: "client_account_key", Rule: "is required, or external_account_id and company_id"})
	requireRefusal(t, find(prepaid.FindCreatedParams{ClientAccountKey: "k"}), "", harness.Fault{Field: "program_client_id", Rule: "is required"})
	requireRefusal(t, find(prepaid.FindCreatedParams{ExternalAccountID: "x"}), "", harness.Fault{Field: "company_id", Rule: "is required"})
}
