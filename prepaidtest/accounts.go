package prepaidtest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// accountStatuses are the eleven values of 3.1.
func accountStatuses() []string {
	return []string{
		"active", "pre_active", "inactive", "deactivated", "lost_or_stolen", "expired", "suspected_fraud", "closed",
		"inactive_pin_tries_exceeded", "vendor_inactive", "replaced",
	}
}

type account struct {
	id, externalID   string
	cardNumber       string // masked
	company          *company
	status           string
	productType      string
	accountType      string
	plastic          bool
	plasticExpiry    expiry
	accountExpiry    expiry
	displayName      string
	nameOnCard       string
	clientAccountKey string
	indexed          accountKey
	bpayReference    string
	directEntry      string
	personal         registration
	freeText         FreeText
	portal           *PortalIdentifier
	mdesConfigID     string
	corresponding    string
	holderType       int64
	balance          wire.Money
	items            []item
	wallet           []WalletToken
	pin              string
	pinTries         int // wrong ones in a row; see PINTries
}

// expiry is a time with its wire form, which does not change as often as it is asked for.
type expiry struct {
	time.Time
	text string
}

func expires(at time.Time) expiry { return expiry{at, wire.DateTime(at).String()} }

// registration is a Personal with its wire form, for the same reason.
type registration struct {
	Personal
	text []byte
}

func register(p Personal) registration { return registration{p, wire.AppendJSON(nil, p)} }

// accountKey is what GET /accounts searches by.
type accountKey struct{ clientID, key string }

const (
	bpayBillerCode = "123456"
	directEntryBSB = "633000"
)

// include says which optional groups an answer has.
type include struct {
	personal, directEntry, freeText, bpay    bool
	tokenInfo, corresponding, cardholderType bool
}

// appendReduced begins the account as it is answered (2.2) with the eight fields of GET /accounts/{id}/status.
func (a *account) appendReduced(to []byte) wire.Writer {
	o := wire.Begin(to)
	o.Money(`"balance":`, a.balance)
	o.Plain(`"card_number":`, a.cardNumber)
	o.Integer(`"company_id":`, a.company.ID)
	o.String(`"external_account_id":`, a.externalID)
	o.Plain(`"plastic_expiry":`, a.plasticExpiry.text)
	o.String(`"product_type":`, a.productType)
	o.Plain(`"status":`, a.status)
	o.Boolean(`"is_plastic_enabled":`, a.plastic)
	return o
}

// appendCreated adds the two fields that POST /accounts has beyond them.
func (a *account) appendCreated(to []byte) wire.Writer {
	o := a.appendReduced(to)
	if len(a.items) > 0 {
		o.Time(`"first_transaction_occurred_at":`, a.items[0].occurredAt)
		o.Time(`"last_transaction_occurred_at":`, a.items[len(a.items)-1].occurredAt)
	}
	return o
}

func (a *account) append(to []byte, with include) []byte {
	o := a.appendCreated(to)
	o.String(`"account_id":`, a.id)
	o.Plain(`"account_expiry":`, a.accountExpiry.text)
	o.String(`"account_type":`, a.accountType)
	o.Optional(`"display_name":`, a.displayName)
	o.Optional(`"name_on_card":`, a.nameOnCard)
	o.Boolean(`"is_compliant":`, true)
	o.Optional(`"client_id":`, a.company.ClientID)
	o.Optional(`"client_account_key":`, a.clientAccountKey)
	if a.portal != nil {
		o.Raw(`"portal_identifier":`, wire.AppendJSON(nil, a.portal))
	}
	if with.personal {
		o.Raw(`"personal":`, a.personal.text)
	}
	if with.freeText {
		o.Raw(`"free_text":`, wire.AppendJSON(nil, a.freeText))
	}
	if with.bpay {
		o.Plain(`"bpay_biller_code":`, bpayBillerCode)
		o.String(`"bpay_reference_number":`, a.bpayReference)
	}
	if with.directEntry {
		o.Plain(`"direct_entry_bsb":`, directEntryBSB)
		o.String(`"direct_entry_account_number":`, a.directEntry)
	}
	if with.tokenInfo {
		o.Optional(`"mdes_config_id":`, a.mdesConfigID)
	}
	if with.corresponding {
		o.Optional(`"corresponding_account_id":`, a.corresponding)
	}
	if with.cardholderType {
		o.Integer(`"card_holder_type":`, a.holderType)
	}
	return o.End()
}

// newAccount makes an account of a company; the caller fills in the rest and adds it.
func (s *Server) newAccount(owner *company, now time.Time) *account {
	return &account{
		id: "EA" + s.ids.Digits(14), externalID: "X" + s.ids.Digits(12),
		cardNumber: "512345******" + s.ids.Digits(4), company: owner, productType: owner.ProductType,
		accountType: "proxy", plastic: true, plasticExpiry: expires(now.AddDate(4, 0, 0)), accountExpiry: expires(now.AddDate(4, 0, 0)),
		bpayReference: s.ids.Digits(9), directEntry: s.ids.Digits(9), holderType: 1,
	}
}

// add needs s.mu.
func (s *Server) add(a *account) {
	s.accounts[a.id] = a
	s.order = append(s.order, a)
	a.company.accounts = append(a.company.accounts, a)
	s.reindex(a, a.clientAccountKey)
}

// reindex sets the key an account is searched by. It needs s.mu.
func (s *Server) reindex(a *account, key string) {
	old := a.indexed
	s.byKey[old] = slices.DeleteFunc(s.byKey[old], func(other *account) bool { return other == a })
	if len(s.byKey[old]) == 0 {
		delete(s.byKey, old)
	}
	a.clientAccountKey, a.indexed = key, accountKey{a.company.ClientID, key}
	if key != "" {
		s.byKey[a.indexed] = append(s.byKey[a.indexed], a)
	}
}

