package prepaidtest

// policies holds the policies of all companies. The ledger's lock guards it.
type policies struct {
	ledger *Ledger
	rules  map[int64]*policy // by company; none for a company without a policy
	last   int64             // number given to a rule
}

func newPolicies(ledger *Ledger) *policies {
	return &policies{ledger: ledger, rules: make(map[int64]*policy)}
}

// The kinds of policy that a company can have.
const (
	OpenPolicy    = ""
	ClosedPolicy  = "closed"
	WithoutPolicy = "none"
)

// configure gives a company the kind of policy that its data name. Rules that exist stay.
func (s *policies) configure(_ Locked, owner *company) {
	switch {
	case owner.Loop == WithoutPolicy:
		delete(s.rules, owner.ID)
		return
	case s.rules[owner.ID] == nil:
		s.rules[owner.ID] = new(policy)
	}
	s.rules[owner.ID].Closed = owner.Loop == ClosedPolicy
}

// of returns the policy of a company; nil without one.
func (s *policies) of(_ View, company int64) *policy { return s.rules[company] }

// approve decides a simulated transaction. A company without a policy approves everything.
func (s *policies) approve(v View, company int64, at merchant) bool {
	p := s.of(v, company)
	return p == nil || p.approves(at)
}
