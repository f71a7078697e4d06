package prepaid

import (
	"context"
	"errors"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/wire"
)

// PolicyService manages a program's restriction policy. Use [Client].Policy.
type PolicyService struct{ client *Client }

// MerchantCategory is a merchant category code with its description.
type MerchantCategory struct {
	Code        MCC    `json:"code" required:""` // the four-digit ISO 18245 code
	Description string `json:"description"`      // the service's text
}

func listMerchantCategoryCodes(paging Paging) pageList[MerchantCategory] {
	var v validator
	v.paging(paging)
	return pageList[MerchantCategory]{
		request: request{op: opPolicyMerchantCategoryCodes, faults: v.faults}, paging: paging,
		identity: func(m *MerchantCategory) string { return string(m.Code) },
	}
}

// MerchantCategoryCodes iterates over all codes that the service knows. Safety: read. API: GET /policy/mccodes.
func (s *PolicyService) MerchantCategoryCodes(ctx context.Context, paging Paging) iter.Seq2[*MerchantCategory, error] {
	return listMerchantCategoryCodes(paging).all(ctx, &s.client.core)
}

// MerchantCategoryCodesPage returns one page of [PolicyService.MerchantCategoryCodes]. Safety: read. API: GET /policy/mccodes.
func (s *PolicyService) MerchantCategoryCodesPage(ctx context.Context, paging Paging) (*Page[MerchantCategory], error) {
	return listMerchantCategoryCodes(paging).page(ctx, &s.client.core)
}

// PolicyAction is the action for transactions that no rule matches.
type PolicyAction string

const (
	PolicyActionAllow PolicyAction = "allow" // for an open loop, in which rules block
	PolicyActionDeny  PolicyAction = "deny"  // for a closed loop, in which rules allow
)

// Policy is a program's policy. A list that was not requested is nil.
type Policy struct {
	DefaultAction PolicyAction   `json:"default_action" required:""` // allow for an open loop and deny for a closed one
	Description   string         `json:"description"`                // the service's text
	Categories    []CategoryRule `json:"categories,omitzero"`        // the category rules
	Merchants     []MerchantRule `json:"merchants,omitzero"`         // the merchant rules
	Terminals     []TerminalRule `json:"terminals,omitzero"`         // the terminal rules
}

// CategoryRule is a rule for a merchant category.
type CategoryRule struct {
	MerchantCategoryCode MCC `json:"merchant_category_code"` // the four-digit ISO 18245 code
}

// MerchantRule is a rule for a merchant (card acceptor).
type MerchantRule struct {
	ID             int64  `json:"id,omitzero" yaml:"id,omitempty"`          // the service's internal merchant identifier; never sent
	AcquirerID     int64  `json:"acquirer_id" yaml:"acquirer_id"`           // the merchant's acquirer; required to add a rule
	CardAcceptorID string `json:"card_acceptor_id" yaml:"card_acceptor_id"` // the merchant's identifier; required to add a rule
	Description    string `json:"description" yaml:"description"`           // required to add a rule
}

// TerminalRule is a rule for a terminal.
type TerminalRule struct {
	ID             int64  `json:"id,omitzero" yaml:"id,omitempty"`          // the service's internal terminal identifier; never sent
	AcquirerID     int64  `json:"acquirer_id" yaml:"acquirer_id"`           // the terminal's acquirer; required to add a rule
	CardAcceptorID string `json:"card_acceptor_id" yaml:"card_acceptor_id"` // the merchant's identifier; required to add a rule
	TerminalID     string `json:"terminal_id" yaml:"terminal_id"`           // the terminal's identifier; required to add a rule
	// CardAcceptorNameLocation is the merchant's name and place; optional.
	CardAcceptorNameLocation string `json:"card_acceptor_name_location,omitzero" yaml:"card_acceptor_name_location,omitempty"`
	Description              string `json:"description,omitzero" yaml:"description,omitempty"` // optional
}

// Operations that read a policy differ only in their last path segment.
func policyRequest(op operation, company CompanyID) request {
	var v validator
	v.companyID("company", company)
	return request{op: op, path: pathValues{company.String()}, faults: v.faults}
}

// Get returns the whole policy. Errors: [ErrNotFound], [ErrForbidden]; the reference does not say when. Safety: read. API: GET
// /policy/{id}/policy.
func (s *PolicyService) Get(ctx context.Context, company CompanyID) (*Policy, error) {
	return fetch[Policy](ctx, s.client, policyRequest(opPolicyGet, company))
}

// Categories returns the policy with its categories only. Errors: as [PolicyService.Get]. Safety: read.
// API: GET /policy/{id}/categories.
func (s *PolicyService) Categories(ctx context.Context, company CompanyID) (*Policy, error) {
	return fetch[Policy](ctx, s.client, policyRequest(opPolicyCategories, company))
}

