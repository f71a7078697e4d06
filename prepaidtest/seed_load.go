package prepaidtest

import (
	"errors"
	"fmt"
	"io"
	"maps"
)

// seedDocument is what Load reads, checked as far as it goes without the server's state.
type seedDocument struct {
	companies []Company
	accounts  []loadedAccount
	reports   map[string]template
}

type loadedAccount struct {
	SeedAccount
	path    string
	balance money
}

// Load adds the companies, accounts and reports of a JSON document such as
//
//	{"companies": [{"id": 7, "client_id": "globex", "loop": "closed"}],
//	 "accounts": [{"account_id": "emp-1", "company_id": 7, "balance": 25.50, "status": "active"}]}
//
// A company has id (required), client_id, program_id, product_type and loop (open, closed or none). An account
// has account_id, external_account_id, company_id, balance, client_account_key, status, product_type,
// account_type, is_plastic_enabled, plastic_expiry, account_expiry, display_name, name_on_card, personal,
// portal_identifier, mdes_config_id, corresponding_account_id and card_holder_type, with the defaults of
// SeedAccount. A report has template and csv, as AddReportCSV takes them. The error names every faulty member with its path and rule and never a value; nothing is added
// when anything is wrong.
func (s *Server) Load(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("prepaidtest: read the seed document: %w", err)
	}
	members, err := parseObject(raw)
	if err != nil {
		return fmt.Errorf("prepaidtest: the seed document %w", err)
	}
	faults := new(faultList)
	b := &binder{members: members, faults: faults, now: s.clock.now()}
	document := seedDocument{reports: make(map[string]template)}
	b.objects("companies", document.bindCompany)
	b.objects("accounts", document.bindAccount)
	b.objects("reports", document.bindReport)
	b.finish()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkSeeds(document, faults)
	if len(faults.found) > 0 {
		return errors.New("prepaidtest: seed document: " + faults.describe())
	}
	for _, add := range document.companies {
		s.putCompany(add)
	}
	for _, add := range document.accounts {
		s.addSeed(s.companies[add.CompanyID], add.SeedAccount, add.balance)
	}
	maps.Copy(s.templates, document.reports)
	return nil
}

func (d *seedDocument) bindReport(b *binder) {
	var title, text string
	name := b.string("template", &title).required().min(1)
	_, twice := d.reports[title]
	name.limit(!twice, "is there twice")
	v := b.string("csv", &text).required()
	run := csvReport(text)
	v.limit(run != nil, "has no header row or is not CSV")
	d.reports[title] = template{run, text}
}

func (d *seedDocument) bindCompany(b *binder) {
	var add Company
	var loop string
	id := b.integer("id", &add.ID).required()
	id.limit(add.ID > 0, "must be positive")
	b.string("client_id", &add.ClientID)
	b.string("program_id", &add.ProgramID)
	b.string("product_type", &add.ProductType).oneOf("reloadable", "gift", "loyalty")
	b.string("loop", &loop).oneOf("open", "closed", "none")
	if loop != "open" {
		add.Loop = Loop(loop)
	}
	d.companies = append(d.companies, add)
}

func (d *seedDocument) bindAccount(b *binder) {
	add := loadedAccount{path: b.path}
	add.CompanyID = DefaultCompany
	b.string("account_id", &add.ID).min(1)
	b.string("external_account_id", &add.ExternalID).min(1)
	b.integer("company_id", &add.CompanyID)
	b.decimal("balance", &add.balance, true)
	b.string("client_account_key", &add.Key).max(255).form(isPrintableASCII, "must be ASCII from 0x20 to 0x7E")
	b.string("status", &add.Status).oneOf(accountStatuses()...)
	b.string("product_type", &add.ProductType).oneOf("reloadable", "gift", "loyalty")
	b.string("account_type", &add.AccountType).oneOf("proxy", "ledger")
	plastic := true
	b.boolean("is_plastic_enabled", &plastic)
	add.PlasticDisabled = !plastic
	b.dateTime("plastic_expiry", &add.PlasticExpiry)
	b.dateTime("account_expiry", &add.AccountExpiry)
	b.string("display_name", &add.DisplayName).max(100)
	b.string("name_on_card", &add.NameOnCard).min(2).max(19).form(isNameOnCard, "has characters other than 0-9, A-Z, -, / and .")
	personal, portal := new(Personal), new(PortalIdentifier)
	if b.object("personal", personal.bind).usable {
		add.Personal = personal
	}
	if b.object("portal_identifier", portal.bind).usable {
		add.Portal = portal
	}
	b.string("mdes_config_id", &add.MDESConfigID).max(10)
	b.string("corresponding_account_id", &add.CorrespondingAccountID)
	var holder int64
	v := b.integer("card_holder_type", &holder)
	v.limit(holder == 1 || holder == 2, "must be 1 or 2")
	add.CardholderType = int(holder)
	d.accounts = append(d.accounts, add)
}

// checkSeeds holds the document against itself and the state. It needs s.mu.
func (s *Server) checkSeeds(d seedDocument, faults *faultList) {
	companies := make(map[int64]bool)
	for i, add := range d.companies {
		if companies[add.ID] {
			faults.add(fmt.Sprintf("companies[%d].id", i), "is there twice")
		}
		companies[add.ID] = true
	}
	ids := make(map[string]bool)
	for _, add := range d.accounts {
		if !companies[add.CompanyID] && s.companies[add.CompanyID] == nil {
			faults.add(add.path+"company_id", "is not a company of the document or the server")
		}
		if add.ID != "" && (ids[add.ID] || s.accounts[add.ID] != nil) {
			faults.add(add.path+"account_id", "exists")
		}
		ids[add.ID] = true
	}
}
