package prepaid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
)

// SearchAccountsParams selects by your own key, which need not be unique.
type SearchAccountsParams struct {
	ProgramClientID  string    // the client_id of the program; required; it is not Config.ClientID
	ClientAccountKey string    // the key given at creation; required
	Include          []Include // requests groups: personal, direct entry, free text, BPAY
	Paging           Paging    // starts at page 1 when zero
}

func (p SearchAccountsParams) check(v *validator) {
	v.required("program_client_id", p.ProgramClientID)
	v.required("client_account_key", p.ClientAccountKey)
	v.accountKey("client_account_key", p.ClientAccountKey)
	v.includes(p.Include, IncludeCardholder, IncludeDirectEntry, IncludeFreeText, IncludeBPay)
	v.paging(p.Paging)
}

func (p SearchAccountsParams) list(v validator) pageList[Account] {
	p.check(&v)
	query := includeQuery(p.Include)
	query = query.With("client_id", p.ProgramClientID).With("client_account_key", p.ClientAccountKey)
	return pageList[Account]{
		request: request{op: opAccountsSearch, query: query, faults: v.faults}, paging: p.Paging, identity: accountIdentity,
	}
}

// Search iterates over matching accounts. Safety: read. API: GET /accounts.
func (s *AccountsService) Search(ctx context.Context, params SearchAccountsParams) iter.Seq2[*Account, error] {
	return params.list(s.client.validator()).all(ctx, &s.client.core)
}

// SearchPage returns one page of Search. Safety: read. API: GET /accounts.
func (s *AccountsService) SearchPage(ctx context.Context, params SearchAccountsParams) (*Page[Account], error) {
	return params.list(s.client.validator()).page(ctx, &s.client.core)
}

// SearchCompanyParams filters a company's accounts; empty fields match all.
type SearchCompanyParams struct {
	ProgramClientID string        // filters by client_id
	ProgramID       string        // filters by program
	Status          AccountStatus // filters by state
	FirstName       string        `redact:"personal"` // filters by the cardholder's first name
	LastName        string        `redact:"personal"` // filters by the cardholder's last name
	Mobile          string        `redact:"personal"` // filters by the cardholder's mobile number
	Include         []Include     // requests groups: personal only
	Paging          Paging        // starts at page 1 when zero
}

// filters returns the names and values of the texts.
func (p SearchCompanyParams) filters() [][2]string {
	return [][2]string{
		{"client_id", p.ProgramClientID}, {"program_id", p.ProgramID}, {"status", string(p.Status)},
		{"first_name", p.FirstName}, {"last_name", p.LastName}, {"mobile", p.Mobile},
	}
}

func (p SearchCompanyParams) check(v *validator) {
	v.oneOf("status", string(p.Status), p.Status.values())
	v.includes(p.Include, IncludeCardholder)
	v.paging(p.Paging)
	for _, filter := range p.filters() {
		v.text(filter[0], filter[1], 0)
	}
}

func (p SearchCompanyParams) list(v validator, company CompanyID) pageList[Account] {
	v.companyID("company", company)
	p.check(&v)
	query := includeQuery(p.Include)
	for _, filter := range p.filters() {
		if filter[1] != "" {
			query = query.With(filter[0], filter[1])
		}
	}
	return pageList[Account]{
		request: request{op: opAccountsSearchCompany, path: pathValues{company.String()}, query: query, faults: v.faults},
		paging:  p.Paging, identity: accountIdentity, leaves: true,
	}
}

// SearchCompany iterates over a company's accounts. Without paging headers it ends at an empty page or a later page refused with
// 400. One account in place of a list is the whole list. Safety: read. API: GET /accounts/company/{companyid}.
func (s *AccountsService) SearchCompany(ctx context.Context, company CompanyID, params SearchCompanyParams) iter.Seq2[*Account, error] {
	return params.list(s.client.validator(), company).all(ctx, &s.client.core)
}

