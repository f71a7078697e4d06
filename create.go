package prepaid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
)

// RequestType says whether Create makes a new card or a replacement.
type RequestType string

const (
	RequestTypeNew     RequestType = "new"     // makes a new account
	RequestTypeReplace RequestType = "replace" // makes a replacement for an account in AccountStatusLostOrStolen
)

// CreateAccountParams describes a new account (reference section 4.4).
type CreateAccountParams struct {
	CompanyID         CompanyID   `json:"company_id"`          // the program in which the account is created; required
	InitialLoadAmount Amount      `json:"initial_load_amount"` // in currency units, zero or more; always sent
	Cardholder        *Cardholder `json:"registration"`        // the cardholder; required
	// NameOnCard is engraved on the card: 2 to 19 characters of 0-9, A-Z, hyphen, slash and full stop, no space.
	NameOnCard string `json:"name_on_card,omitzero" redact:"personal"`
	// ClientAccountKey is your own key, at most 255 printable ASCII characters. Only this key finds the account if the response was lost.
	ClientAccountKey string `json:"client_account_key,omitzero"`
	DisplayName      string `json:"display_name,omitzero" redact:"personal"` // at most 100 characters, for a fringe-benefit card program
	InitiatingUserID string `json:"initiating_user_id,omitzero"`             // the user who initiated the request; optional
	// PlasticEnabled allows physical-card and online card-detail transactions; nil means true.
	PlasticEnabled   *bool             `json:"is_plastic_enabled,omitzero"`
	PlasticExpiry    time.Time         `json:"plastic_expiry,omitzero"`    // works only for a card batch that allows a custom one
	PortalIdentifier *PortalIdentifier `json:"portal_identifier,omitzero"` // links the account to the portal
	// MDESConfigID is the product configuration of the wallet token service, at most 10 characters.
	MDESConfigID string `json:"mdes_config_id,omitzero"`
	// GiftCardExpiry is for gift cards. A digital gift card that is active immediately needs it here: no method sets it later.
	GiftCardExpiry time.Time `json:"gift_card_expiry,omitzero"`
	// CorrespondingAccountID is the replaced card. The activation portal needs the ID, and closes the replaced card if its balance is zero.
	CorrespondingAccountID AccountID      `json:"corresponding_account_id,omitzero"`
	CardholderType         CardholderType `json:"card_holder_type,omitzero"` // primary or secondary; omitted when zero
	RequestType            RequestType    `json:"request_type,omitzero"`     // new when empty
	// AccountIDToReplace is the lost or stolen account. Required with RequestTypeReplace; sent whenever set.
	AccountIDToReplace AccountID `json:"account_id_to_replace,omitzero"`
	// AccountExpiry is when the account expires.
	//
	// Deprecated: use GiftCardExpiry.
	AccountExpiry time.Time `json:"account_expiry,omitzero"`
}

func (p CreateAccountParams) check(v *validator) {
	v.companyID("company_id", p.CompanyID)
	v.notNegative("initial_load_amount", p.InitialLoadAmount)
	p.Cardholder.check(v, "registration")
	v.nameOnCard("name_on_card", p.NameOnCard)
	v.accountKey("client_account_key", p.ClientAccountKey)
	v.text("display_name", p.DisplayName, 100)
	v.text("initiating_user_id", p.InitiatingUserID, 0)
	p.PortalIdentifier.check(v, "portal_identifier")
	v.text("mdes_config_id", p.MDESConfigID, 10)
	v.text("corresponding_account_id", string(p.CorrespondingAccountID), 0)
	if p.CardholderType != 0 && !Known(p.CardholderType) {
		v.value("card_holder_type", "must be 1 (primary) or 2 (secondary)")
	}
	v.oneOf("request_type", string(p.RequestType), p.RequestType.values())
	if p.RequestType == RequestTypeReplace {
		v.required("account_id_to_replace", string(p.AccountIDToReplace))
	} else {
		v.text("account_id_to_replace", string(p.AccountIDToReplace), 0)
	}
}

