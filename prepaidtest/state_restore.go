package prepaidtest

import (
	"errors"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// restore puts a saved state in place of that of a server that has none and does not run. What would later go
// wrong is refused here, by its place in the document.
func (s *service) restore(text []byte) error {
	d, err := unmarshalState(text)
	if err != nil {
		return err
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	s.clock.Restore(d.Clock)
	for _, restore := range []func(ledger.Locked, *stateDocument) error{
		s.restoreIDs, s.restoreCompanies, s.restoreMoney, s.restoreRest, s.restoreTasks,
	} {
		if err := restore(l, d); err != nil {
			return err // what follows would only complain of what is missing now
		}
	}
	return nil
}

func (s *service) restoreIDs(_ ledger.Locked, d *stateDocument) error {
	s.policies.LastRule = d.IDs.PolicyRule
	if s.ids.Restore(d.IDs.Transaction, d.IDs.Source) != nil {
		return errors.New("ids.source cannot be read")
	}
	return nil
}

func (s *service) restoreCompanies(l ledger.Locked, d *stateDocument) error {
	for i, add := range d.Companies {
		if l.Company(add.ID) != nil {
			return document.Wrong("companies", i, "is there twice")
		}
		l.PutCompany(ledger.CompanyData{
			ID: add.ID, ClientID: add.ClientID, ProgramID: add.ProgramID, ProductType: add.ProductType, Loop: add.Loop,
		})
		s.policies.Restore(l, add.ID, add.Policy)
	}
	return nil
}

func (s *service) restoreMoney(l ledger.Locked, d *stateDocument) error {
	for _, token := range d.Tokens {
		s.tokens.Put(token.Token, token.Expires)
	}
	if err := l.Restore(d.Accounts, d.IDs.Transaction); err != nil {
		return err
	}
	if err := s.transfers.Restore(l, d.Transfers, d.Movements); err != nil {
		return err
	}
	s.funding.Restore(l, d.Redemptions)
	return s.simulator.Restore(l, d.Authorisations)
}

func (s *service) restoreRest(l ledger.Locked, d *stateDocument) error {
	if err := s.reports.Restore(l, d.Templates, d.Runs); err != nil {
		return err
	}
	if err := s.keys.Restore(l, d.DIPKeys, d.DIPUsed); err != nil {
		return err
	}
	if err := s.pins.Restore(l, d.PINChanges, d.PINIdentity); err != nil {
		return err
	}
	return s.hooks.Restore(l, d.Hooks)
}

func (s *service) restoreTasks(l ledger.Locked, d *stateDocument) error {
	for i, waiting := range d.Tasks {
		job, err := s.restoreTask(l, waiting)
		if err != nil {
			return document.Wrong("tasks", i, err.Error())
		}
		s.clock.Push(waiting.Due, job)
	}
	return nil
}

func (s *service) restoreTask(l ledger.Locked, saved savedTask) (clock.Job, error) {
	switch {
	case s.simulator.HasTask(saved.Kind):
		return s.simulator.RestoreTask(l, saved.Kind, saved.Input)
	case s.hooks.HasTask(saved.Kind):
		return s.hooks.RestoreTask(l, saved.Kind, saved.Hook, saved.Message)
	}
	return nil, errors.New("is of an unknown kind")
}
