package prepaid

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/internal/redact"
)

// IssueParams is a creation that can be found again. The zero value lacks the required fields.
type IssueParams struct {
	// Account is what Create takes; ClientAccountKey is required, and unique within the program.
	Account CreateAccountParams
	// ProgramClientID is the client_id of the program, under which the account will be searched. Required. With a wrong one
	// the account is created and then not seen.
	ProgramClientID string
	// Settle is how long to look for an account that does not show up yet: 30 s when zero.
	Settle time.Duration
	// Again says that an earlier run may have created the account: the first look then takes as long as Settle before
	// anything is created. Set it whenever you run Issue again.
	Again bool
}

// Issued is an account that exists. The zero value is none.
type Issued struct {
	// Account is the account with its id.
	Account *Account
	// Created is false when the account was there before, from an earlier run.
	Created bool
}

// Format prints p without personal data.
func (p IssueParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without personal data.
func (p IssueParams) LogValue() slog.Value { return redact.LogValue(p) }

// Format prints i without personal data.
func (i Issued) Format(f fmt.State, verb rune) { redact.Format(f, verb, i) }

// LogValue logs i without personal data.
func (i Issued) LogValue() slog.Value { return redact.LogValue(i) }

const (
	defaultSettle  = 30 * time.Second
	firstLookPause = 200 * time.Millisecond
	lastLookPause  = 5 * time.Second
)

// Issue creates the account unless one with its ClientAccountKey exists, and returns it with its account id, also
// when the creation's own answer was lost. Run it by one process at a time per key, and with Again after an error: an
// account that takes longer than Settle to show up would be created a second time. So keep InitialLoadAmount zero and
// load by keyed Transfer, or wait with [AccountsService.FindCreated] after [ErrNotSeen], instead of running Issue again.
// With RequestTypeReplace neither the account being replaced nor any that is lost, replaced or closed is a match.
//
// Errors: those of Create; [ErrAmbiguous] when several accounts have the key; [ErrNotSeen] when the account was
// created and does not show up within Settle, or shows up in the company under another client_id, which ends the wait: it
// names ProgramClientID and company. Then fix the client_id before anything else. With Again, a key that the company has
// under another client_id is ErrNotSeen too, and nothing is created: if that account belongs to another program, run Issue
// without Again. Safety: the creation is never repeated once it may have arrived.
//
// API: GET /accounts, POST /accounts, GET /accounts/company/{companyid}.
func (s *AccountsService) Issue(ctx context.Context, params IssueParams) (*Issued, error) {
	v := s.client.validator()
	v.required("program_client_id", params.ProgramClientID)
	v.required("client_account_key", params.Account.ClientAccountKey)
	params.Account.check(&v)
	if len(v.faults) > 0 {
		return nil, issueError(OutcomeRejected, &ValidationError{Faults: v.faults}, nil)
	}
	find := FindCreatedParams{
		ProgramClientID:  params.ProgramClientID,
		ClientAccountKey: params.Account.ClientAccountKey,
		CompanyID:        params.Account.CompanyID,
		Replacing:        params.Account.RequestType == RequestTypeReplace,
	}
	look := s.look
	if params.Again {
		find.Settle, look = params.Settle, s.findIssued
	}
	switch account, err := look(ctx, find); {
	case err == nil:
		return &Issued{Account: account}, nil
	case !errors.Is(err, ErrNotSeen) || ctx.Err() != nil || seenElsewhere(err):
		return nil, issueError(OutcomeNotProcessed, err, err)
	}
	summary, failure := s.Create(ctx, params.Account)
	outcome := OutcomeOf(failure)
	if outcome != OutcomeApplied && outcome != OutcomeUnknown {
		return nil, failure
	}
	if summary != nil {
		find.ExternalAccountID = summary.ExternalAccountID
	}
	find.Settle, look = params.Settle, s.findIssued
	if find.ExternalAccountID == "" { // an account under another client_id may be another program's, and this one be late
		look = s.findCreated
	}
	account, err := look(ctx, find)
	if err == nil {
		return &Issued{Account: account, Created: true}, nil
	}
	if failure != nil {
		err = &bothCauses{last: err, earlier: failure, unknown: outcome == OutcomeUnknown}
	}
	return nil, issueError(outcome, err, failure)
}

// findIssued is findCreated that ends at once when the account is in the company under another client_id.
func (s *AccountsService) findIssued(ctx context.Context, find FindCreatedParams) (*Account, error) {
	account, err := s.look(ctx, find)
	if err == nil || !errors.Is(err, ErrNotSeen) {
		return account, err
	}
	// One page is enough to notice a wrong setting early; if this look fails, the ones by key still decide.
	page, failed := s.SearchCompanyPage(ctx, find.CompanyID, SearchCompanyParams{Paging: Paging{Size: elsewherePage}})
	if failed == nil && slices.ContainsFunc(page.Items, find.isElsewhere) {
		if find.ExternalAccountID != "" {
			return nil, find.notSeen("the account has another client_id")
		}
		return nil, find.notSeen("the company has an account with this client_account_key under another client_id")
	}
	return s.findCreated(ctx, find)
}

const elsewherePage = 500

// FindCreatedParams says which account to look for: by ProgramClientID and ClientAccountKey, or by CompanyID and
// ExternalAccountID. With all of them, every one must match. The zero value lacks both.
type FindCreatedParams struct {
	// ProgramClientID is the client_id of the program; needed with ClientAccountKey.
	ProgramClientID string
	// ClientAccountKey is the key given at creation. After a lost answer it is all there is to find the account by.
	ClientAccountKey string
	// CompanyID is the program; needed when there is no ClientAccountKey.
	CompanyID CompanyID
	// ExternalAccountID is the one that Create returned; a lost answer did not bring one.
	ExternalAccountID string
	// Replacing passes over accounts that are lost or stolen, replaced or closed.
	Replacing bool
	// Settle is how long to look for what does not show up yet: 30 s when zero.
	Settle time.Duration
}

// isElsewhere reports whether a is the account of this creation, or has its key at least, under another client_id.
func (p FindCreatedParams) isElsewhere(a Account) bool {
	return a.ProgramClientID != "" && a.ProgramClientID != p.ProgramClientID && a.ClientAccountKey == p.ClientAccountKey && p.matches(&a)
}

// notSeenError is ErrNotSeen with the settings that decide where the look goes.
type notSeenError struct {
	program   string
	company   CompanyID
	elsewhere string // what the company has under another client_id; empty for nothing
}

func (e *notSeenError) Error() string {
	text := ErrNotSeen.Error()
	if e.program != "" {
		text += fmt.Sprintf(" under client_id %q", e.program)
	}
	if e.company != 0 {
		text += fmt.Sprintf(" of company %d", e.company)
	}
	if e.elsewhere != "" {
		text += ": " + e.elsewhere
	}
	return text
}

func (e *notSeenError) Unwrap() error { return ErrNotSeen }

func (p FindCreatedParams) notSeen(elsewhere string) error {
	return &CallError{Operation: opFindCreated, Outcome: OutcomeUnknown, Err: &notSeenError{p.ProgramClientID, p.CompanyID, elsewhere}}
}

func seenElsewhere(err error) bool {
	e, ok := errors.AsType[*notSeenError](err)
	return ok && e.elsewhere != ""
}

// issueError puts what is known of the creation in front of what a look for it met; sent is the call whose times
// count.
func issueError(outcome Outcome, err, sent error) error {
	failure := &CallError{Operation: "Accounts.Issue", Outcome: outcome, Err: err}
	if call, ok := errors.AsType[*CallError](sent); ok {
		failure.Attempts, failure.FirstSent, failure.LastSent = call.Attempts, call.FirstSent, call.LastSent
	}
	if inner, ok := errors.AsType[*CallError](err); ok && inner.Err != nil && err == error(inner) {
		failure.Err = inner.Err
	}
	return failure
}

// FindCreated looks for an account that a creation may have made, and never makes one: evidence after an unknown
// outcome of Create. It returns the one account that matches, and [ErrNotSeen] or [ErrAmbiguous] when there is none or
// more; [AccountsService.FindMovement], which looks for money, returns a verdict and all that it saw instead.
//
// Errors: [ErrNotSeen] when nothing matched within Settle, which is no proof that nothing was made: its outcome is
// unknown; [ErrAmbiguous] when several match; the context's beside ErrNotSeen when it ended the look. Safety: read.
//
// API: GET /accounts, or GET /accounts/company/{companyid}.
func (s *AccountsService) FindCreated(ctx context.Context, params FindCreatedParams) (*Account, error) {
	v := s.client.validator()
	switch {
	case params.ClientAccountKey != "":
		v.required("program_client_id", params.ProgramClientID)
		v.accountKey("client_account_key", params.ClientAccountKey)
	case params.ExternalAccountID != "":
		v.companyID("company_id", params.CompanyID)
	default:
		v.fault("client_account_key", "is required, or external_account_id and company_id")
	}
	if len(v.faults) > 0 {
		return nil, &CallError{Operation: opFindCreated, Outcome: OutcomeRejected, Err: &ValidationError{Faults: v.faults}}
	}
	return s.findCreated(ctx, params)
}

const opFindCreated = "Accounts.FindCreated"

// findCreated looks again and again.
func (s *AccountsService) findCreated(ctx context.Context, params FindCreatedParams) (*Account, error) {
	settle := params.Settle
	if settle <= 0 {
		settle = defaultSettle
	}
	until := time.Now().Add(settle)
	for wait := firstLookPause; ; wait = min(wait*2, lastLookPause) {
		account, err := s.look(ctx, params)
		if err == nil || !errors.Is(err, ErrNotSeen) || time.Now().Add(wait).After(until) {
			return account, err
		}
		if ended := pause.For(ctx, wait); ended != nil {
			return nil, cutShort(ended, err)
		}
	}
}

// look searches once.
func (s *AccountsService) look(ctx context.Context, params FindCreatedParams) (*Account, error) {
	var found []*Account
	for account, err := range s.candidates(ctx, params) {
		if err != nil {
			return nil, err
		}
		if params.matches(account) {
			found = append(found, account)
		}
	}
	switch len(found) {
	case 0:
		return nil, params.notSeen("")
	case 1:
		return found[0], nil
	}
	return nil, &CallError{Operation: opFindCreated, Outcome: OutcomeUnknown, Err: ErrAmbiguous}
}

func (s *AccountsService) candidates(ctx context.Context, params FindCreatedParams) iter.Seq2[*Account, error] {
	if params.ClientAccountKey == "" && params.ExternalAccountID != "" {
		return s.SearchCompany(ctx, params.CompanyID, SearchCompanyParams{ProgramClientID: params.ProgramClientID})
	}
	return s.Search(ctx, SearchAccountsParams{
		ProgramClientID: params.ProgramClientID, ClientAccountKey: params.ClientAccountKey,
	})
}

func (p FindCreatedParams) matches(a *Account) bool {
	if p.CompanyID != 0 && a.CompanyID != p.CompanyID ||
		p.ExternalAccountID != "" && a.ExternalAccountID != p.ExternalAccountID {
		return false
	}
	gone := []AccountStatus{AccountStatusLostOrStolen, AccountStatusReplaced, AccountStatusClosed}
	return !p.Replacing || !slices.Contains(gone, a.Status)
}