// searchAccounts answers GET /accounts.
func (s *Server) searchAccounts(c *exchange.Call) exchange.Response {
	var key accountKey
	var with include
	var page wire.PageRequest
	if refusal := c.BindQuery(func(q *wire.Query) {
		q.RequiredString("client_id", &key.clientID)
		q.RequiredString("client_account_key", &key.key)
		q.Flag("with_personal", &with.personal)
		q.Flag("with_directentry", &with.directEntry)
		q.Flag("with_freetext", &with.freeText)
		q.Flag("with_bpay", &with.bpay)
		q.Paging(&page)
	}); refusal != nil {
		return *refusal
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return exchange.Paged(c, page, s.byKey[key], func(to []byte, a *account) []byte { return a.append(to, with) })
}

// companyFilter is the query of the company search; what is empty does not filter.
type companyFilter struct{ clientID, programID, status, firstName, lastName, mobile string }

func (f companyFilter) matches(a *account) bool {
	program := a.company.ProgramID == f.programID || (a.portal != nil && a.portal.ProgramID == f.programID)
	return (f.clientID == "" || a.company.ClientID == f.clientID) &&
		(f.programID == "" || program) &&
		(f.status == "" || a.status == f.status) &&
		(f.firstName == "" || strings.EqualFold(a.personal.FirstName, f.firstName)) &&
		(f.lastName == "" || strings.EqualFold(a.personal.LastName, f.lastName)) &&
		(f.mobile == "" || a.personal.MobileNumber == f.mobile)
}

// searchCompany answers GET /accounts/company/{companyid}. An unknown company has no accounts: the row lists no
// error.
func (s *Server) searchCompany(c *exchange.Call) exchange.Response {
	var filter companyFilter
	var with include
	var page wire.PageRequest
	if refusal := c.BindQuery(func(q *wire.Query) {
		q.String("client_id", &filter.clientID)
		q.String("program_id", &filter.programID)
		q.OneOf("status", &filter.status, accountStatuses())
		q.String("first_name", &filter.firstName)
		q.String("last_name", &filter.lastName)
		q.String("mobile", &filter.mobile)
		q.Flag("with_personal", &with.personal)
		q.Paging(&page)
	}); refusal != nil {
		return *refusal
	}
	id, ok := companyID(c.Params[0])
	if !ok {
		return c.Unusable("invalid fields: companyid must be a number")
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*account
	if owner := s.companies[id]; owner != nil {
		for _, a := range owner.accounts {
			if filter.matches(a) {
				found = append(found, a)
			}
		}
	}
	answer := exchange.Paged(c, page, found, func(to []byte, a *account) []byte { return a.append(to, with) })
	if s.settings.noCompanyPaging {
		answer.Page = nil
	}
	return answer
}

// getAccount answers GET /accounts/{id}.
func (s *Server) getAccount(c *exchange.Call) exchange.Response {
	var with include
	if refusal := c.BindQuery(func(q *wire.Query) {
		q.Flag("with_personal", &with.personal)
		q.Flag("with_directentry", &with.directEntry)
		q.Flag("with_freetext", &with.freeText)
		q.Flag("with_bpay", &with.bpay)
		q.Flag("with_tokeninfo", &with.tokenInfo)
		q.Flag("with_correspondingaccountid", &with.corresponding)
		q.Flag("with_cardholdertype", &with.cardholderType)
	}); refusal != nil {
		return *refusal
	}
	return s.withAccount(c, func(a *account) exchange.Response { return c.Encoded(http.StatusOK, a.append(nil, with)) })
}

// getStatus answers GET /accounts/{id}/status.
func (s *Server) getStatus(c *exchange.Call) exchange.Response {
	return s.withAccount(c, func(a *account) exchange.Response {
		o := a.appendReduced(nil)
		return c.Encoded(http.StatusOK, o.End())
	})
}

// transactions responds to GET /accounts/{id}/transactions, oldest first unless the server is set otherwise.
func (s *Server) transactions(c *exchange.Call) exchange.Response {
	var start, end time.Time
	var page wire.PageRequest
	if refusal := c.BindQuery(func(q *wire.Query) {
		q.DateTime("start_date", &start)
		q.DateTime("end_date", &end)
		q.Paging(&page)
	}); refusal != nil {
		return *refusal
	}
	return s.withAccount(c, func(a *account) exchange.Response {
		items := between(a.items, start, end)
		if s.settings.newestFirst {
			items = slices.Clone(items)
			slices.Reverse(items)
		}
		return exchange.Paged(c, page, items, appendItem)
	})
}

// between returns the items within both bounds, included. The times of items are compared as they are shown: in whole
// seconds.
func between(items []item, start, end time.Time) []item {
	from, to := 0, len(items)
	compare := func(i item, at time.Time) int { return i.occurredAt.Truncate(time.Second).Compare(at) }
	if !start.IsZero() {
		from, _ = slices.BinarySearchFunc(items, start, compare)
	}
	if !end.IsZero() {
		to, _ = slices.BinarySearchFunc(items, end.Truncate(time.Second).Add(time.Second), compare)
	}
	return items[from:max(from, to)]
}

// withAccount finds the account of the path and reads it under the lock.
func (s *Server) withAccount(c *exchange.Call, read func(*account) exchange.Response) exchange.Response {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := s.accounts[c.Params[0]]
	if a == nil {
		return c.AccountNotFound()
	}
	return read(a)
}