// Create makes an account. The response has no EAID: use Issue. A 404 may mean bad input, so it is not [ErrNotFound]. After
// [OutcomeUnknown] use FindCreated. Safety: never repeated. API: POST /accounts.
func (s *AccountsService) Create(ctx context.Context, params CreateAccountParams) (*AccountSummary, error) {
	v := s.client.validator()
	params.check(&v)
	body, err := encodeReceived(params)
	return fetch[AccountSummary](ctx, s.client, request{
		op: opAccountsCreate, account: params.AccountIDToReplace, encoded: body, unencodable: err, faults: v.faults,
	})
}

// UpdateAccountParams replaces registration data, and may clear omitted members: read the account with [IncludeCardholder], change the
// cardholder, and send all of it back. That works for any data that the service holds, unlisted members and text that is not Unicode
// included: Update does not check the limits of key, display name and portal identifier. It refuses U+FFFD in changed text.
type UpdateAccountParams struct {
	Cardholder *Cardholder `json:"registration"` // the whole cardholder; required
	// ClientAccountKey is at most 255 printable ASCII characters; nil omits it, a pointer to "" sends an empty one.
	ClientAccountKey *string           `json:"client_account_key,omitzero"`
	DisplayName      *string           `json:"display_name,omitzero" redact:"personal"` // at most 100 characters; nil omits it
	InitiatingUserID string            `json:"initiating_user_id,omitzero"`             // the user who initiated the request; optional
	PortalIdentifier *PortalIdentifier `json:"portal_identifier,omitzero"`              // links the account to the portal; nil omits it
}

func (p UpdateAccountParams) check(v *validator) {
	p.Cardholder.check(v, "registration")
	v.text("initiating_user_id", p.InitiatingUserID, 0)
	v.lax, v.whole = true, true // the service may hold values that it would refuse as new ones
	if p.ClientAccountKey != nil {
		v.accountKey("client_account_key", *p.ClientAccountKey)
	}
	if p.DisplayName != nil {
		v.text("display_name", *p.DisplayName, 100)
	}
	p.PortalIdentifier.check(v, "portal_identifier")
}

// Update replaces an account's registration. After [OutcomeUnknown] read it with [IncludeCardholder]; update again only if your data is
// still current. Errors: [ErrNotFound]. Safety: never repeated. API: PUT /accounts/{id}.
func (s *AccountsService) Update(ctx context.Context, id AccountID, params UpdateAccountParams) error {
	v := s.client.validator()
	v.pathID("id", string(id))
	params.check(&v)
	body, err := encodeReceived(params)
	return send(ctx, s.client, request{
		op: opAccountsUpdate, account: id, path: pathValues{string(id)}, encoded: body, unencodable: err, faults: v.faults,
	})
}

// IssueParams is the input of Issue.
type IssueParams struct {
	Account CreateAccountParams // the input of Create; ClientAccountKey is required and must be unique within the program
	// ProgramClientID is the client_id of the program, to search by. Required. If it is wrong, Issue creates the account but does not find it.
	ProgramClientID string
	VisibleWithin   time.Duration // how long to look for an account that is not visible yet; zero means 30 s
	// Again says that an earlier run may have created the account: Issue first looks for it, for the whole of VisibleWithin. Set it in every
	// rerun. If ctx has a deadline, it must be later than the end of VisibleWithin: otherwise Issue looks once and creates nothing.
	Again bool
}

func (p IssueParams) check(v *validator) {
	v.required("program_client_id", p.ProgramClientID)
	v.required("client_account_key", p.Account.ClientAccountKey)
	p.Account.check(v)
}

// IssueResult is the result of Issue.
type IssueResult struct {
	Account *Account // the account with its ID
	Created bool     // false if the account existed before, from an earlier run
}

const (
	defaultVisibleWithin = 30 * time.Second
	firstSearchPause     = 200 * time.Millisecond
	lastSearchPause      = 5 * time.Second
)

