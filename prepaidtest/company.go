package prepaidtest

import (
	"github.com/cardprograms/prepaid"
)

const (
	// DefaultCompany is the company every server begins with.
	DefaultCompany prepaid.CompanyID = 42
	// DefaultProgramClientID is the client_id of the accounts of DefaultCompany.
	DefaultProgramClientID = "acme"
)

// Loop says whether a company has a policy, and of which kind.
type Loop string

const (
	// OpenLoop allows by default; listed rules block. It is the zero value.
	OpenLoop Loop = ""
	// ClosedLoop denies by default; listed rules allow.
	ClosedLoop Loop = "closed"
	// NoPolicy is a company without a configured policy: its policy operations respond with 404, and the simulator
	// asks no policy.
	NoPolicy Loop = "none"
)

// Company is a program that owns accounts.
type Company struct {
	// ID is the company id; required.
	ID prepaid.CompanyID
	// ClientID is the client_id that the company's accounts show and are searched by.
	ClientID string
	// ProgramID is compared with the program_id filter of the company search, in addition to the program_id of an
	// account's own portal identifier.
	ProgramID string
	// ProductType is that of new accounts: reloadable (when empty), gift or loyalty.
	ProductType string
	// Loop is the kind of policy.
	Loop Loop
}

// AddCompany adds a company. A company that exists keeps its accounts and policy rules and takes the rest.
func (s *Server) AddCompany(add Company) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	s.service.PutCompany(l, fromCompany(add))
}

// AddApplication registers an application and one of its keys, both UUIDs, for the key exchange. Until the first
// is registered every well-formed pair is known.
func (s *Server) AddApplication(applicationID, keyID string) {
	s.service.Keys.Add(applicationID, keyID)
}
