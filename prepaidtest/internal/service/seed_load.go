package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// seedDocument is the input of Load, with all checks that do not need the server's state.
type seedDocument struct {
	companies []seedCompany
	accounts  []seedAccount
	reports   map[string]reports.Template
	hooks     []seedHook
}

type seedHook struct {
	hooks.Config
	path string
}

// Load adds the content of a document, or nothing if anything is wrong.
func (s *Service) Load(raw []byte) error {
	members, err := wire.ParseObject(raw)
	if line := faultyLine(raw); err != nil && line > 0 {
		return fmt.Errorf("prepaidtest: the seed document is not JSON: see line %d", line)
	}
	if err != nil {
		return fmt.Errorf("prepaidtest: the seed document %w", err)
	}
	s.Clock.Settle()
	faults := new(wire.Faults)
	b := &wire.Reader{Members: members, Faults: faults, Now: s.Clock.Now(), Document: true}
	document := seedDocument{reports: make(map[string]reports.Template)}
	b.Objects("companies", document.bindCompany)
	b.Objects("accounts", document.bindAccount)
	b.Objects("reports", document.bindReport)
	b.Objects("hooks", func(b *wire.Reader) {
		add := seedHook{path: b.Path}
		text, _ := json.Marshal(b.Members) // they are JSON
		clear(b.Members)
		s.Hooks.Seed(text, b.Path, faults, &add.Config)
		document.hooks = append(document.hooks, add)
	})
	b.Finish()
	l := s.Ledger.Lock()
	defer l.Unlock()
	s.checkSeeds(l.View, document, faults)
	if len(faults.Found) > 0 {
		return errors.New("prepaidtest: seed document: " + faults.String())
	}
	s.putSeeds(l, document)
	return nil
}

// faultyLine is the line, from 1, in which a text stops being JSON; 0 if it is JSON.
func faultyLine(raw []byte) int {
	var whole json.RawMessage
	fault, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(raw, &whole))
	if !ok {
		return 0
	}
	line := 1
	for _, c := range raw[:min(int(fault.Offset), len(raw))] {
		if c == '\n' {
			line++
		}
	}
	return line
}

func (d *seedDocument) bindReport(b *wire.Reader) {
	var title, text string
	name := b.String("template", &title).Required().Min(1)
	_, twice := d.reports[title]
	name.Limit(!twice, "is there twice")
	v := b.String("csv", &text).Required()
	report, ok := reports.Fixed(text)
	v.Limit(ok, "has no header row or is not CSV")
	d.reports[title] = report
}

// checkSeeds checks that the document agrees with itself and with the state.
func (s *Service) checkSeeds(l ledger.View, d seedDocument, faults *wire.Faults) {
	companies := make(map[state.CompanyID]bool)
	for _, add := range d.companies {
		if companies[add.ID] {
			faults.Add(add.path+"id", "is there twice")
		}
		companies[add.ID] = add.ID > 0
	}
	owner := func(id state.CompanyID) bool { return companies[id] || l.Company(id) != nil }
	ids := make(map[state.AccountID]bool)
	for _, add := range d.accounts {
		if !owner(add.CompanyID) {
			faults.Add(add.path+"company_id", "is not a company of the document or the server")
		}
		switch {
		case add.ID == "":
		case l.Account(string(add.ID)) != nil:
			faults.Add(add.path+"account_id", "exists on the server")
		case ids[add.ID]:
			faults.Add(add.path+"account_id", "is there twice")
		}
		ids[add.ID] = true
	}
	for _, add := range d.accounts {
		if other := add.CorrespondingAccountID; other != "" && !ids[other] && l.Account(string(other)) == nil {
			faults.Add(add.path+"corresponding_account_id", "is not an account of the document or the server")
		}
	}
	for _, add := range d.hooks {
		for i, id := range add.Scope {
			field := add.path + "scope[" + strconv.Itoa(i) + "]"
			switch {
			case !owner(id):
				faults.Add(field, "is not a company of the document or the server")
			case !l.MayAccess(id):
				faults.Add(field, "is not a company that the caller can access")
			}
		}
	}
}

// putSeeds adds the content of a document that checkSeeds has accepted.
func (s *Service) putSeeds(l ledger.Locked, d seedDocument) {
	for _, add := range d.companies {
		s.PutCompany(l, add.Company)
		if p := s.Policies.Of(l.View, add.ID); p != nil {
			p.AddCategories(add.categories)
			s.Policies.AddMerchants(p, add.merchants)
			s.Policies.AddTerminals(p, add.terminals)
		}
	}
	for _, add := range d.accounts {
		s.putSeedAccount(l, add)
	}
	for name, report := range d.reports {
		s.Reports.Put(l, name, report)
	}
	for _, add := range d.hooks {
		s.Hooks.Add(l, add.Config)
	}
}
