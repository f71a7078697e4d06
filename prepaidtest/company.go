package prepaidtest

import "slices"

const (
	// DefaultCompany is the company every server begins with.
	DefaultCompany int64 = 42
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
	// NoPolicy is a company without a configured policy: its policy operations answer 404, and the simulator
	// asks no policy.
	NoPolicy Loop = "none"
)

// Company is a program that owns accounts.
type Company struct {
	// ID is the company id; required.
	ID int64
	// ClientID is the client_id that the company's accounts show and are searched by.
	ClientID string
	// ProgramID is what the program_id filter of the company search compares with, beside the program_id of an
	// account's own portal identifier.
	ProgramID string
	// ProductType is that of new accounts: reloadable (when empty), gift or loyalty.
	ProductType string
	// Loop is the kind of policy.
	Loop Loop
}

type company struct {
	Company
	policy   *policy // nil without one
	accounts []*account
}

// AddCompany adds a company. A company that exists keeps its accounts and policy rules and takes the rest.
func (s *Server) AddCompany(add Company) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putCompany(add)
}

// putCompany is AddCompany for a caller that holds s.mu.
func (s *Server) putCompany(add Company) {
	if add.ProductType == "" {
		add.ProductType = "reloadable"
	}
	existing := s.companies[add.ID]
	if existing == nil {
		existing = new(company)
		s.companies[add.ID] = existing
	}
	renamed := existing.ClientID != add.ClientID
	existing.Company = add
	switch {
	case add.Loop == NoPolicy:
		existing.policy = nil
	case existing.policy == nil:
		existing.policy = new(policy)
	}
	if existing.policy != nil {
		existing.policy.closed = add.Loop == ClosedLoop
	}
	if renamed {
		for _, a := range existing.accounts {
			s.reindex(a, a.clientAccountKey)
		}
	}
}

// permitted tells whether the caller may change things of a company; false for one that does not exist.
func (s *Server) permitted(id int64) bool {
	_, exists := s.companies[id]
	return exists && s.mayAccess(id)
}

// mayAccess does not ask whether the company exists.
func (s *Server) mayAccess(id int64) bool {
	return s.settings.permitted == nil || slices.Contains(s.settings.permitted, id)
}
