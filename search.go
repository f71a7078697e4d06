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

// FindMovementParams describes a movement to look for in an account's history, which carries neither request_id nor
// correlation_id. Empty fields match everything; the zero value lacks the required ones.
type FindMovementParams struct {
	// AccountID is the account whose history is read. Required.
	AccountID AccountID
	// Amount is compared without its sign. Required, not zero.
	Amount Amount
	// Types are the transaction types that count.
	Types []TransactionType
	// Reference is compared exactly.
	Reference string
	// CardAcceptorID is the merchant.
	CardAcceptorID string
	// TerminalID is the terminal.
	TerminalID string
	// From is the start of the search, by the local clock. Required; Around sets it. FindMovement allows for a service
	// whose clock is behind.
	From time.Time
	// To is the end of the search, by the local clock. Required; Around sets it. While it has not passed, everything
	// since From is searched; afterwards FindMovement allows for a service whose clock is ahead.
	To time.Time
	// Settle is how long to keep looking for what is not there yet: 2 min when zero.
	Settle time.Duration
	// Exclude are transactions known to be others, such as an earlier payment of the same amount.
	Exclude []TransactionID
}

// The span that Around searches about the moments of sending: clocks differ, and the service may book late.
const (
	clockTolerance  = 2 * time.Minute
	bookingTime     = 10 * time.Minute
	movementSettle  = 2 * time.Minute
	firstScanPause  = time.Second
	longestScanWait = 15 * time.Second
)

// Around sets From and To from the times in err, a *[CallError], widened for differing clocks and late booking. An
// error without times leaves p as it is.
func (p FindMovementParams) Around(err error) FindMovementParams {
	if call, ok := errors.AsType[*CallError](err); ok && !call.FirstSent.IsZero() {
		p.From, p.To = call.FirstSent.Add(-clockTolerance), call.LastSent.Add(bookingTime)
	}
	return p
}

// Verdict is what a history can tell. It has no "did not happen": absence is no proof. The zero value is VerdictUnseen.
type Verdict uint8

const (
	// VerdictUnseen: nothing matched up to Finding.To.
	VerdictUnseen Verdict = iota
	// VerdictSeen: exactly one transaction matches. It may still be another movement of the same look: exclude those
	// that you know.
	VerdictSeen
	// VerdictAmbiguous: several match; ask a person.
	VerdictAmbiguous
)

// String names the verdict.
func (v Verdict) String() string {
	switch v {
	case VerdictUnseen:
		return "not seen yet"
	case VerdictSeen:
		return "seen"
	case VerdictAmbiguous:
		return "several match"
	}
	return "verdict invalid"
}

// Finding is evidence, not a decision. The zero value saw nothing.
type Finding struct {
	// Verdict sums it up.
	Verdict Verdict
	// Transactions are those that match.
	Transactions []Transaction
	// From is the start of what was searched: the From that was asked for, earlier by as much as the service's clock may
	// be behind, which is at least 2 s.
	From time.Time
	// To is the end of what was searched, at most the moment at which the last look began, by the local clock.
	To time.Time
}

// FindMovement looks for a movement and never makes one. It compares the service's clock, as the Date header of the
// history shows it, with the local one: times of the search are local, those of transactions are the service's. Without
// that header a difference of up to 2 minutes is covered by Around. What it saw is a [Finding] with a verdict, also when that is
// nothing or several; [AccountsService.FindCreated], which looks for one account, has [ErrNotSeen] and [ErrAmbiguous] for
// these two. For unkeyed calls (funding, simulator) it is the only way to learn; for keyed transfers, sending the same
// params again also completes the transfer. It may take as long as Settle. When the context ends or leaves no room for
// another look, the finding so far comes together with the error.
//
// Errors: [ErrNotFound], the context's, and those of [AccountsService.Transactions] for a history that was not read to
// its end, which allows no verdict. The outcome in such an error describes the search, not the movement. Safety: read.
//
// API: GET /accounts/{id}/transactions.
func (s *AccountsService) FindMovement(ctx context.Context, params FindMovementParams) (*Finding, error) {
	const operation = "Accounts.FindMovement"
	var v validator
	v.pathID("account_id", string(params.AccountID))
	if params.Amount.IsZero() {
		v.fault("amount", "is required, not zero")
	}
	if params.From.IsZero() {
		v.fault("from", ruleRequired)
	}
	if params.To.IsZero() || params.To.Before(params.From) {
		v.fault("to", "is required, not before from")
	}
	if len(v.faults) > 0 {
		return nil, &CallError{
			Operation: operation, Outcome: OutcomeRejected, AccountID: params.AccountID, Err: &ValidationError{Faults: v.faults},
		}
	}
	settle := params.Settle
	if settle <= 0 {
		settle = movementSettle
	}
	clocks := clockRange{behind: clockAccuracy, ahead: clockAccuracy}
	until := time.Now().Add(settle)
	for wait := firstScanPause; ; wait = min(wait*2, longestScanWait) {
		finding, err := s.scan(ctx, params, &clocks)
		if err != nil || finding.Verdict != VerdictUnseen || !finding.To.Before(params.To) || time.Now().Add(wait).After(until) {
			return finding, err
		}
		if ended := pause.For(ctx, wait); ended != nil {
			return finding, &CallError{Operation: operation, Outcome: OutcomeNotProcessed, AccountID: params.AccountID, Err: ended}
		}
	}
}

// clockAccuracy is by how much a skew may be wrong: the Date header has whole seconds.
const clockAccuracy = 2 * time.Second

// clockRange is by how much the service's clock may differ from the local one.
type clockRange struct{ behind, ahead time.Duration }

// add widens r to a difference that was seen, and to one measured a moment later.
func (r *clockRange) add(skew time.Duration) {
	if need := clockAccuracy - skew; need > r.behind {
		r.behind = need + clockAccuracy
	}
	if need := clockAccuracy + skew; need > r.ahead {
		r.ahead = need + clockAccuracy
	}
}

// scan reads the history once; its first page again when that shows that the window was too narrow.
func (s *AccountsService) scan(ctx context.Context, params FindMovementParams, clocks *clockRange) (*Finding, error) {
	for again := true; ; again = false {
		now := time.Now().UTC()
		finding := &Finding{From: params.From.Add(-clocks.behind), To: earlier(params.To, now)}
		window := ListTransactionsParams{From: finding.From.Truncate(time.Second)}
		if params.To.Before(now) { // one that is yet to come would only exclude a service whose clock is ahead
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
			finding.Verdict = verdictOf(finding.Transactions)
			return finding, nil
		}
	}
}

func verdictOf(found []Transaction) Verdict {
	switch len(found) {
	case 0:
		return VerdictUnseen
	case 1:
		return VerdictSeen
	}
	return VerdictAmbiguous
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (p FindMovementParams) matches(t *Transaction) bool {
	return t.Amount.Abs() == p.Amount.Abs() && !slices.Contains(p.Exclude, t.ID) &&
		(len(p.Types) == 0 || slices.Contains(p.Types, t.Type)) &&
		(p.Reference == "" || t.Reference == p.Reference) &&
		(p.CardAcceptorID == "" || t.CardAcceptorID == p.CardAcceptorID) &&
		(p.TerminalID == "" || t.TerminalID == p.TerminalID)
}
