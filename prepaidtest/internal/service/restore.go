package service

import (
	"errors"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Restore sets the state of a server that has no state and does not run yet. It also reports the errors that would
// otherwise occur later, with their place in the document.
func (s *Service) Restore(text []byte) error {
	d, err := unmarshalState(text)
	if err != nil {
		return err
	}
	l := s.Ledger.Lock()
	defer l.Unlock()
	s.Clock.Restore(d.Clock)
	for _, restore := range []func(ledger.Locked, *stateDocument) error{
		s.restoreIDs, s.restoreCompanies, s.restoreMoney, s.restoreRest, s.restoreTasks,
	} {
		if err := restore(l, d); err != nil {
			return err // later errors would only follow from this error
		}
	}
	return nil
}

func (s *Service) restoreIDs(_ ledger.Locked, d *stateDocument) error {
	s.Policies.LastRule = d.IDs.PolicyRule
	if s.ids.Restore(d.IDs.Transaction, d.IDs.Source) != nil {
		return errors.New("ids.source cannot be read")
	}
	return nil
}

func (s *Service) restoreCompanies(l ledger.Locked, d *stateDocument) error {
	for i, add := range d.Companies {
		if l.Company(add.ID) != nil {
			return document.Wrong("companies", i, "is there twice")
		}
		l.PutCompany(add.Company)
		s.Policies.Restore(l, add.ID, add.Policy)
	}
	return nil
}

func (s *Service) restoreMoney(l ledger.Locked, d *stateDocument) error {
	for _, token := range d.Tokens {
		s.Tokens.Put(token.Token, token.Expires)
	}
	if err := l.Restore(d.Accounts, d.IDs.Transaction); err != nil {
		return err
	}
	if err := s.Transfers.Restore(l, d.Transfers, d.Movements); err != nil {
		return err
	}
	s.funding.Restore(l, d.Redemptions)
	return s.Simulator.Restore(l, d.Authorisations)
}

func (s *Service) restoreRest(l ledger.Locked, d *stateDocument) error {
	if err := s.Reports.Restore(l, d.Templates, d.Runs); err != nil {
		return err
	}
	if err := s.Keys.Restore(l, d.DIPKeys, d.DIPUsed); err != nil {
		return err
	}
	if err := s.PINs.Restore(l, d.PINChanges, d.PINIdentity); err != nil {
		return err
	}
	return s.Hooks.Restore(l, d.Hooks)
}

func (s *Service) restoreTasks(l ledger.Locked, d *stateDocument) error {
	for i, waiting := range d.Tasks {
		job, err := s.restoreTask(l, waiting)
		if err != nil {
			return document.Wrong("tasks", i, err.Error())
		}
		s.Clock.Push(waiting.Due, job)
	}
	return nil
}

func (s *Service) restoreTask(l ledger.Locked, saved savedTask) (clock.Job, error) {
	switch {
	case s.Simulator.HasTask(saved.Kind):
		return s.Simulator.RestoreTask(l, saved.Kind, saved.Input)
	case s.Hooks.HasTask(saved.Kind):
		return s.Hooks.RestoreTask(l, saved.Kind, saved.Hook, saved.Message)
	}
	return nil, errors.New("is of an unknown kind")
}