// Issue creates the account unless one with its ClientAccountKey exists, and returns it with its ID, even if the creation's response was
// lost. Run it in one process at a time for each key. With [RequestTypeReplace], lost, stolen, replaced and closed accounts do not match.
// After an error with [OutcomeApplied], never run Issue again: it could create a second account. Use FindCreated. After any other outcome,
// run it again, with Again, when the cause is gone. If the outcome was unknown and the first account is not visible within VisibleWithin,
// that run creates a second: set VisibleWithin to minutes, with a later deadline, keep InitialLoadAmount zero, and load with Transfer.
//
// Errors, which name the step: those of Create; [ErrAmbiguous] when several accounts have the key; [ErrNotSeen] when the account was
// certainly created, but is not visible within VisibleWithin or has another client_id: correct ProgramClientID first. With Again,
// ErrNotSeen with [OutcomeNotProcessed] means that this run created nothing. If the error also matches [context.DeadlineExceeded] or
// [context.Canceled], ctx ends before VisibleWithin: run it again, with Again and more time. Otherwise an account with the key exists under
// another client_id: if it belongs to another program, omit Again. Safety: the creation is never repeated. API: GET /accounts, POST
// /accounts, GET /accounts/company/{companyid}.
func (s *AccountsService) Issue(ctx context.Context, params IssueParams) (*IssueResult, error) {
	v := s.client.validator()
	params.check(&v)
	if len(v.faults) > 0 {
		return nil, issueError(OutcomeRejected, "", &ValidationError{Faults: v.faults}, nil)
	}
	find := FindCreatedParams{
		ProgramClientID:  params.ProgramClientID,
		ClientAccountKey: params.Account.ClientAccountKey,
		CompanyID:        params.Account.CompanyID,
		Replacing:        params.Account.RequestType == RequestTypeReplace,
		alone:            params.Account.RequestType != RequestTypeReplace,
	}
	search := s.searchOnce
	if params.Again {
		find.VisibleWithin, search = params.VisibleWithin, s.findIssued
		find.whole = true
	}
	switch account, err := search(ctx, find); {
	case err == nil:
		return &IssueResult{Account: account}, nil
	case !nothingSeen(err):
		return nil, issueError(OutcomeNotProcessed, "search before the creation", err, err)
	}
	summary, failure := s.Create(ctx, params.Account)
	outcome := OutcomeOf(failure)
	if outcome != OutcomeApplied && outcome != OutcomeUnknown {
		return nil, failure
	}
	if summary != nil {
		find.ExternalAccountID = summary.ExternalAccountID
	}
	find.VisibleWithin, find.whole, search = params.VisibleWithin, false, s.findIssued
	if find.ExternalAccountID == "" { // an account under another client_id may belong to another program
		search = s.findCreated
	}
	account, err := search(ctx, find)
	if err == nil {
		return &IssueResult{Account: account, Created: true}, nil
	}
	if outcome == OutcomeUnknown {
		return nil, issueError(outcome, "account may have been created; search", err, failure)
	}
	return nil, issueError(outcome, "account created; search", err, failure)
}

// findIssued is findCreated, but ends at once if the account is in the company under another client_id.
func (s *AccountsService) findIssued(ctx context.Context, find FindCreatedParams) (*Account, error) {
	account, err := s.searchOnce(ctx, find)
	if err == nil || !errors.Is(err, ErrNotSeen) {
		return account, err
	}
	// One page is enough to notice a wrong setting early. If this search fails, the searches by key still decide.
	page, failed := s.SearchCompanyPage(ctx, find.CompanyID, SearchCompanyParams{Paging: Paging{Size: elsewherePage}})
	if failed != nil {
		return s.findCreated(ctx, find)
	}
	var listed []*Account
	for i := range page.Items {
		if a := &page.Items[i]; a.ProgramClientID == find.ProgramClientID && a.ClientAccountKey == find.ClientAccountKey && find.sameKey(a) {
			listed = append(listed, a)
		}
	}
	if account, err := find.pick(listed); !errors.Is(err, ErrNotSeen) { // the search by key does not show it yet
		return account, err
	}
	if slices.ContainsFunc(page.Items, find.isElsewhere) {
		if find.ExternalAccountID != "" {
			return nil, find.notSeen("the account has another client_id")
		}
		return nil, find.notSeen("the company has an account with this client_account_key under another client_id")
	}
	return s.findCreated(ctx, find)
}

