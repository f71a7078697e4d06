package ledger

import (
	"slices"
	"strconv"
)

// CompanyData is a program that owns accounts. Its JSON is used in the saved state.
type CompanyData struct {
	ID          int64  `json:"id"`
	ClientID    string `json:"client_id"`
	ProgramID   string `json:"program_id"`
	ProductType string `json:"product_type"`
	Loop        string `json:"loop"`
}

// Company is a company with its accounts, oldest first.
type Company struct {
	CompanyData
	Accounts []*Account
}

// PutCompany adds or replaces a company. An existing company keeps its accounts.
func (l Locked) PutCompany(add CompanyData) *Company {
	if add.ProductType == "" {
		add.ProductType = "reloadable"
	}
	existing := l.companies[add.ID]
	if existing == nil {
		existing = new(Company)
		l.companies[add.ID] = existing
	}
	renamed := existing.ClientID != add.ClientID
	existing.CompanyData = add
	if renamed {
		for _, a := range existing.Accounts {
			l.Reindex(a, a.Key)
		}
	}
	return existing
}

// Permitted reports whether a company exists and the caller may change it.
func (v View) Permitted(id int64) bool { return v.companies[id] != nil && v.MayAccess(id) }

// MayAccess is Permitted without the check that the company exists.
func (v View) MayAccess(id int64) bool { return v.permitted == nil || slices.Contains(v.permitted, id) }

// CompanyID reads the id of a company in a path.
func CompanyID(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil
}
