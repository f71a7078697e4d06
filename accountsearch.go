package prepaid

import (
	"context"
	"fmt"
	"iter"
	"log/slog"

	"github.com/cardprograms/prepaid/internal/redact"
)

// SearchAccountsParams finds accounts by the caller's own key. The zero value lacks both required fields.
type SearchAccountsParams struct {
	// ProgramClientID is the client_id of the program. Required. It is not Credentials.ClientID.
	ProgramClientID string
	// ClientAccountKey is the key given at creation. Required.
	ClientAccountKey string
	// Include asks for groups: personal, direct entry, free text, BPAY.
	Include []Include
	// Paging starts at page 1 when zero.
	Paging Paging
}

var opSearchAccounts = operation{
	Operation: Operation{"Accounts.Search", "GET", "/accounts"},
	class:     classRead, kind: responseJSON, success: []int{200, 204}, lane: LaneCall,
}

func (p SearchAccountsParams) list(v validator) pageList[Account] {
	v.required("program_client_id", p.ProgramClientID)
	v.required("client_account_key", p.ClientAccountKey)
	v.accountKey("client_account_key", p.ClientAccountKey)
	v.includes(p.Include, IncludePersonal, IncludeDirectEntry, IncludeFreeText, IncludeBPay)
	v.paging(p.Paging)
	query := includeQuery(p.Include)
	query = query.With("client_id", p.ProgramClientID).With("client_account_key", p.ClientAccountKey)
	return pageList[Account]{
		request: request{op: opSearchAccounts, query: query, faults: v.faults}, paging: p.Paging, identity: accountIdentity,
	}
}

// Search iterates over the accounts that match, from Paging.Page on. Uniqueness of a key is not promised.
//
// Errors: [ErrListIncomplete] as a *[IncompleteListError] when fewer accounts were seen than the service counted;
// [ErrPageRepeated] when it ignores the page number. Safety: read.
//
// API: GET /accounts.
func (s *AccountsService) Search(ctx context.Context, params SearchAccountsParams) iter.Seq2[*Account, error] {
	return params.list(s.client.validator()).all(ctx, &s.client.core)
}

// SearchPage returns one page of [AccountsService.Search].
//
// Errors: none of its own. Safety: read.
//
// API: GET /accounts.
func (s *AccountsService) SearchPage(ctx context.Context, params SearchAccountsParams) (*Page[Account], error) {
	return params.list(s.client.validator()).page(ctx, &s.client.core)
}

// SearchCompanyParams filters the accounts of a company. Empty fields do not filter; the zero value lists all.
type SearchCompanyParams struct {
	// ProgramClientID filters by client_id.
	ProgramClientID string
	// ProgramID filters by program.
	ProgramID string
	// Status filters by state.
	Status AccountStatus
	// FirstName filters by the cardholder's first name.
	FirstName string `redact:"personal"`
	// LastName filters by the cardholder's last name.
	LastName string `redact:"personal"`
	// Mobile filters by the cardholder's mobile number.
	Mobile string `redact:"personal"`
	// Include asks for groups: personal only.
	Include []Include
	// Paging starts at page 1 when zero.
	Paging Paging
}

// Format prints p without personal data.
func (p SearchCompanyParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without personal data.
func (p SearchCompanyParams) LogValue() slog.Value { return redact.LogValue(p) }

var opSearchCompany = operation{
	Operation: Operation{"Accounts.SearchCompany", "GET", "/accounts/company/{companyid}"},
	class:     classRead, kind: responseJSON, success: []int{200, 204}, lane: LaneCall,
}

func (p SearchCompanyParams) list(v validator, company CompanyID) pageList[Account] {
	v.companyID("company", company)
	oneOf(&v, "status", p.Status, accountStatuses()...)
	v.includes(p.Include, IncludePersonal)
	v.paging(p.Paging)
	query := includeQuery(p.Include)
	for _, filter := range []struct{ name, value string }{
		{"client_id", p.ProgramClientID}, {"program_id", p.ProgramID}, {"status", string(p.Status)},
		{"first_name", p.FirstName}, {"last_name", p.LastName}, {"mobile", p.Mobile},
	} {
		v.text(filter.name, filter.value, 0)
		if filter.value != "" {
			query = query.With(filter.name, filter.value)
		}
	}
	return pageList[Account]{
		request: request{op: opSearchCompany, path: pathValues{company.String()}, query: query, faults: v.faults},
		paging:  p.Paging, identity: accountIdentity, leaves: true,
	}
}

// SearchCompany iterates over the accounts of a company, from Paging.Page on. The reference shows no paging
// headers here: without them the iteration ends at an empty page, one shorter than the first, or a later one that the
// service itself refuses with 400. One account in place of a list is the whole list.
//
// Errors: [ErrListIncomplete] as a *[IncompleteListError], after all that was received, when fewer accounts were seen than
// the service counted, as when some change to another status meanwhile; [ErrPageRepeated] when it ignores the page
// number. Safety: read.
//
// API: GET /accounts/company/{companyid}.
func (s *AccountsService) SearchCompany(ctx context.Context, company CompanyID, params SearchCompanyParams) iter.Seq2[*Account, error] {
	return params.list(s.client.validator(), company).all(ctx, &s.client.core)
}

// SearchCompanyPage returns one page of [AccountsService.SearchCompany].
//
// Errors: none of its own. Safety: read.
//
// API: GET /accounts/company/{companyid}.
func (s *AccountsService) SearchCompanyPage(ctx context.Context, company CompanyID, params SearchCompanyParams) (*Page[Account], error) {
	return params.list(s.client.validator(), company).page(ctx, &s.client.core)
}