const elsewherePage = 500

// FindCreatedParams selects by ProgramClientID and ClientAccountKey, or by CompanyID and ExternalAccountID. All fields that are set must
// match.
type FindCreatedParams struct {
	ProgramClientID   string        // the client_id of the program; needed with ClientAccountKey
	ClientAccountKey  string        // the key given at creation; after a lost response, it is the only way to find the account
	CompanyID         CompanyID     // the program; needed without ClientAccountKey
	ExternalAccountID string        // the external account ID that Create returned
	Replacing         bool          // ignores accounts that are lost or stolen, replaced or closed
	VisibleWithin     time.Duration // how long to look for an account that is not visible yet; zero means 30 s

	alone bool // no other account may have the key
	whole bool // a search shorter than VisibleWithin is useless
}

func (p FindCreatedParams) check(v *validator) {
	switch {
	case p.ClientAccountKey != "":
		v.required("program_client_id", p.ProgramClientID)
		v.accountKey("client_account_key", p.ClientAccountKey)
	case p.ExternalAccountID != "":
		v.companyID("company_id", p.CompanyID)
		v.text("program_client_id", p.ProgramClientID, 0)
	default:
		v.fault("client_account_key", "is required, or external_account_id and company_id")
	}
	v.text("external_account_id", p.ExternalAccountID, 0)
}

// isElsewhere reports whether a matches, but has another client_id.
func (p FindCreatedParams) isElsewhere(a Account) bool {
	return a.ProgramClientID != "" && a.ProgramClientID != p.ProgramClientID && a.ClientAccountKey == p.ClientAccountKey && p.matches(&a)
}

func (p FindCreatedParams) notSeen(elsewhere string) error {
	return &CallError{Operation: opFindCreated, Outcome: OutcomeUnknown, Err: &notSeenError{p.ProgramClientID, p.CompanyID, elsewhere}}
}

// nothingSeen reports whether err is the result of a search that was completed and found nothing, neither an account nor another cause to
// end: a search that ctx interrupted matches ErrNotSeen too.
func nothingSeen(err error) bool {
	call, ok := errors.AsType[*CallError](err)
	if !ok {
		return false
	}
	none, ok := call.Err.(*notSeenError) // the only cause
	return ok && none.elsewhere == ""
}

// errWithinDeadline: the deadline would end a search that must be whole.
var errWithinDeadline = fmt.Errorf("nothing was created, because the deadline is before the end of VisibleWithin: %w", context.DeadlineExceeded)

// issueError returns err, the error of a search in a step of Issue, with the outcome of the creation and its failure, if any.
// The result has the attempts and times of the call that returned sent.
func issueError(outcome Outcome, step string, err, sent error) error {
	failure := &CallError{Operation: "Accounts.Issue", Outcome: outcome, Err: err}
	if call, ok := errors.AsType[*CallError](sent); ok {
		failure.Attempts, failure.FirstSent, failure.LastSent = call.Attempts, call.FirstSent, call.LastSent
	}
	if step == "" {
		return failure
	}
	named := &stepError{step: step, err: err, unseen: outcome == OutcomeUnknown && errors.Is(err, ErrNotSeen)}
	if inner, ok := errors.AsType[*CallError](err); ok && inner.Err != nil && err == error(inner) {
		named.err = inner.Err
	}
	if failure.Err = named; sent != nil && sent != err { // err is not the creation's
		failure.Err = &bothCauses{last: named, earlier: sent, unknown: outcome == OutcomeUnknown}
	}
	return failure
}

