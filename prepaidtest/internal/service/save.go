package service

import (
	"fmt"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
)

// Save returns the text of the document. It holds the lock only while it copies the state.
func (s *Service) Save() ([]byte, error) {
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

// snapshot copies the state. Meanwhile no task runs, so each task is either pending or done.
func (s *Service) snapshot() (*stateDocument, error) {
	release := s.Clock.Hold()
	defer release()
	l := s.Ledger.RLock()
	defer l.RUnlock()
	d := &stateDocument{
		Version: stateVersion, Clock: s.Clock.Save(), Companies: s.savedCompanies(l), Accounts: l.Save(),
		Tokens:         document.Sorted(s.Tokens.Save(), func(token string, expires time.Time) savedToken { return savedToken{token, expires} }),
		Authorisations: s.Simulator.Save(l), Redemptions: s.funding.Save(l), Hooks: s.Hooks.Save(l), Tasks: s.savedTasks(l),
	}
	d.Transfers, d.Movements = s.Transfers.Save(l)
	d.Templates, d.Runs = s.Reports.Save(l)
	d.DIPKeys, d.DIPUsed = s.Keys.Save(l)
	d.IDs.PolicyRule = s.Policies.LastRule
	var err error
	if d.IDs.Transaction, d.IDs.Source, err = s.ids.Save(); err != nil {
		return nil, err
	}
	d.PINChanges, d.PINIdentity, err = s.PINs.Save(l)
	return d, err
}

func (s *Service) savedCompanies(v ledger.View) []savedCompany {
	list := []savedCompany{}
	for _, c := range v.Companies() {
		list = append(list, savedCompany{c.Company, s.Policies.Save(v, c.ID)})
	}
	return list
}

// savedTasks lists the pending jobs. A deleted hook has no jobs.
func (s *Service) savedTasks(v ledger.View) []savedTask {
	list := []savedTask{}
	for _, waiting := range s.Clock.Waiting() {
		saved := savedTask{Due: waiting.Due}
		switch j := waiting.Job.(type) {
		case *simulator.Task:
			saved.Kind, saved.Input = j.Save(v)
		case *hooks.Task:
			var wanted bool
			if saved.Kind, saved.Hook, saved.Message, wanted = j.Save(v); !wanted {
				continue
			}
		}
		list = append(list, saved)
	}
	return list
}
