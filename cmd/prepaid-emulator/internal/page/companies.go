package page

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// companyState is a company with its policy and the number of its accounts.
type companyState struct {
	prepaidtest.Company
	HasPolicy bool
	Policy    prepaidtest.Policy
	Accounts  int
}

func companyStates(server *prepaidtest.Server) []companyState {
	var list []companyState
	for _, c := range server.Companies() {
		state := companyState{Company: c, Accounts: len(server.CompanyAccountIDs(c.ID))}
		state.Policy, state.HasPolicy = server.Policy(c.ID)
		list = append(list, state)
	}
	return list
}

type companiesData struct {
	Companies []companyState
	Pager     pager
}

func (p *Page) companies(w http.ResponseWriter, r *http.Request) {
	var data companiesData
	data.Companies, data.Pager = paginate(r, companyStates(p.server.Load()), listSize)
	p.show(w, r, http.StatusOK, "companies", layout{Title: "Companies", Section: "companies", Data: data})
}

type companyData struct {
	Company  companyState
	Accounts []prepaidtest.AccountState
	Pager    pager
	// Rule and Type are names of the deprecated API: the kind of each listed category or terminal, and the kind of the policy.
	Rule, Type string
}

func (p *Page) company(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	list := companyStates(server)
	i := slices.IndexFunc(list, func(c companyState) bool { return strconv.FormatInt(int64(c.ID), 10) == r.PathValue("id") })
	if i < 0 {
		p.notFound(w, r, "There is no such company.")
		return
	}
	data := companyData{Company: list[i], Rule: "must_block", Type: "open"}
	if list[i].Policy.DefaultAction == "deny" {
		data.Rule, data.Type = "must_allow", "close"
	}
	ids, pages := paginate(r, server.CompanyAccountIDs(list[i].ID), listSize)
	data.Accounts, data.Pager = accountStates(server, ids), pages
	p.show(w, r, http.StatusOK, "company", layout{Title: "Company " + r.PathValue("id"), Section: "companies", Data: data})
}
