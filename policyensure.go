package prepaid

import (
	"context"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
)

// EnsureRulesParams are the rules that a policy must have.
type EnsureRulesParams[Rule any] struct {
	// DefaultAction must be the policy's: with [PolicyActionAllow], rules block; with [PolicyActionDeny], they allow. Required.
	DefaultAction PolicyAction
	// Rules are the wanted rules. List each [MCC], merchant (AcquirerID, CardAcceptorID) or terminal (also TerminalID) once; ID is ignored.
	Rules        []Rule
	RemoveOthers bool // removes all other rules; Rules must then not be nil; an empty list that is not nil removes all
	// ReplaceTexts replaces rules that have another description, name or location. The service cannot change a rule: the rules
	// are removed by one call and added by the next, and have no effect in between. An MCC has no text.
	ReplaceTexts bool
	Reason       string // stored with each change; optional
	DryRun       bool   // only reads the policy, and returns the changes
}

// Validate returns the faults of p, or nil: see [TransferParams.Validate].
func (p EnsureRulesParams[Rule]) Validate() error { return validated(p.check) }

// check checks the wanted rules, even those that exist already and are not sent.
func (p EnsureRulesParams[Rule]) check(v *validator) {
	v.requiredOneOf("default_action", string(p.DefaultAction), p.DefaultAction.values())
	list, _ := ruleIdentity(*new(Rule))
	if p.Rules == nil && p.RemoveOthers {
		v.fault(list, "is required to remove others; an empty list that is not nil removes all")
	}
	seen := make(map[any]bool, len(p.Rules))
	for i, rule := range p.Rules {
		v.rule(list, i, rule)
		_, key := ruleIdentity(rule)
		if seen[key] {
			v.fault(index(list, i, ""), "is listed twice")
		}
		seen[key] = true
	}
	v.text("reason", p.Reason, 0)
}

// ruleIdentity returns the list of a rule, and what identifies the rule in it.
func ruleIdentity(rule any) (list string, key any) {
	switch rule := rule.(type) {
	case MCC:
		return "categories", rule
	case MerchantRule:
		return "merchants", rule.key()
	case TerminalRule:
		return "terminals", rule.key()
	}
	return "rules", nil
}

// EnsureRulesResult has the rules last read (DryRun: expected), without IDs.
type EnsureRulesResult[Rule any] struct {
	Added     []Rule // rules that did not exist before
	Replaced  []Rule // rules that had another text before, here with that text
	Removed   []Rule // rules that no longer exist, also one whose new text could not be added
	Unchanged []Rule // wanted rules that existed with the same text
	Left      []Rule // rules that are not listed (without RemoveOthers), have another text (without ReplaceTexts), or stay because of an error
	Missing   []Rule // wanted rules that do not exist; the list is empty if there is no error
}

// Changed reports whether a rule was or, with DryRun, would be changed.
func (r *EnsureRulesResult[Rule]) Changed() bool {
	return len(r.Added)+len(r.Replaced)+len(r.Removed) > 0
}

// EnsureCategories makes sure that the wanted categories have a rule: it reads the rules, sends the difference, if any, and reads them
// again. It removes nothing unless RemoveOthers is set. Run it in one process at a time, for example at each start. Rules are added and
// removed by separate calls, first those that restrict: blocking rules are added before others are removed, and allowing rules are removed
// before others are added. To move a block to another list, add it there first. After an unknown outcome the rules are read at once and
// after 1 s and 3 s. If they show the change, the other changes are sent; otherwise the error has [OutcomeUnknown]: run again later. After
// an error the result lists existing and missing rules.
//
// Errors: *[ValidationError] if the default action differs, and [ErrAmbiguous] if a category has several rules, normally before any change;
// [ErrPolicyChanged] if the final rules are not the initial ones with the sent changes; those of Get and ChangeCategories. After a change
// the outcome is [OutcomeApplied] or unknown. Safety: reads, and changes that are never repeated. API: GET /policy/{id}/categories, POST
// /policy/{id}/categories.
func (s *PolicyService) EnsureCategories(ctx context.Context, company CompanyID, params EnsureRulesParams[MCC]) (*EnsureRulesResult[MCC], error) {
	set := ruleSet[MCC, MCC]{
		name: "Policy.EnsureCategories", params: params, lax: s.client.config.SkipValueChecks,
		key:  func(code MCC) MCC { return code },
		read: s.Categories,
		rules: func(p *Policy) []MCC {
			var codes []MCC
			for _, rule := range p.Categories {
				codes = append(codes, rule.MerchantCategoryCode)
			}
			return codes
		},
		change: s.ChangeCategories,
	}
	return set.ensure(ctx, company)
}

