package prepaidtest

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// accounts carries out the operations on accounts and their wallets. All state is the ledger's.
type accounts struct {
	ledger *ledger.Ledger
	clock  *clock.Clock
	ids    *ids.Source
	with   accountOptions
}

// accountOptions are what the reference leaves open about accounts.
type accountOptions struct {
	InitialStatus          string
	ClearOmitted           bool // an update clears members that its body does not have
	CustomPlasticExpiry    bool
	NewestFirst            bool // order of a history
	NoCompanyPaging        bool // no paging headers on the company search
	WalletWithCertificates string
	OtherWallets           []string
	CardNetwork            string
}

func newAccounts(ledger *ledger.Ledger, clock *clock.Clock, from *ids.Source, with accountOptions) *accounts {
	return &accounts{ledger: ledger, clock: clock, ids: from, with: with}
}
