package prepaidtest

import (
	"fmt"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Save returns the text of the document. The state is locked only as long as it is copied.
func (s *service) Save() ([]byte, error) {
	d, err := s.snapshot()
	if err != nil {
		return nil, fmt.Errorf("prepaidtest: save the state: %w", err)
	}
	text, err := marshalState(d)
	if err != nil {
		return nil, fmt.Errorf("prepaidtest: save the state: %w", err)
	}
	return text, nil
}

// snapshot copies the state. While it does no task runs, so that each is either waiting or done.
func (s *service) snapshot() (*stateDocument, error) {
	defer s.clock.Hold()()
	l := s.ledger.RLock()
	defer l.RUnlock()
	d := &stateDocument{
		Version: stateVersion, Clock: s.clock.Save(), Companies: s.savedCompanies(l), Accounts: l.Save(),
		Tokens:         document.Sorted(s.tokens.Save(), func(token string, expires time.Time) savedToken { return savedToken{token, expires} }),
		Authorisations: s.simulator.Save(l), Redemptions: s.funding.Save(l), Hooks: s.hooks.Save(l), Tasks: s.savedTasks(l),
	}
	d.Transfers, d.Movements = s.transfers.Save(l)
	d.Templates, d.Runs = s.reports.Save(l)
	d.DIPKeys, d.DIPUsed = s.keys.Save(l)
	d.IDs.PolicyRule = s.policies.LastRule
	var err error
	if d.IDs.Transaction, d.IDs.Source, err = s.ids.Save(); err != nil {
		return nil, err
	}
	d.PINChanges, d.PINIdentity, err = s.pins.Save(l)
	return d, err
}

func (s *service) savedCompanies(v ledger.View) []savedCompany {
	list := []savedCompany{}
	for _, c := range v.Companies() {
		list = append(list, savedCompany{
			ID: c.ID, ClientID: c.ClientID, ProgramID: c.ProgramID, ProductType: c.ProductType, Loop: c.Loop, Policy: s.policies.Save(v, c.ID),
		})
	}
	return list
}

// savedTasks lists the work for later. A hook that was deleted has nothing left to do.
func (s *service) savedTasks(v ledger.View) []savedTask {
	list := []savedTask{}
	for _, waiting := range s.clock.Waiting() {
		saved := savedTask{Due: waiting.Due}
		switch j := waiting.Job.(type) {
		case *simulatorTask:
			saved.Kind, saved.Input = j.Save(v)
		case *hookTask:
			var wanted bool
			if saved.Kind, saved.Hook, saved.Message, wanted = j.Save(v); !wanted {
				continue
			}
		}
		list = append(list, saved)
	}
	return list
}