// EnsureMerchants is EnsureCategories for merchants. Texts are replaced before changes that permit. Errors and safety: as there. API: GET
// /policy/{id}/merchants, POST /policy/{id}/merchants.
func (s *PolicyService) EnsureMerchants(ctx context.Context, company CompanyID, params EnsureRulesParams[MerchantRule]) (*EnsureRulesResult[MerchantRule], error) {
	set := ruleSet[merchantKey, MerchantRule]{
		name: "Policy.EnsureMerchants", params: params, lax: s.client.config.SkipValueChecks,
		key: MerchantRule.key, plain: MerchantRule.withoutID,
		read:   s.Merchants,
		rules:  func(p *Policy) []MerchantRule { return p.Merchants },
		change: s.ChangeMerchants,
	}
	return set.ensure(ctx, company)
}

// EnsureTerminals is EnsureMerchants for terminals. Errors and safety: as there. API: GET /policy/{id}/terminals, POST
// /policy/{id}/terminals.
func (s *PolicyService) EnsureTerminals(ctx context.Context, company CompanyID, params EnsureRulesParams[TerminalRule]) (*EnsureRulesResult[TerminalRule], error) {
	set := ruleSet[terminalKey, TerminalRule]{
		name: "Policy.EnsureTerminals", params: params, lax: s.client.config.SkipValueChecks,
		key: TerminalRule.key, plain: TerminalRule.withoutID,
		read:   s.Terminals,
		rules:  func(p *Policy) []TerminalRule { return p.Terminals },
		change: s.ChangeTerminals,
	}
	return set.ensure(ctx, company)
}

// ruleSet is one list of a policy, with the differences of the three Ensure methods.
type ruleSet[K, R comparable] struct {
	name   string
	lax    bool // Config.SkipValueChecks
	params EnsureRulesParams[R]

	key    func(R) K // identifies a rule
	read   func(context.Context, CompanyID) (*Policy, error)
	rules  func(*Policy) []R
	plain  func(R) R // removes the service's ID; nil for none
	change func(context.Context, CompanyID, ChangeRulesParams[R]) error
}

// ruleChange is one call. It adds or removes, never both: the reference does not say which the service does first, nor whether
// it applies a part of a refused change.
type ruleChange[R any] struct{ add, remove []R }

func (s *ruleSet[K, R]) ensure(ctx context.Context, company CompanyID) (*EnsureRulesResult[R], error) {
	v := validator{lax: s.lax}
	v.companyID("company", company)
	s.params.check(&v)
	if len(v.faults) > 0 {
		return nil, s.failed(OutcomeRejected, &ValidationError{Faults: v.faults})
	}
	wanted := s.withoutIDs(s.params.Rules)
	read := func() ([]R, error) { return s.current(ctx, company) }
	before, err := read()
	if err != nil {
		return nil, err
	}
	changes, expected := s.changes(before, wanted), before
	for i, change := range changes {
		if !s.params.DryRun {
			now, failure := s.send(ctx, company, change, expected, read)
			if failure != nil && i > 0 && OutcomeOf(failure) != OutcomeUnknown {
				failure = s.failed(OutcomeApplied, failure)
			}
			if failure != nil {
				return s.compare(before, now, wanted), failure
			}
		}
		expected = s.after(expected, change)
	}
	if s.params.DryRun || len(changes) == 0 {
		return s.compare(before, expected, wanted), nil
	}
	now, seen, err := look(ctx, expected, read, func(now []R) bool { return s.same(expected, now, wanted) })
	if err == nil && !seen {
		err = ErrPolicyChanged
	}
	if err != nil {
		err = s.failed(OutcomeApplied, err)
	}
	return s.compare(before, now, wanted), err
}

// send sends a change. If it was not made for certain, send returns an error, and the rules as far as they are known: rules before it.
func (s *ruleSet[K, R]) send(
	ctx context.Context, company CompanyID, change ruleChange[R], rules []R, read func() ([]R, error),
) (now []R, err error) {
	err = s.change(ctx, company, ChangeRulesParams[R]{Reason: s.params.Reason, Add: change.add, Remove: change.remove})
	switch OutcomeOf(err) {
	case OutcomeApplied: // also if the response cannot be read
		return nil, nil
	case OutcomeUnknown:
		now, seen, unread := look(ctx, rules, read, func(now []R) bool { return s.shows(now, change) })
		switch {
		case unread != nil:
			err = s.failed(OutcomeUnknown, &bothCauses{last: unread, earlier: err})
		case seen:
			err = nil
		}
		return now, err
	case OutcomeRejected, OutcomeNotProcessed:
	}
	return rules, err
}

func (s *ruleSet[K, R]) failed(outcome Outcome, err error) error {
	return &CallError{Operation: s.name, Outcome: outcome, Err: err}
}

// current reads the rules.
func (s *ruleSet[K, R]) current(ctx context.Context, company CompanyID) ([]R, error) {
	policy, err := s.read(ctx, company)
	if err != nil {
		return nil, err
	}
	if policy.DefaultAction != s.params.DefaultAction {
		rule := "must be the policy's, or the rules would do the opposite"
		if Known(policy.DefaultAction) {
			rule += ": " + string(policy.DefaultAction)
		}
		return nil, s.failed(OutcomeRejected, &ValidationError{Faults: []FieldError{{"default_action", rule}}})
	}
	rules := s.withoutIDs(s.rules(policy))
	if len(s.byKey(rules)) < len(rules) {
		return nil, s.failed(OutcomeRejected, ErrAmbiguous)
	}
	return rules, nil
}

