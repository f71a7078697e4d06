package prepaidtest

import (
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// SeedAccount is the state of an account to begin with, in wire words. The zero value is an active account of
// company 42 with nothing on it and a complete registration.
type SeedAccount struct {
	// ID is the EAID; made up when empty.
	ID string
	// ExternalID is external_account_id, which is not the EAID; made up when empty.
	ExternalID string
	// CompanyID is the owner. Default company 42.
	CompanyID int64
	// Balance in decimals, for example "100.00"; booked as a load. Default nothing.
	Balance string
	// Key is client_account_key.
	Key string
	// Status is one of the eleven. Default "active".
	Status string
	// ProductType is reloadable, gift or loyalty. Default that of the company.
	ProductType string
	// AccountType is proxy (default) or ledger.
	AccountType string
	// PlasticDisabled makes is_plastic_enabled false.
	PlasticDisabled bool
	// PlasticExpiry defaults to four years from now.
	PlasticExpiry time.Time
	// AccountExpiry defaults to four years from now.
	AccountExpiry time.Time
	// DisplayName is optional.
	DisplayName string
	// NameOnCard is optional.
	NameOnCard string
	// Personal is the registration. Default a complete one of a made-up person.
	Personal *Personal
	// FreeText is the program's own data.
	FreeText FreeText
	// Portal is optional.
	Portal *PortalIdentifier
	// MDESConfigID is optional.
	MDESConfigID string
	// CorrespondingAccountID is the EAID of the card that this one replaces.
	CorrespondingAccountID string
	// CardholderType is 1 (default) or 2.
	CardholderType int
}

// AddAccount seeds an account and returns its EAID. A company, status or balance that cannot be used, or an EAID
// that exists, fails the test.
func (s *Server) AddAccount(seed SeedAccount) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.companies[valueOr(seed.CompanyID, DefaultCompany)]
	status := valueOr(seed.Status, "active")
	balance, err := wire.ParseMoney(valueOr(seed.Balance, "0"))
	switch {
	case owner == nil:
		s.fail("AddAccount: the company does not exist")
		return ""
	case !slices.Contains(accountStatuses(), status):
		s.fail("AddAccount: Status is none of the eleven")
		return ""
	case err != nil:
		s.fail("AddAccount: Balance %v", err)
		return ""
	case s.accounts[seed.ID] != nil:
		s.fail("AddAccount: the EAID exists")
		return ""
	}
	return s.addSeed(owner, seed, balance)
}

// addSeed puts a checked account in place. It needs s.mu.
func (s *Server) addSeed(owner *company, seed SeedAccount, balance wire.Money) string {
	now := s.clock.Now()
	a := s.newAccount(owner, now)
	a.id, a.externalID = valueOr(seed.ID, a.id), valueOr(seed.ExternalID, a.externalID)
	a.status, a.plastic, a.clientAccountKey = valueOr(seed.Status, "active"), !seed.PlasticDisabled, seed.Key
	a.productType, a.accountType = valueOr(seed.ProductType, a.productType), valueOr(seed.AccountType, a.accountType)
	a.plasticExpiry = expires(valueOr(seed.PlasticExpiry, a.plasticExpiry.Time))
	a.accountExpiry = expires(valueOr(seed.AccountExpiry, a.accountExpiry.Time))
	a.displayName, a.nameOnCard, a.freeText = seed.DisplayName, seed.NameOnCard, seed.FreeText
	if seed.Portal != nil {
		a.portal = new(*seed.Portal)
	}
	a.mdesConfigID, a.corresponding = seed.MDESConfigID, seed.CorrespondingAccountID
	a.holderType = int64(valueOr(seed.CardholderType, 1))
	a.personal = register(somebody())
	if seed.Personal != nil {
		a.personal = register(*seed.Personal)
	}
	s.add(a)
	if balance != 0 {
		s.post(a, entry{code: codeLoad, amount: balance, reference: "opening balance"}, now)
	}
	return a.id
}

func valueOr[T comparable](value, otherwise T) T {
	if value == *new(T) {
		return otherwise
	}
	return value
}

// somebody is a complete registration.
func somebody() Personal {
	return Personal{
		Title: "Ms", FirstName: "Ada", LastName: "Lovelace", Sex: "F", DateOfBirth: "1990-05-01T00:00:00Z",
		MobileNumber: "+61400000000", EmailAddress: "ada@example.com",
		PrimaryAddress: Address{Line1: "1 Example Street", City: "Sydney", State: "NSW", Country: "AU", Postcode: "2000"},
	}
}

// known finds an account for an inspection; an unknown EAID fails the test. It needs s.mu.
func (s *Server) known(eaid string) *account {
	a := s.accounts[eaid]
	if a == nil {
		s.fail("the account does not exist")
	}
	return a
}

// Balance returns the balance of an account in decimals, at least two, for example "74.50".
func (s *Server) Balance(eaid string) string {
	s.clock.Settle()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.known(eaid); a != nil {
		return a.balance.String()
	}
	return ""
}

// Status returns the status of an account.
func (s *Server) Status(eaid string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.known(eaid); a != nil {
		return a.status
	}
	return ""
}