// Merchants returns the policy with its merchants only. Errors: as [PolicyService.Get]. Safety: read.
// API: GET /policy/{id}/merchants.
func (s *PolicyService) Merchants(ctx context.Context, company CompanyID) (*Policy, error) {
	return fetch[Policy](ctx, s.client, policyRequest(opPolicyMerchants, company))
}

// Terminals returns the policy with its terminals only. Errors: as [PolicyService.Get]. Safety: read.
// API: GET /policy/{id}/terminals.
func (s *PolicyService) Terminals(ctx context.Context, company CompanyID) (*Policy, error) {
	return fetch[Policy](ctx, s.client, policyRequest(opPolicyTerminals, company))
}

// ChangeRulesParams adds and removes rules for categories ([MCC]), merchants or terminals. A rule blocks in an open loop and allows in a
// closed one. Rules from Get can be used as they are. The zero value changes nothing.
type ChangeRulesParams[Rule any] struct {
	Reason          string `json:"reason,omitzero"`           // stored with the change; optional
	RequireApproval bool   `json:"require_approval,omitzero"` // reserved by the service: keep it false
	Add             []Rule `json:"add,omitempty"`             // the rules to add; their ID is not sent
	// Remove are the rules to remove. Only the [MCC], the merchant (AcquirerID, CardAcceptorID) or the terminal (also TerminalID) is sent,
	// even if 0 or empty: use the service's values. The reference's text mentions a terminal's ID, but its request format has none.
	Remove []Rule `json:"remove,omitempty"`
}

// changeOptions returns encodeOptions with the wire form of lists of rules. Programs that change no policy do not link it.
func changeOptions() json.Options {
	code := func(code MCC) mccNumber { return mccNumber(code) }
	return json.WithMarshalers(json.JoinMarshalers(
		ruleLists(code, code), ruleLists(MerchantRule.withoutID, MerchantRule.key), ruleLists(TerminalRule.withoutID, TerminalRule.key), marshalers,
	))
}

// ruleLists writes lists of rules as the policy operations take them, in a member "add" and in a member "remove".
func ruleLists[Rule, Added, Removed any](added func(Rule) Added, removed func(Rule) Removed) *json.Marshalers {
	return json.MarshalToFunc(func(e *jsontext.Encoder, rules []Rule) error {
		member := e.StackPointer().LastToken()
		if member != "add" && member != "remove" {
			return wire.ErrSkip
		}
		err := e.WriteToken(jsontext.BeginArray)
		for _, rule := range rules {
			form := any(removed(rule))
			if member == "add" {
				form = added(rule)
			}
			err = errors.Join(err, json.MarshalEncode(e, form))
		}
		return errors.Join(err, e.WriteToken(jsontext.EndArray))
	})
}

// Validate returns the faults of p, or nil: see [TransferParams.Validate].
func (p ChangeRulesParams[Rule]) Validate() error { return validated(p.check) }

func (p ChangeRulesParams[Rule]) check(v *validator) {
	v.text("reason", p.Reason, 0)
	for i, rule := range p.Add {
		v.rule("add", i, rule)
	}
	for i, rule := range p.Remove {
		v.rule("remove", i, rule)
	}
}

func changeRules[Rule any](ctx context.Context, s *PolicyService, op operation, company CompanyID, params ChangeRulesParams[Rule]) error {
	r := policyRequest(op, company)
	v := s.client.validator()
	v.faults = r.faults
	params.check(&v)
	r.faults = v.faults
	r.encoded, r.unencodable = json.Marshal(params, changeOptions())
	return send(ctx, s.client, r)
}

// rule checks an element of a list.
func (v *validator) rule(list string, i int, rule any) {
	switch rule := rule.(type) {
	case MCC:
		v.mcc(index(list, i, ""), rule)
	case MerchantRule:
		v.ruleOf(list, i, rule.AcquirerID, rule.CardAcceptorID)
		v.ruleText(list, i, "description", rule.Description)
	case TerminalRule:
		v.ruleOf(list, i, rule.AcquirerID, rule.CardAcceptorID)
		v.ruleText(list, i, "terminal_id", rule.TerminalID)
		v.text(index(list, i, "card_acceptor_name_location"), rule.CardAcceptorNameLocation, 0)
		v.text(index(list, i, "description"), rule.Description, 0)
	}
}

// ChangeCategories changes category rules; after [OutcomeUnknown] use Categories. Errors: [ErrBadRequest], [ErrForbidden], [ErrNotFound]
// without a policy. Safety: never repeated. API: POST /policy/{id}/categories.
func (s *PolicyService) ChangeCategories(ctx context.Context, company CompanyID, params ChangeRulesParams[MCC]) error {
	return changeRules(ctx, s, opPolicyChangeCategories, company, params)
}