// SearchCompanyPage returns one page of [AccountsService.SearchCompany]. Safety: read. API: GET /accounts/company/{companyid}.
func (s *AccountsService) SearchCompanyPage(ctx context.Context, company CompanyID, params SearchCompanyParams) (*Page[Account], error) {
	return params.list(s.client.validator(), company).page(ctx, &s.client.core)
}

// FindMovementParams describes a movement; empty optional fields match all.
type FindMovementParams struct {
	AccountID      AccountID         // the account whose history is read; required
	Amount         Amount            // compared without its sign; required, not zero
	Types          []TransactionType // the transaction types to match
	Reference      string            // compared exactly
	CardAcceptorID string            // the merchant
	TerminalID     string            // the terminal
	ParentID       TransactionID     // Transaction.ParentID: of a refund or reversal, the redemption
	From           time.Time         // the start, by the local clock; required; Between sets it
	// To is the end, by the local clock. Required; Between sets it. While it is in the future, everything since From is searched.
	To            time.Time
	VisibleWithin time.Duration   // how long FindMovement looks for a movement, from now or from To, whichever is earlier; zero means 2 min
	Exclude       []TransactionID // transactions of other movements, such as an earlier payment of the same amount
}

// Between widens the times of the requests, because clocks differ and the service may book late.
const (
	clockTolerance        = 2 * time.Minute
	bookingTime           = 10 * time.Minute
	movementVisibleWithin = 2 * time.Minute
	firstScanPause        = time.Second
	longestScanWait       = 15 * time.Second
)

// Between returns p with From and To set around the local times of the first and the last request, such as the two times of a *[CallError]:
// 2 minutes before first, for differing clocks, to 10 minutes after last, for late booking. Without first, p is unchanged.
func (p FindMovementParams) Between(first, last time.Time) FindMovementParams {
	switch {
	case first.IsZero():
		return p
	case last.IsZero():
		last = first
	case last.Before(first):
		first, last = last, first
	}
	p.From, p.To = first.Add(-clockTolerance), last.Add(bookingTime)
	return p
}

func (p FindMovementParams) check(v *validator) {
	v.readID("account_id", string(p.AccountID))
	v.amount("amount", p.Amount, !p.Amount.IsZero(), "is required and must not be zero")
	if p.From.IsZero() {
		v.fault("from", ruleRequired)
	}
	if p.To.IsZero() || p.To.Before(p.From) {
		v.fault("to", "is required and must not be before from")
	}
}

// MovementFinding is FindMovement's result. It is evidence, not a decision.
type MovementFinding struct {
	Transactions []Transaction // those that match; even a single one may be another movement that looks the same: exclude known ones
	// From is the start of the searched time: From of the params minus the possible lag of the service's clock, at least 2 s.
	From time.Time
	To   time.Time // the end of the searched time in local clock time, at most the time at which the last search began
}

// FindMovement looks for a movement in an account's history. The error is nil if exactly one transaction matches; with [ErrNotSeen] and
// [ErrAmbiguous] there is a [MovementFinding] too. Only this resolves an unknown outcome of funding or the simulator; repeat a transfer or
// direct entry out instead. The Date header shows how clocks differ; without it, Between allows 2 minutes.
//
// Errors: ErrNotSeen when nothing matched up to MovementFinding.To, which proves nothing; ErrAmbiguous when several match: a person must decide;
// the context's error together with ErrNotSeen; [ErrNotFound]; those of Transactions. The outcome is unknown, but rejected for a
// *[ValidationError] of this search. Safety: read. API: GET /accounts/{id}/transactions.
func (s *AccountsService) FindMovement(ctx context.Context, params FindMovementParams) (*MovementFinding, error) {
	failed := &CallError{Operation: "Accounts.FindMovement", AccountID: params.AccountID} // the outcome is unknown
	var v validator
	params.check(&v)
	if len(v.faults) > 0 {
		failed.Outcome, failed.Err = OutcomeRejected, &ValidationError{Faults: v.faults}
		return nil, failed
	}
	within := cmp.Or(max(params.VisibleWithin, 0), movementVisibleWithin)
	clocks := clockRange{behind: clockAccuracy, ahead: clockAccuracy}
	until := earlier(time.Now(), params.To).Add(within)
	for wait := firstScanPause; ; wait = min(wait*2, longestScanWait) {
		last := !time.Now().Before(until)
		finding, err := s.scan(ctx, params, &clocks)
		if err != nil {
			failed.Err = err
			return nil, failed
		}
		failed.Err = ErrNotSeen
		switch {
		case len(finding.Transactions) == 1:
			return finding, nil
		case len(finding.Transactions) > 1:
			failed.Err = ErrAmbiguous
			return finding, failed
		case last:
			return finding, failed
		}
		if ended := pause.For(ctx, min(wait, time.Until(until))); ended != nil {
			return finding, interrupted(ended, failed)
		}
	}
}