// FindCreated looks for the account of a Create with unknown outcome, and returns it if exactly one matches. Errors: [ErrNotSeen] when none
// matched within VisibleWithin (it may still exist), with the context's error if that ended the search; [ErrAmbiguous] when several match.
// The outcome stays unknown after all errors but a *[ValidationError]. Safety: read. API: GET /accounts, or GET
// /accounts/company/{companyid}.
func (s *AccountsService) FindCreated(ctx context.Context, params FindCreatedParams) (*Account, error) {
	v := s.client.validator()
	params.check(&v)
	if len(v.faults) > 0 {
		return nil, &CallError{Operation: opFindCreated, Outcome: OutcomeRejected, Err: &ValidationError{Faults: v.faults}}
	}
	account, err := s.findCreated(ctx, params)
	if err != nil && OutcomeOf(err) != OutcomeUnknown {
		err = &CallError{Operation: opFindCreated, Err: err}
	}
	return account, err
}

const opFindCreated = "Accounts.FindCreated"

// findCreated searches repeatedly until VisibleWithin has passed.
func (s *AccountsService) findCreated(ctx context.Context, params FindCreatedParams) (*Account, error) {
	until := time.Now().Add(cmp.Or(max(params.VisibleWithin, 0), defaultVisibleWithin))
	for wait := firstSearchPause; ; wait = min(wait*2, lastSearchPause) {
		last := !time.Now().Before(until)
		account, err := s.searchOnce(ctx, params)
		if err == nil || !errors.Is(err, ErrNotSeen) || last {
			return account, err
		}
		if deadline, ok := ctx.Deadline(); ok && params.whole && !until.Before(deadline) {
			return nil, interrupted(errWithinDeadline, err)
		}
		if ended := pause.For(ctx, min(wait, time.Until(until))); ended != nil {
			return nil, interrupted(ended, err)
		}
	}
}

// searchOnce searches once.
func (s *AccountsService) searchOnce(ctx context.Context, params FindCreatedParams) (*Account, error) {
	var found []*Account
	for account, err := range s.candidates(ctx, params) {
		if err != nil {
			return nil, err
		}
		if params.sameKey(account) {
			found = append(found, account)
		}
	}
	return params.pick(found)
}

// pick returns the account of found that matches.
func (p FindCreatedParams) pick(found []*Account) (*Account, error) {
	i := slices.IndexFunc(found, p.matches)
	switch {
	case i < 0:
		return nil, p.notSeen("")
	case len(found) > 1:
		return nil, &CallError{Operation: opFindCreated, Outcome: OutcomeUnknown, Err: ErrAmbiguous}
	}
	return found[i], nil
}

func (s *AccountsService) candidates(ctx context.Context, params FindCreatedParams) iter.Seq2[*Account, error] {
	if params.ClientAccountKey == "" && params.ExternalAccountID != "" {
		return s.SearchCompany(ctx, params.CompanyID, SearchCompanyParams{ProgramClientID: params.ProgramClientID})
	}
	return s.Search(ctx, SearchAccountsParams{
		ProgramClientID: params.ProgramClientID, ClientAccountKey: params.ClientAccountKey,
	})
}

// sameKey reports whether an account matches or, if the account must be alone, would match with another ExternalAccountID.
func (p FindCreatedParams) sameKey(a *Account) bool {
	wanted := p
	if p.alone {
		wanted.ExternalAccountID = ""
	}
	return wanted.matches(a)
}

func (p FindCreatedParams) matches(a *Account) bool {
	if p.CompanyID != 0 && a.CompanyID != p.CompanyID ||
		p.ExternalAccountID != "" && a.ExternalAccountID != p.ExternalAccountID {
		return false
	}
	gone := []AccountStatus{AccountStatusLostOrStolen, AccountStatusReplaced, AccountStatusClosed}
	return !p.Replacing || !slices.Contains(gone, a.Status)
}
