package service

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/accounts"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/funding"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
	"github.com/cardprograms/prepaid/prepaidtest/internal/transfers"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// stateVersion is the document's version. Increase it if an older reader would misread the new document.
const stateVersion = 2

// stateDocument is everything that Save writes. Lists are in an order that depends on the state alone, so that the
// same state always makes the same text.
type stateDocument struct {
	Version        int                        `json:"version"`
	Clock          clock.State                `json:"clock"`
	IDs            savedIDs                   `json:"ids"`
	Companies      []savedCompany             `json:"companies"`
	Accounts       []ledger.SavedAccount      `json:"accounts"`
	Tokens         []savedToken               `json:"tokens"`
	Transfers      []transfers.Saved          `json:"transfers"`
	Movements      []transfers.SavedMovements `json:"movements"`
	Authorisations []simulator.Authorisation  `json:"authorisations"`
	Redemptions    []funding.Redemption       `json:"redemptions"`
	Templates      []reports.SavedTemplate    `json:"templates"`
	Runs           []reports.SavedRun         `json:"report_runs"`
	DIPKeys        []accounts.Key             `json:"dip_keys"`
	DIPUsed        []string                   `json:"dip_used"`
	PINChanges     []state.PINChange          `json:"pin_changes"`
	PINIdentity    *pin.SavedIdentity         `json:"pin_identity,omitzero"`
	Hooks          []hooks.SavedHook          `json:"hooks"`
	Tasks          []savedTask                `json:"tasks"`
}

type savedIDs struct {
	Transaction int64  `json:"transaction"`
	PolicyRule  int64  `json:"policy_rule"`
	Source      []byte `json:"source,omitzero"` // state of the random source, with RandomSeed
}

type savedCompany struct {
	state.Company
	Policy *policy.Policy `json:"policy,omitzero"`
}

type savedToken struct {
	Token   string    `json:"access_token"`
	Expires time.Time `json:"expires"`
}

// savedTask is a pending job; its kind determines its members.
type savedTask struct {
	Due     time.Time        `json:"due"`
	Kind    string           `json:"kind"`
	Input   *simulator.Input `json:"input,omitzero"`
	Hook    string           `json:"hook_id,omitzero"`
	Message *state.Message   `json:"message,omitzero"`
}