// clockAccuracy is the possible error of a measured skew: the Date header has whole seconds.
const clockAccuracy = 2 * time.Second

// clockRange is how far the service's clock may differ from the local one.
type clockRange struct{ behind, ahead time.Duration }

// add widens r to a measured skew, with a margin for its change until the next measurement.
func (r *clockRange) add(skew time.Duration) {
	if need := clockAccuracy - skew; need > r.behind {
		r.behind = need + clockAccuracy
	}
	if need := clockAccuracy + skew; need > r.ahead {
		r.ahead = need + clockAccuracy
	}
}

// scan reads the history once. If the first page shows that the window is too narrow, it starts again with a wider one.
func (s *AccountsService) scan(ctx context.Context, params FindMovementParams, clocks *clockRange) (*MovementFinding, error) {
	for again := true; ; again = false {
		now := time.Now().UTC()
		finding := &MovementFinding{From: params.From.Add(-clocks.behind), To: earlier(params.To, now)}
		window := ListTransactionsParams{From: finding.From.Truncate(time.Second)}
		if params.To.Before(now) { // a time in the future would only exclude items of a service whose clock is fast
			window.To = params.To.Add(clocks.ahead)
		}
		narrow := false
		history := window.list(params.AccountID)
		history.opened = func(page *Page[Transaction]) bool {
			known := *clocks
			clocks.add(page.skew)
			narrow = again && (clocks.behind > known.behind || !window.To.IsZero() && clocks.ahead > known.ahead)
			return !narrow
		}
		for transaction, err := range history.all(ctx, &s.client.core) {
			if err != nil {
				return nil, err
			}
			if params.matches(transaction) {
				finding.Transactions = append(finding.Transactions, *transaction)
			}
		}
		if !narrow {
			return finding, nil
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (p FindMovementParams) matches(t *Transaction) bool {
	return t.Amount.Abs() == p.Amount.Abs() && !slices.Contains(p.Exclude, t.ID) &&
		(len(p.Types) == 0 || slices.Contains(p.Types, t.Type)) &&
		(p.Reference == "" || t.Reference == p.Reference) &&
		(p.CardAcceptorID == "" || t.CardAcceptorID == p.CardAcceptorID) &&
		(p.TerminalID == "" || t.TerminalID == p.TerminalID) &&
		(p.ParentID == "" || t.ParentID == p.ParentID)
}

// notSeenError is ErrNotSeen with the settings that were searched with.
type notSeenError struct {
	program   string
	company   CompanyID
	elsewhere string // about the company's accounts under another client_id, if any
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

// stepError names the failed step of Issue. If unseen is set, it does not match ErrNotSeen: a match would mean that the account
// exists.
type stepError struct {
	step   string
	err    error
	unseen bool
}

func (e *stepError) Error() string {
	return e.step + ": " + strings.TrimPrefix(e.err.Error(), "prepaid: ")
}

func (e *stepError) Is(target error) bool {
	return e.unseen && target != ErrNotSeen && errors.Is(e.err, target)
}

func (e *stepError) Unwrap() error {
	if e.unseen {
		return nil
	}
	return e.err
}
