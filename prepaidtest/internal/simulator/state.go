package simulator

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Save returns the authorisations.
func (s *Simulator) Save(_ ledger.View) []Authorisation {
	return document.Sorted(s.approvals, func(_ string, a *Authorisation) Authorisation { return *a })
}

// Of returns the authorisations of an account, oldest first.
func (s *Simulator) Of(_ ledger.View, account string) []Authorisation {
	var list []Authorisation
	for _, made := range s.approvals {
		if made.Account == account {
			list = append(list, *made)
		}
	}
	slices.SortFunc(list, func(a, b Authorisation) int { return cmp.Compare(a.TransactionID, b.TransactionID) })
	return list
}

// Restore loads the saved state.
func (s *Simulator) Restore(_ ledger.Locked, saved []Authorisation) error {
	states := []State{authorisationOpen, authorisationReversed, authorisationCleared, authorisationUncleared}
	for i, add := range saved {
		if !slices.Contains(states, add.State) {
			return document.Wrong("authorisations", i, "has an unknown state")
		}
		s.approvals[add.ID] = &add
	}
	return nil
}

// Save returns the kind and the input.
func (t *Task) Save(_ ledger.View) (kind string, input *Input) { return t.kind, t.input }

// HasTask reports whether kind is the kind of a simulator's task.
func (s *Simulator) HasTask(kind string) bool { return isLater(kind) }

// RestoreTask returns a saved task.
func (s *Simulator) RestoreTask(l ledger.Locked, kind string, in *Input) (clock.Job, error) {
	if in == nil || l.Account(in.Account) == nil {
		return nil, errors.New("has no account of the document")
	}
	return &Task{simulator: s, kind: kind, input: in}, nil
}