// merchantKey identifies a merchant.
type merchantKey struct {
	AcquirerID     int64  `json:"acquirer_id"`
	CardAcceptorID string `json:"card_acceptor_id"`
}

func (r MerchantRule) key() merchantKey { return merchantKey{r.AcquirerID, r.CardAcceptorID} }

// withoutID returns the rule without the service's ID.
func (r MerchantRule) withoutID() MerchantRule {
	r.ID = 0
	return r
}

// ChangeMerchants changes merchant rules; after [OutcomeUnknown] use Merchants. Errors and safety: as ChangeCategories. API: POST
// /policy/{id}/merchants.
func (s *PolicyService) ChangeMerchants(ctx context.Context, company CompanyID, params ChangeRulesParams[MerchantRule]) error {
	return changeRules(ctx, s, opPolicyChangeMerchants, company, params)
}

// ruleOf checks the members that identify a merchant.
func (v *validator) ruleOf(list string, i int, acquirer int64, acceptor string) {
	if list != "remove" {
		v.acquirer(index(list, i, "acquirer_id"), acquirer)
	}
	v.ruleText(list, i, "card_acceptor_id", acceptor)
}

// ruleText checks a member that a rule needs. To remove a rule, it may be empty.
func (v *validator) ruleText(list string, i int, member, value string) {
	if field := index(list, i, member); list == "remove" {
		v.text(field, value, 0)
	} else {
		v.required(field, value)
	}
}

// terminalKey identifies a terminal.
type terminalKey struct {
	AcquirerID     int64  `json:"acquirer_id"`
	CardAcceptorID string `json:"card_acceptor_id"`
	TerminalID     string `json:"terminal_id"`
}

func (r TerminalRule) key() terminalKey {
	return terminalKey{r.AcquirerID, r.CardAcceptorID, r.TerminalID}
}

// withoutID returns the rule without the service's ID.
func (r TerminalRule) withoutID() TerminalRule {
	r.ID = 0
	return r
}

// ChangeTerminals changes terminal rules; after [OutcomeUnknown] use Terminals. Errors and safety: as ChangeCategories. API: POST
// /policy/{id}/terminals.
func (s *PolicyService) ChangeTerminals(ctx context.Context, company CompanyID, params ChangeRulesParams[TerminalRule]) error {
	return changeRules(ctx, s, opPolicyChangeTerminals, company, params)
}

// RestrictionType is the kind of an old ruleset.
//
// Deprecated: use PolicyAction.
type RestrictionType string

const (
	RestrictionTypeOpen  RestrictionType = "open"  // allows by default
	RestrictionTypeClose RestrictionType = "close" // denies by default
)

// RestrictionRuleType is the effect of an old rule.
//
// Deprecated: use Policy.
type RestrictionRuleType string

const (
	RestrictionRuleTypeMustAllow RestrictionRuleType = "must_allow"
	RestrictionRuleTypeMustBlock RestrictionRuleType = "must_block"
)

// Restrictions is the old ruleset of a program. A response has at least one of the members.
//
// Deprecated: use Policy.
type Restrictions struct {
	Type          RestrictionType           `json:"type" required:"type"`                 // open or close
	TerminalRules []RestrictionTerminalRule `json:"terminal_rules" required:"terminals"`  // the rules for terminals
	CategoryRules []RestrictionCategoryRule `json:"category_rules" required:"categories"` // the rules for categories
}

// RestrictionTerminalRule is an old terminal rule.
//
// Deprecated: use TerminalRule.
type RestrictionTerminalRule struct {
	RuleType RestrictionRuleType `json:"rule_type"` // must_allow or must_block
	Acquirer string              `json:"acquirer"`  // the acquirer
	Acceptor string              `json:"acceptor"`  // the merchant
	Terminal string              `json:"terminal"`  // the terminal
}

// RestrictionCategoryRule is an old category rule.
//
// Deprecated: use CategoryRule.
type RestrictionCategoryRule struct {
	RuleType     RestrictionRuleType `json:"rule_type"`     // must_allow or must_block
	CategoryCode MCC                 `json:"category_code"` // the four-digit ISO 18245 code
}

// Restrictions returns the old ruleset.
// Errors: as [PolicyService.Get]. Safety: read. API: GET /policy/{id}/restrictions.
//
// Deprecated: use Get.
func (s *PolicyService) Restrictions(ctx context.Context, company CompanyID) (*Restrictions, error) {
	return fetch[Restrictions](ctx, s.client, policyRequest(opPolicyRestrictions, company))
}
