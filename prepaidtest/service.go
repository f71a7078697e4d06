package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// service is everything the emulator does behind its gate: the operations and the state they share.
type service struct {
	clock     *clock.Clock
	ids       *ids.Source
	tokens    *tokens
	ledger    *ledger.Ledger // its lock guards the state of all below
	policies  *policies
	accounts  *accounts
	keys      *keyExchange
	transfers *transfers
	funding   *funding
	simulator *simulators
	pins      *pins
	reports   *reports
	hooks     *hooks
}

// serviceOptions are what the reference leaves open, and what a server shares with the service.
type serviceOptions struct {
	Start         time.Time
	Frozen        bool
	Seed          *uint64
	NoCategory    string
	Permitted     []int64
	Tokens        tokenOptions
	Accounts      accountOptions
	Transfers     transferOptions
	Simulator     simulatorOptions
	PINs          pinOptions
	ReportDelay   time.Duration
	Hooks         hookOptions
	Activity      *activity.Activity
	MessageFaults *faults.Queue[faults.Delivery]
}

// newService makes a service without companies.
func newService(with serviceOptions) *service {
	s := &service{clock: clock.New(with.Start, with.Frozen), ids: ids.New(with.Seed)}
	s.tokens = newTokens(s.ids, with.Tokens)
	s.ledger = ledger.New(ledger.Options{
		IDs: s.ids, NoCategory: with.NoCategory, Permitted: with.Permitted,
		Announce: func(l ledger.Locked, a *ledger.Account, booked ledger.Item) { s.hooks.announce(l, a, booked) },
	})
	s.policies = newPolicies(s.ledger)
	s.accounts = newAccounts(s.ledger, s.clock, s.ids, with.Accounts)
	s.keys = newKeyExchange(s.ledger, s.ids)
	s.transfers = newTransfers(s.ledger, s.clock, s.ids, with.Transfers)
	s.funding = newFunding(s.ledger, s.clock)
	s.simulator = newSimulator(s.ledger, s.clock, s.ids, s.policies, with.Simulator)
	s.pins = newPINs(s.ledger, s.clock, s.ids, with.PINs)
	s.reports = newReports(s.ledger, s.clock, s.ids, with.ReportDelay)
	s.hooks = newHooks(s.ledger, s.clock, s.ids, with.Activity, with.MessageFaults, with.Hooks)
	return s
}

// putCompany adds a company with its kind of policy. One that exists keeps its accounts and policy rules and takes the rest.
func (s *service) putCompany(l ledger.Locked, add ledger.CompanyData) {
	s.policies.configure(l, l.PutCompany(add))
}

// Generation grows with each change of what Save writes.
func (s *service) Generation() int64 {
	return s.ledger.Changes() + s.tokens.Changes() + s.ids.Taken() + int64(s.clock.Moved())
}

// resume sets going what was restored, just before the first request.
func (s *service) resume() {
	s.hooks.resume()
	s.clock.Resume()
}
