// Package service puts the parts of the emulator together: it makes them, lists their operations, seeds them from a document,
// and saves and restores their state as one document.
//
// Each part keeps and saves its own state. Other packages check a request before its operation, and keep the request log.
package service

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/accounts"
	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/funding"
	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
	"github.com/cardprograms/prepaid/prepaidtest/internal/transfers"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// Service is the emulator without its gate: the operations and the state that they share.
type Service struct {
	Clock     *clock.Clock
	ids       *ids.Source
	Tokens    *gate.Tokens
	Ledger    *ledger.Ledger // its lock guards the state of all below
	Policies  *policy.Policies
	Accounts  *accounts.Accounts
	Keys      *accounts.KeyExchange
	Transfers *transfers.Transfers
	funding   *funding.Funding
	Simulator *simulator.Simulator
	PINs      *pin.PINs
	Reports   *reports.Reports
	Hooks     *hooks.Hooks
}

// Options are the choices that the reference leaves open, and the parts that a server shares with the service.
type Options struct {
	Start         time.Time
	Frozen        bool
	Seed          *uint64
	Permitted     []state.CompanyID
	Tokens        gate.TokenOptions
	Accounts      accounts.Options
	Transfers     transfers.Options
	Simulator     simulator.Options
	PINs          pin.Options
	ReportDelay   time.Duration
	Hooks         hooks.Options
	Activity      *activity.Activity
	MessageFaults *faults.Queue
}

// New makes a service without companies.
func New(with Options) *Service {
	s := &Service{Clock: clock.New(with.Start, with.Frozen), ids: ids.New(with.Seed)}
	s.Tokens = gate.NewTokens(s.ids, with.Tokens)
	s.Ledger = ledger.New(ledger.Options{
		IDs: s.ids, Permitted: with.Permitted,
		Announce: func(l ledger.Locked, a *ledger.Account, booked ledger.Item) { s.Hooks.Announce(l, a, booked) },
	})
	s.Policies = policy.New(s.Ledger)
	s.Accounts = accounts.New(s.Ledger, s.Clock, s.ids, with.Accounts)
	s.Keys = accounts.NewKeyExchange(s.Ledger, s.ids)
	s.Transfers = transfers.New(s.Ledger, s.Clock, s.ids, with.Transfers)
	s.funding = funding.New(s.Ledger, s.Clock)
	s.Simulator = simulator.New(s.Ledger, s.Clock, s.ids, s.Policies, with.Simulator)
	s.PINs = pin.New(s.Ledger, s.Clock, s.ids, with.PINs)
	s.Reports = reports.New(s.Ledger, s.Clock, s.ids, with.ReportDelay)
	s.Hooks = hooks.New(s.Ledger, s.Clock, s.ids, with.Activity, with.MessageFaults, with.Hooks)
	return s
}

// PutCompany adds or replaces a company and its kind of policy. An existing company keeps its accounts and policy rules.
func (s *Service) PutCompany(l ledger.Locked, add state.Company) {
	s.Policies.Configure(l, l.PutCompany(add))
}

// Generation grows when the state changes.
func (s *Service) Generation() int64 {
	return s.Ledger.Changes() + s.Tokens.Changes() + s.ids.Taken() + int64(s.Clock.Moved())
}

// Resume starts restored tasks, just before the first request.
func (s *Service) Resume() {
	s.Hooks.Resume()
	s.Clock.Resume()
}
