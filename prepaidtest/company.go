package prepaidtest

import (
	"github.com/cardprograms/prepaid"
)

const (
	// DefaultCompany is the company that each new server has.
	DefaultCompany prepaid.CompanyID = 42
	// DefaultProgramClientID is the client_id of the accounts of DefaultCompany.
	DefaultProgramClientID = "acme"
)

// Loop is the kind of policy that a company has.
type Loop string

const (
	// OpenLoop allows by default; listed rules block. It is the zero value.
	OpenLoop Loop = ""
	// ClosedLoop denies by default; listed rules allow.
	ClosedLoop Loop = "closed"
	// NoPolicy means that the company has no policy configured: its policy operations respond with 404, and the
	// simulator checks no policy.
	NoPolicy Loop = "none"
)

// Company is a program that owns accounts.
type Company struct {
	// ID is the company id; required.
	ID prepaid.CompanyID
	// ClientID is the client_id of the company's accounts, also in searches.
	ClientID string
	// ProgramID is a program_id with which the company search finds all accounts of the company. The search also finds an
	// account by the program_id of its portal identifier.
	ProgramID string
	// ProductType is the product type of new accounts: reloadable, gift or loyalty. Empty means reloadable.
	ProductType string
	// Loop is the kind of policy.
	Loop Loop
}

// AddCompany adds a company. An existing company keeps its accounts and policy rules; all other data is replaced.
func (s *Server) AddCompany(add Company) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	s.service.PutCompany(l, fromCompany(add))
}

// AddApplication registers an application and one of its keys, both UUIDs, for the key exchange. Before the first
// registration, every well-formed pair is accepted.
func (s *Server) AddApplication(applicationID, keyID string) {
	s.service.Keys.Add(applicationID, keyID)
}
