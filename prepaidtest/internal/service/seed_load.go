package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/prepaidtest/internal/check"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/reports"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// seedDocument is the input of Load.
type seedDocument struct {
	Companies []seedCompany  `json:"companies"`
	Accounts  []seedAccount  `json:"accounts"`
	Reports   []seedReport   `json:"reports"`
	Hooks     []hooks.Config `json:"hooks"`
}

type seedReport struct {
	Template string `json:"template"`
	CSV      string `json:"csv"`
	report   reports.Template
}

// seedSchema is the schema of a document. An account has the members of a response that state.Account stores, except the generated ones,
// with the limits of a creation.
var seedSchema = sync.OnceValue(func() *reference.Schema {
	d := reference.Emulator()
	account, _ := d.Schemas.Get("Account")
	creation, _ := d.Schemas.Get("CreateAccount")
	own, _ := d.Schemas.Get("SeedAccount")
	members := slices.Clone(own.Properties)
	generated := []string{"card_number", "bpay_reference_number", "direct_entry_account_number"}
	for _, member := range account.Properties {
		if _, has := members.Get(member.Name); has || !ledger.Stores(member.Name) || slices.Contains(generated, member.Name) {
			continue
		}
		if limited, ok := creation.Properties.Get(member.Name); ok {
			member.Value = limited
		}
		members = append(members, member)
	}
	seed, _ := d.Schemas.Get("Seed")
	whole := *seed
	whole.Properties = append(slices.Clone(seed.Properties), reference.Member[*reference.Schema]{
		Name: "accounts", Value: &reference.Schema{Type: reference.Types{"array"}, Items: &reference.Schema{Type: own.Type, Properties: members}},
	})
	return &whole
})

// Load adds the content of a document, or nothing if anything is wrong.
func (s *Service) Load(raw []byte) error {
	s.Clock.Settle()
	checker := &check.Checker{Document: true, Now: s.Clock.Now()}
	text, err := checker.Object(seedSchema(), raw)
	if line := faultyLine(raw); err != nil && line > 0 {
		return fmt.Errorf("prepaidtest: the seed document is not JSON: see line %d", line)
	}
	if err != nil {
		return fmt.Errorf("prepaidtest: the seed document %w", err)
	}
	var d seedDocument
	if err := jsonv2.Unmarshal(text, &d); err != nil {
		return errors.New("prepaidtest: the seed document cannot be read") // not reached: the checker has read it
	}
	faults := &checker.Faults
	for i := range d.Companies {
		d.Companies[i].check(faults.In("companies", i))
	}
	for i := range d.Accounts {
		d.Accounts[i].check(faults.In("accounts", i), checker.Now)
	}
	for i := range d.Hooks {
		s.Hooks.Limit(&d.Hooks[i], faults.In("hooks", i))
	}
	checkReports(d.Reports, faults)
	l := s.Ledger.Lock()
	defer l.Unlock()
	s.checkSeeds(l.View, d, faults)
	if len(faults.Found) > 0 {
		return errors.New("prepaidtest: seed document: " + faults.String())
	}
	s.putSeeds(l, d)
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

func checkReports(list []seedReport, faults *wire.Faults) {
	known := make(map[string]bool)
	for i := range list {
		fault := faults.In("reports", i)
		if known[list[i].Template] {
			fault("template", "is there twice")
		}
		known[list[i].Template] = true
		var ok bool
		if list[i].report, ok = reports.Fixed(list[i].CSV); !ok {
			fault("csv", "has no header row or is not CSV")
		}
	}
}

// checkSeeds checks that the document agrees with itself and with the state.
func (s *Service) checkSeeds(l ledger.View, d seedDocument, faults *wire.Faults) {
	companies := make(map[state.CompanyID]bool)
	for i, add := range d.Companies {
		if companies[add.ID] {
			faults.In("companies", i)("id", "is there twice")
		}
		companies[add.ID] = true
	}
	owner := func(id state.CompanyID) bool { return companies[id] || l.Company(id) != nil }
	ids := make(map[state.AccountID]bool)
	for i, add := range d.Accounts {
		fault := faults.In("accounts", i)
		if !owner(add.owner()) {
			fault("company_id", "is not a company of the document or the server")
		}
		switch {
		case add.ID == "":
		case l.Account(string(add.ID)) != nil:
			fault("account_id", "exists on the server")
		case ids[add.ID]:
			fault("account_id", "is there twice")
		}
		ids[add.ID] = true
	}
	for i, add := range d.Accounts {
		if other := add.CorrespondingAccountID; other != "" && !ids[other] && l.Account(string(other)) == nil {
			faults.In("accounts", i)("corresponding_account_id", "is not an account of the document or the server")
		}
	}
	for i, add := range d.Hooks {
		for j, id := range add.Scope {
			field := "scope[" + strconv.Itoa(j) + "]"
			switch {
			case !owner(id):
				faults.In("hooks", i)(field, "is not a company of the document or the server")
			case !l.MayAccess(id):
				faults.In("hooks", i)(field, "is not a company that the caller can access")
			}
		}
	}
}

// putSeeds adds the content of a document that checkSeeds has accepted.
func (s *Service) putSeeds(l ledger.Locked, d seedDocument) {
	for _, add := range d.Companies {
		s.PutCompany(l, add.Company)
		if p := s.Policies.Of(l.View, add.ID); p != nil {
			p.AddCategories(add.Categories)
			s.Policies.AddMerchants(p, add.Merchants)
			s.Policies.AddTerminals(p, add.Terminals)
		}
	}
	for _, add := range d.Accounts {
		s.putSeedAccount(l, add)
	}
	for _, add := range d.Reports {
		s.Reports.Put(l, add.Template, add.report)
	}
	for _, add := range d.Hooks {
		s.Hooks.Add(l, add)
	}
}
