package prepaidtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// seedDocument is what Load reads, checked as far as it goes without the server's state.
type seedDocument struct {
	companies []seedCompany
	accounts  []seedAccount
	reports   map[string]template
	hooks     []seedHook
}

type seedHook struct {
	hookConfig
	path string
}

// Load adds what a JSON document written by hand holds to the server, for example
//
//	{"companies": [{"id": 7, "client_id": "globex", "loop": "closed", "categories": [5411]}],
//	 "accounts": [{"account_id": "emp-1", "company_id": 7, "balance": 25.50, "status": "active"}]}
//
// The document is an object with up to four lists: companies with their policy rules; accounts with their
// registration, history and wallet tokens; reports with a fixed text; and hooks. docs/emulator-seed.md has every
// member with its limits and default.
//
// A company that exists takes the data of the document and keeps its accounts and policy rules. A report template
// that exists is replaced. An account that exists is a fault. Nothing that Load adds is announced to hooks, and
// hooks are not pinged.
//
// The error names every faulty member with its path, such as accounts[3].status, and the rule it breaks, and never a
// value. Nothing at all is added when anything is wrong.
func (s *Server) Load(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("prepaidtest: read the seed document: %w", err)
	}
	members, err := wire.ParseObject(raw)
	if line := faultyLine(raw); err != nil && line > 0 {
		return fmt.Errorf("prepaidtest: the seed document is not JSON: see line %d", line)
	}
	if err != nil {
		return fmt.Errorf("prepaidtest: the seed document %w", err)
	}
	s.clock.Settle()
	faults := new(wire.Faults)
	b := &wire.Reader{Members: members, Faults: faults, Now: s.clock.Now(), Document: true}
	document := seedDocument{reports: make(map[string]template)}
	b.Objects("companies", document.bindCompany)
	b.Objects("accounts", document.bindAccount)
	b.Objects("reports", document.bindReport)
	b.Objects("hooks", func(b *wire.Reader) {
		add := seedHook{path: b.Path}
		s.bindHookMembers(b, &add.hookConfig, true)
		document.hooks = append(document.hooks, add)
	})
	b.Finish()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkSeeds(document, faults)
	if len(faults.Found) > 0 {
		return errors.New("prepaidtest: seed document: " + faults.String())
	}
	s.putSeeds(document)
	return nil
}

// faultyLine is the line in which a text stops being JSON, counted from 1; 0 when it is JSON.
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
	run := csvReport(text)
	v.Limit(run != nil, "has no header row or is not CSV")
	d.reports[title] = template{run, text}
}

// checkSeeds holds the document against itself and the state. It needs s.mu.
func (s *Server) checkSeeds(d seedDocument, faults *wire.Faults) {
	companies := make(map[int64]bool)
	for _, add := range d.companies {
		if companies[add.ID] {
			faults.Add(add.path+"id", "is there twice")
		}
		companies[add.ID] = add.ID > 0
	}
	owner := func(id int64) bool { return companies[id] || s.companies[id] != nil }
	ids := make(map[string]bool)
	for _, add := range d.accounts {
		if !owner(add.CompanyID) {
			faults.Add(add.path+"company_id", "is not a company of the document or the server")
		}
		switch {
		case add.ID == "":
		case s.accounts[add.ID] != nil:
			faults.Add(add.path+"account_id", "exists on the server")
		case ids[add.ID]:
			faults.Add(add.path+"account_id", "is there twice")
		}
		ids[add.ID] = true
	}
	for _, add := range d.accounts {
		if other := add.CorrespondingAccountID; other != "" && !ids[other] && s.accounts[other] == nil {
			faults.Add(add.path+"corresponding_account_id", "is not an account of the document or the server")
		}
	}
	for _, add := range d.hooks {
		for i, id := range add.scope {
			field := add.path + "scope[" + strconv.Itoa(i) + "]"
			switch {
			case !owner(id):
				faults.Add(field, "is not a company of the document or the server")
			case !s.mayAccess(id):
				faults.Add(field, "is not a company that the caller can access")
			}
		}
	}
}

// putSeeds adds what checkSeeds found to be good. It needs s.mu.
func (s *Server) putSeeds(d seedDocument) {
	for _, add := range d.companies {
		s.putCompany(add.Company)
		if p := s.companies[add.ID].policy; p != nil {
			p.addCategories(add.categories)
			s.addMerchants(p, add.merchants)
			s.addTerminals(p, add.terminals)
		}
	}
	for _, add := range d.accounts {
		s.putSeedAccount(add)
	}
	maps.Copy(s.templates, d.reports)
	for _, add := range d.hooks {
		h := &hook{hookConfig: add.hookConfig, id: s.ids.UUID()}
		s.hooks[h.id] = h
		s.hookOrder = append(s.hookOrder, h)
	}
}
