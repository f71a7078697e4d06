// Package accounts carries out the operations on accounts: search, creation, changes, wallets and the key exchange.
//
// Accounts keeps no state: all state is in the ledger. KeyExchange keeps the registered keys and the hashes of the
// ephemeral keys that were used, under the lock of the ledger.
//
// Packages transfers, funding and simulator move money; this package does not.
package accounts

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Accounts carries out the operations on accounts and their wallets. All state is the ledger's.
type Accounts struct {
	ledger *ledger.Ledger
	clock  *clock.Clock
	ids    *ids.Source
	with   Options
}

// Options are the choices that the reference leaves open about accounts.
type Options struct {
	InitialStatus string
	KeepOmitted   bool // an update keeps members that its body omits
	OldestFirst   bool // order of a history
	CompanyPaging bool // paging headers on the company search
}

// New makes the operations on accounts.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, with Options) *Accounts {
	return &Accounts{ledger: books, clock: c, ids: from, with: with}
}
