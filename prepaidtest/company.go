package prepaidtest

import (
	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

const (
	// DefaultCompany is the company that each new server has.
	DefaultCompany prepaid.CompanyID = 42
	// DefaultProgramClientID is the client_id of the accounts of DefaultCompany.
	DefaultProgramClientID = "acme"
)

// The kinds of policy, as package state describes them.
const (
	// OpenLoop allows by default.
	OpenLoop = state.OpenLoop
	// ClosedLoop denies by default.
	ClosedLoop = state.ClosedLoop
	// NoPolicy means that the company has no policy configured.
	NoPolicy = state.NoPolicy
)

// AddCompany adds a company. An existing company keeps its accounts and policy rules; all other data is replaced.
func (s *Server) AddCompany(add Company) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	s.service.PutCompany(l, add)
}

// AddApplication registers an application and one of its keys, both UUIDs, for the key exchange. Before the first
// registration, every well-formed pair is accepted.
func (s *Server) AddApplication(applicationID, keyID string) {
	s.service.Keys.Add(applicationID, keyID)
}