// SetStatus sets the status of an account; a word that is none of the eleven fails the test.
func (s *Server) SetStatus(eaid, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(accountStatuses(), status) {
		s.fail("SetStatus: the status is none of the eleven")
		return
	}
	if a := s.known(eaid); a != nil {
		a.status = status
	}
}

// Adjust books an amount onto an account, negative to take it away, whatever its balance and status.
func (s *Server) Adjust(eaid, amount string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, err := wire.ParseMoney(amount)
	if err != nil {
		s.fail("Adjust: amount %v", err)
		return
	}
	if a := s.known(eaid); a == nil {
		return
	} else if _, ok := s.post(a, entry{code: codeAdjustment, amount: value, reference: "adjustment"}, s.clock.Now()); !ok {
		s.fail("Adjust: the balance would be out of range")
	}
}

// ActivateThroughPortal does what the card activation portal does (3.1): the account becomes active, and the
// active account it corresponds to is closed when its balance is zero. A card that is not new (pre_active, inactive,
// active or of the status of InitialStatus) fails the test.
func (s *Server) ActivateThroughPortal(eaid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.known(eaid)
	if a == nil {
		return
	}
	if !s.activatable(a) {
		s.fail("ActivateThroughPortal: a card in this status cannot be activated")
		return
	}
	a.status = "active"
	if old := s.accounts[a.corresponding]; old != nil && old.status == "active" && old.balance == 0 {
		old.status = "closed"
	}
}

// activatable tells whether a card is new, so that its holder can activate it.
func (s *Server) activatable(a *account) bool {
	return slices.Contains([]string{"active", "pre_active", "inactive", s.settings.initialStatus}, a.status)
}

// Movements returns how many transfers and direct entries were carried out with requestID. It is 1 for a payment
// that was made once, however often it was sent, and more for one that was repeated while it was still running. The
// count of each id is kept for good, also when its response is no longer cached. WaitIdle first where requests may still
// be running.
func (s *Server) Movements(requestID string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.movements[transferKey{transferOperation, requestID}] + s.movements[transferKey{directEntryOperation, requestID}]
}

// PaidTwice returns the request ids with which an operation made more than one movement, sorted. None is what a test
// of payments wants, whatever faults it arms. WaitIdle first where requests may still be running.
func (s *Server) PaidTwice() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var ids []string
	for key, movements := range s.movements {
		if movements > 1 {
			ids = append(ids, key.requestID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Transaction is an item of an account's history (2.8). Amounts are in decimals: credits positive, debits
// negative.
type Transaction struct {
	// ID is the transaction's number.
	ID string
	// ParentID is that of the transaction it belongs to, or empty.
	ParentID string
	// AccountID is the EAID.
	AccountID string
	// Type is the four-digit code.
	Type string
	// Description is that of the type.
	Description string
	// Amount is the effect on the balance, without the fee.
	Amount string
	// Fee is taken on top.
	Fee string
	// RunningBalance is the balance afterwards.
	RunningBalance string
	// OccurredAt is the server's clock.
	OccurredAt time.Time
	// CardAcceptorID is the merchant, or empty.
	CardAcceptorID string
	// TerminalID is the terminal, or empty.
	TerminalID string
	// AcquirerID is the acquirer, or empty.
	AcquirerID string
	// MerchantCategoryCode has four digits, or is empty.
	MerchantCategoryCode string
	// Reference is the caller's text.
	Reference string
}

func (i item) public() Transaction {
	return Transaction{
		ID: strconv.FormatInt(i.id, 10), ParentID: i.parentID(), AccountID: i.account, Type: string(i.code),
		Description: i.code.describe(), Amount: i.amount.String(), Fee: i.fee.String(), RunningBalance: i.running.String(),
		OccurredAt: i.occurredAt, CardAcceptorID: i.merchant.acceptor, TerminalID: i.merchant.terminal,
		AcquirerID: i.merchant.acquirer, MerchantCategoryCode: i.merchant.category, Reference: i.reference,
	}
}

// Transactions returns the history of an account, oldest first.
func (s *Server) Transactions(eaid string) []Transaction {
	s.clock.Settle()
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := s.known(eaid)
	if a == nil {
		return nil
	}
	history := make([]Transaction, len(a.items))
	for i, item := range a.items {
		history[i] = item.public()
	}
	return history
}

// AccountIDs returns the EAIDs of all accounts, oldest first.
func (s *Server) AccountIDs() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids := make([]string, len(s.order))
	for i, a := range s.order {
		ids[i] = a.id
	}
	return ids
}

// Now returns the server's clock.
func (s *Server) Now() time.Time { return s.clock.Now() }

// Advance moves the server's clock forward and carries out what has become due: clearings, retries, alerts.
// Tokens, reports, one-time passwords and cached transfers expire by it. Retries take one step for each Advance,
// since the answer to one decides about the next. It never moves back, and not beyond the year 2200: the test fails.
func (s *Server) Advance(d time.Duration) {
	if !s.clock.Advance(d) {
		s.fail("Advance: the clock moves forward only, and ends with the year 2200")
	}
}
