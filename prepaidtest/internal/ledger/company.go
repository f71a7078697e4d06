package ledger

import (
	"slices"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// Company is a company with its accounts, oldest first.
type Company struct {
	state.Company
	Accounts []*Account
}

// PutCompany adds or replaces a company. An existing company keeps its accounts.
func (l Locked) PutCompany(add state.Company) *Company {
	if add.ProductType == "" {
		add.ProductType = "reloadable"
	}
	existing := l.companies[add.ID]
	if existing == nil {
		existing = new(Company)
		l.companies[add.ID] = existing
	}
	renamed := existing.ClientID != add.ClientID
	existing.Company = add
	if renamed {
		for _, a := range existing.Accounts {
			l.Reindex(a, a.Key)
		}
	}
	return existing
}

// Permitted reports whether a company exists and the caller may change it.
func (v View) Permitted(id state.CompanyID) bool { return v.companies[id] != nil && v.MayAccess(id) }

// MayAccess is Permitted without the check that the company exists.
func (v View) MayAccess(id state.CompanyID) bool {
	return v.permitted == nil || slices.Contains(v.permitted, id)
}

// CompanyID reads the id of a company in a path.
func CompanyID(text string) (state.CompanyID, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return state.CompanyID(id), err == nil
}
