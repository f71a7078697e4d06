// Package ledger holds the companies, the accounts and their histories, and is the only place where a balance changes: a
// balance is always the sum of its history.
//
// One lock guards this state and all state that changes with it in other packages: the cache of transfers,
// authorisations, PIN changes, report runs, webhooks. Lock returns a Locked, and RLock returns a View; only they give
// access to the state. A function of another package that needs the lock takes a Locked or a View as a parameter.
// Access tokens, logs and faults have their own locks.
//
// The package also has the data of accounts and their limits. It knows no operation: the packages above decide
// permissions and the status of a refusal.
package ledger

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// Ledger holds the companies and accounts. Its lock guards them and all state that changes with them, in other
// packages too. Only a View or a Locked, which prove that the lock is held, give access to the state.
type Ledger struct {
	mu     sync.RWMutex
	writes atomic.Int64
	books  books
}

// books is the state of a Ledger.
type books struct {
	ids       *ids.Source
	permitted []state.CompanyID // companies that the caller may access; nil for all
	announce  func(Locked, *Account, Item)

	companies map[state.CompanyID]*Company
	accounts  map[string]*Account
	order     []*Account // all accounts, oldest first
	byKey     map[Key][]*Account
}

// Options configures a ledger.
type Options struct {
	IDs *ids.Source
	// Permitted are the companies that the caller may access; nil for all.
	Permitted []state.CompanyID
	// Announce gets each item that is posted.
	Announce func(Locked, *Account, Item)
}

// New makes a ledger without companies.
func New(with Options) *Ledger {
	return &Ledger{books: books{
		ids: with.IDs, permitted: with.Permitted, announce: with.Announce,
		companies: make(map[state.CompanyID]*Company), accounts: make(map[string]*Account), byKey: make(map[Key][]*Account),
	}}
}

// View is the ledger while its lock is held at least for reading.
type View struct {
	*books
	held *Ledger
}

// Locked is the ledger while its lock is held for writing. Functions that need this lock take a Locked.
type Locked struct{ View }

// RLock takes the lock for reading.
func (l *Ledger) RLock() View {
	l.mu.RLock()
	return View{&l.books, l}
}

// RUnlock releases the lock.
func (v View) RUnlock() { v.held.mu.RUnlock() }

// Lock takes the lock for writing.
func (l *Ledger) Lock() Locked {
	l.mu.Lock()
	l.writes.Add(1)
	return Locked{View{&l.books, l}}
}

// Unlock releases the lock.
func (l Locked) Unlock() { l.held.mu.Unlock() }

// Changes counts how often the lock was taken for writing, so that a state file misses no change of the ledger.
func (l *Ledger) Changes() int64 { return l.writes.Load() }

// Account returns an account, nil for an unknown EAID.
func (v View) Account(eaid string) *Account { return v.accounts[eaid] }

// Accounts returns all accounts, oldest first.
func (v View) Accounts() []*Account { return v.order }

// Keyed returns the accounts that have the given key.
func (v View) Keyed(key Key) []*Account { return v.byKey[key] }

// Company returns a company, nil for an unknown id.
func (v View) Company(id state.CompanyID) *Company { return v.companies[id] }

// Companies returns all companies, by id.
func (v View) Companies() []*Company {
	list := make([]*Company, 0, len(v.companies))
	for _, id := range slices.Sorted(maps.Keys(v.companies)) {
		list = append(list, v.companies[id])
	}
	return list
}

// NewAccount makes an account of a company; the caller fills in the rest and adds it.
func (l Locked) NewAccount(owner *Company, now time.Time) *Account {
	return &Account{Company: owner, Items: []Item{}, Account: state.Account{
		ID: state.AccountID("EA" + l.ids.Digits(14)), ExternalID: "X" + l.ids.Digits(12), CardNumber: "512345******" + l.ids.Digits(4),
		CompanyID: owner.ID, ProductType: owner.ProductType, AccountType: "proxy",
		PlasticExpiry: now.AddDate(4, 0, 0).UTC(), AccountExpiry: now.AddDate(4, 0, 0).UTC(),
		BPAYReference: l.ids.Digits(9), DirectEntry: l.ids.Digits(9), CardholderType: 1,
	}}
}

// Open adds an account of a company. Zero members of given get their defaults. The load is booked with this reference.
func (l Locked) Open(owner *Company, given state.Account, load wire.Money, reference string, now time.Time) *Account {
	a := l.NewAccount(owner, now)
	wire.Take(&a.Account, &given)
	l.Add(a)
	if load.Sign() != 0 {
		l.Post(a, Entry{Type: CodeLoad, Amount: load, Reference: reference}, now)
	}
	return a
}

// Add adds an account made with NewAccount.
func (l Locked) Add(a *Account) {
	a.Cardholder = cmp.Or(a.Cardholder, new(state.Cardholder))
	l.accounts[string(a.ID)] = a
	l.books.order = append(l.books.order, a)
	a.Company.Accounts = append(a.Company.Accounts, a)
	l.Reindex(a, a.Key)
}

// Reindex sets the search key of an account.
func (l Locked) Reindex(a *Account, key string) {
	old := a.indexed
	l.byKey[old] = slices.DeleteFunc(l.byKey[old], func(other *Account) bool { return other == a })
	if len(l.byKey[old]) == 0 {
		delete(l.byKey, old)
	}
	a.Key, a.indexed = key, Key{a.Company.ClientID, key}
	if key != "" {
		l.byKey[a.indexed] = append(l.byKey[a.indexed], a)
	}
}