func (s *ruleSet[K, R]) withoutIDs(rules []R) []R {
	rules = slices.Clone(rules)
	if s.plain != nil {
		for i := range rules {
			rules[i] = s.plain(rules[i])
		}
	}
	return rules
}

func (s *ruleSet[K, R]) byKey(rules []R) map[K]R {
	found := make(map[K]R, len(rules))
	for _, rule := range rules {
		found[s.key(rule)] = rule
	}
	return found
}

// changes returns the calls that lead from before to wanted: the restricting ones first, the permitting ones last.
func (s *ruleSet[K, R]) changes(before, wanted []R) []ruleChange[R] {
	var add, again, other []R
	there, stays := s.byKey(before), s.byKey(wanted)
	for _, rule := range wanted {
		switch old, listed := there[s.key(rule)]; {
		case !listed:
			add = append(add, rule)
		case old != rule && s.params.ReplaceTexts:
			again = append(again, rule)
		}
	}
	for _, rule := range before {
		if _, listed := stays[s.key(rule)]; !listed && s.params.RemoveOthers {
			other = append(other, rule)
		}
	}
	adds, removes := ruleChange[R]{add: add}, ruleChange[R]{remove: other}
	changes := []ruleChange[R]{adds, {remove: again}, {add: again}, removes}
	if s.params.DefaultAction == PolicyActionDeny {
		changes[0], changes[3] = removes, adds
	}
	return slices.DeleteFunc(changes, func(c ruleChange[R]) bool { return len(c.add)+len(c.remove) == 0 })
}

// after returns the rules after a change.
func (s *ruleSet[K, R]) after(rules []R, change ruleChange[R]) []R {
	removed := s.byKey(change.remove)
	stays := slices.DeleteFunc(slices.Clone(rules), func(rule R) bool {
		_, gone := removed[s.key(rule)]
		return gone
	})
	return append(stays, change.add...)
}

// shows reports whether the rules in now show the change.
func (s *ruleSet[K, R]) shows(now []R, change ruleChange[R]) bool {
	there := s.byKey(now)
	listed := func(rule R) bool {
		_, listed := there[s.key(rule)]
		return listed
	}
	return !slices.ContainsFunc(change.remove, listed) && !slices.ContainsFunc(change.add, func(rule R) bool { return !listed(rule) })
}

// same reports whether no other program has changed anything. The service may write the text of an added rule differently.
func (s *ruleSet[K, R]) same(expected, now, wanted []R) bool {
	there, ours := s.byKey(now), s.byKey(wanted)
	return len(expected) == len(now) && !slices.ContainsFunc(expected, func(rule R) bool {
		found, listed := there[s.key(rule)]
		_, our := ours[s.key(rule)]
		return !listed || found != rule && (!our || s.params.ReplaceTexts)
	})
}

// compare returns the result for the rules before and after the changes.
func (s *ruleSet[K, R]) compare(before, after, wanted []R) *EnsureRulesResult[R] {
	var result EnsureRulesResult[R]
	old, now, ours := s.byKey(before), s.byKey(after), s.byKey(wanted)
	for _, rule := range wanted {
		was, existed := old[s.key(rule)]
		switch is, listed := now[s.key(rule)]; {
		case !listed:
			result.Missing = append(result.Missing, rule)
			if existed { // it was removed to replace its text
				result.Removed = append(result.Removed, was)
			}
		case !existed:
			result.Added = append(result.Added, is)
		case is != rule:
			result.Left = append(result.Left, is)
		case was != rule:
			result.Replaced = append(result.Replaced, was)
		default:
			result.Unchanged = append(result.Unchanged, rule)
		}
	}
	for _, rule := range after {
		if _, our := ours[s.key(rule)]; !our {
			result.Left = append(result.Left, rule)
		}
	}
	for _, rule := range before {
		_, our := ours[s.key(rule)]
		if _, listed := now[s.key(rule)]; !our && !listed {
			result.Removed = append(result.Removed, rule)
		}
	}
	return &result
}

// look reads at once and after 1 s and 3 s, until done returns true. It returns the last result or, without one, expected.
func look[T any](ctx context.Context, expected T, read func() (T, error), done func(T) bool) (now T, seen bool, err error) {
	now = expected
	for _, wait := range [...]time.Duration{0, time.Second, 2 * time.Second} {
		if err := pause.For(ctx, wait); err != nil {
			return now, false, err
		}
		found, err := read()
		if err != nil {
			return now, false, err
		}
		if now = found; done(now) {
			return now, true, nil
		}
	}
	return now, false, nil
}
