package simulator

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Saved is an authorisation in the saved state.
type Saved struct {
	ID       string          `json:"authorization_id"`
	Account  string          `json:"account_id"`
	Kind     string          `json:"transaction_type"`
	Amount   wire.Money      `json:"amount"`
	Merchant ledger.Merchant `json:"merchant"`
	Item     int64           `json:"transaction_id"`
	State    string          `json:"state"`
}

// authorisationStates are the words for the states, by their number.
func authorisationStates() []string { return []string{"open", "reversed", "cleared", "uncleared"} }

// SavedInput is the request of a clear or reverse_clear.
type SavedInput struct {
	Kind          string          `json:"transaction_type"`
	Account       string          `json:"account_id"`
	Authorisation string          `json:"authorization_id,omitzero"`
	Amount        wire.Money      `json:"amount"`
	Merchant      ledger.Merchant `json:"merchant"`
}

// Save returns the authorisations.
func (s *Simulator) Save(_ ledger.View) []Saved {
	return document.Sorted(s.approvals, func(_ string, a *authorisation) Saved { return a.saved() })
}

func (a *authorisation) saved() Saved {
	return Saved{a.id, a.account, a.kind, a.amount, a.merchant, a.item, authorisationStates()[a.state]}
}

// Authorisation returns one by its id; false when it is unknown.
func (s *Simulator) Authorisation(_ ledger.View, id string) (Saved, bool) {
	made := s.approvals[id]
	if made == nil {
		return Saved{}, false
	}
	return made.saved(), true
}

// Of returns the authorisations of an account, oldest first.
func (s *Simulator) Of(_ ledger.View, account string) []Saved {
	var list []Saved
	for _, made := range s.approvals {
		if made.account == account {
			list = append(list, made.saved())
		}
	}
	slices.SortFunc(list, func(a, b Saved) int { return cmp.Compare(a.Item, b.Item) })
	return list
}

// Restore puts back what was saved.
func (s *Simulator) Restore(_ ledger.Locked, saved []Saved) error {
	for i, add := range saved {
		state := slices.Index(authorisationStates(), add.State)
		if state < 0 {
			return document.Wrong("authorisations", i, "has an unknown state")
		}
		s.approvals[add.ID] = &authorisation{
			id: add.ID, account: add.Account, kind: add.Kind, amount: add.Amount, merchant: add.Merchant, item: add.Item,
			state: authorisationState(state),
		}
	}
	return nil
}

// Save returns the kind and the input.
func (t *Task) Save(_ ledger.View) (kind string, input *SavedInput) {
	in := t.input
	return t.kind, &SavedInput{in.Kind, in.Account, in.Authorisation, in.Amount, in.Merchant}
}

// HasTask reports whether a kind of task is the simulator's.
func (s *Simulator) HasTask(kind string) bool { return isLater(kind) }

// RestoreTask returns a task that was saved.
func (s *Simulator) RestoreTask(l ledger.Locked, kind string, in *SavedInput) (clock.Job, error) {
	if in == nil || l.Account(in.Account) == nil {
		return nil, errors.New("has no account of the document")
	}
	return &Task{simulator: s, kind: kind, input: &Input{
		Kind: in.Kind, Account: in.Account, Authorisation: in.Authorisation, Amount: in.Amount, Merchant: in.Merchant,
	}}, nil
}
