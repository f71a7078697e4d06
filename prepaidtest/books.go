package prepaidtest

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
)

// Ledger holds the companies and accounts. Its lock guards them and everything that changes together with them, in other
// packages too. The state is reached through a View or a Locked only, which stand for the lock that is held.
type Ledger struct {
	mu     sync.RWMutex
	writes atomic.Int64
	books  books
}

// books is the state of a Ledger.
type books struct {
	ids        *ids.Source
	noCategory string  // merchant category of what has no merchant
	permitted  []int64 // companies that the caller may access; nil for all
	announce   func(Locked, *account, item)

	companies map[int64]*company
	accounts  map[string]*account
	order     []*account // all accounts, oldest first
	byKey     map[accountKey][]*account
}

// Options are what a ledger needs.
type Options struct {
	IDs *ids.Source
	// NoCategory is the merchant category of what has no merchant.
	NoCategory string
	// Permitted are the companies that the caller may access; nil for all.
	Permitted []int64
	// Announce gets each item that is posted.
	Announce func(Locked, *account, item)
}

// newLedger makes a ledger without companies.
func newLedger(with Options) *Ledger {
	return &Ledger{books: books{
		ids: with.IDs, noCategory: with.NoCategory, permitted: with.Permitted, announce: with.Announce,
		companies: make(map[int64]*company), accounts: make(map[string]*account), byKey: make(map[accountKey][]*account),
	}}
}

// View is the ledger while its lock is held, for reading at least.
type View struct {
	*books
	held *Ledger
}

// Locked is the ledger while its lock is held for writing. Functions that need the lock take one.
type Locked struct{ View }

// RLock takes the lock for reading.
func (l *Ledger) RLock() View {
	l.mu.RLock()
	return View{&l.books, l}
}

// RUnlock gives the lock up.
func (v View) RUnlock() { v.held.mu.RUnlock() }

// Lock takes the lock for writing.
func (l *Ledger) Lock() Locked {
	l.mu.Lock()
	l.writes.Add(1)
	return Locked{View{&l.books, l}}
}

// Unlock gives the lock up.
func (l Locked) Unlock() { l.held.mu.Unlock() }

// Changes counts how often the lock was taken for writing, so that no change can be forgotten when the state is kept in a
// file.
func (l *Ledger) Changes() int64 { return l.writes.Load() }

// Account returns an account, nil for an unknown EAID.
func (v View) Account(eaid string) *account { return v.accounts[eaid] }

// Accounts returns all accounts, oldest first.
func (v View) Accounts() []*account { return v.order }

// Keyed returns the accounts with a client_account_key.
func (v View) Keyed(key accountKey) []*account { return v.byKey[key] }

// Company returns a company, nil for an unknown id.
func (v View) Company(id int64) *company { return v.companies[id] }

// Companies returns all companies, by id.
func (v View) Companies() []*company {
	list := make([]*company, 0, len(v.companies))
	for _, id := range slices.Sorted(maps.Keys(v.companies)) {
		list = append(list, v.companies[id])
	}
	return list
}

// newAccount makes an account of a company; the caller fills in the rest and adds it.
func (l Locked) newAccount(owner *company, now time.Time) *account {
	return &account{
		id: "EA" + l.ids.Digits(14), externalID: "X" + l.ids.Digits(12),
		cardNumber: "512345******" + l.ids.Digits(4), company: owner, productType: owner.ProductType,
		accountType: "proxy", plastic: true, plasticExpiry: expires(now.AddDate(4, 0, 0)), accountExpiry: expires(now.AddDate(4, 0, 0)),
		bpayReference: l.ids.Digits(9), directEntry: l.ids.Digits(9), holderType: 1,
	}
}

// add adds an account made with newAccount.
func (l Locked) add(a *account) {
	l.accounts[a.id] = a
	l.order = append(l.order, a)
	a.company.accounts = append(a.company.accounts, a)
	l.reindex(a, a.clientAccountKey)
}

// reindex sets the key an account is searched by.
func (l Locked) reindex(a *account, key string) {
	old := a.indexed
	l.byKey[old] = slices.DeleteFunc(l.byKey[old], func(other *account) bool { return other == a })
	if len(l.byKey[old]) == 0 {
		delete(l.byKey, old)
	}
	a.clientAccountKey, a.indexed = key, accountKey{a.company.ClientID, key}
	if key != "" {
		l.byKey[a.indexed] = append(l.byKey[a.indexed], a)
	}
}
