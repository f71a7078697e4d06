package prepaid

import (
	"context"
	"reflect"
)

// SimulationService simulates card activity. Each call requires [Config].TestEnvironment. The account must be active and plastic-enabled.
// Wait 30 to 90 seconds between related calls.
type SimulationService struct{ client *Client }

// SimulatedType is the kind of transaction to simulate; case-sensitive.
type SimulatedType string

const (
	SimulatedTypePurchase   SimulatedType = "Purchase"   // a purchase authorisation (1118)
	SimulatedTypeWithdrawal SimulatedType = "Withdrawal" // an ATM cash authorisation (1141); it needs an ATM category such as 6011
	SimulatedTypePOSCredit  SimulatedType = "PosCredit"  // a point-of-sale credit (1116)
)

// SimulateParams is for all calls; fields unused by a call must be empty. Validate does not know the call: it accepts all fields.
type SimulateParams struct {
	Type      SimulatedType `json:"transaction_type"` // required; the same in every call about one transaction
	AccountID AccountID     `json:"account_id"`       // the EAID; required
	// Amount is in currency units. Required. It may be negative and, with AllowUnusual, zero: the reference sets no limit.
	Amount       Amount `json:"amount"`
	AllowUnusual bool   `json:"-"`                    // sends an Amount of zero, otherwise refused as possibly forgotten; not part of the JSON
	AcquirerID   string `json:"acquirer_id,omitzero"` // the acquirer
	MerchantID   string `json:"merchant_id,omitzero"` // the merchant (card acceptor)
	TerminalID   string `json:"terminal_id,omitzero"` // the terminal
	// MerchantCategoryCode is four digits. Transact requires it for a withdrawal: an ATM category such as 6011.
	MerchantCategoryCode MCC    `json:"mcc,omitzero"`
	BankName             string `json:"bank_name,omitzero"`     // for Transact, Advise and Reverse
	Location             string `json:"location,omitzero"`      // for Transact, Advise and Reverse
	LocationCode         string `json:"location_code,omitzero"` // for Transact, Advise and Reverse
	CurrencyCode         string `json:"currency_code,omitzero"` // for Transact, Advise and Reverse
	// AuthorizationID is the one that Transact returned; for all calls except Transact.
	AuthorizationID string       `json:"authorization_id,omitzero"`
	Extra           ExtraMembers `json:"extra,omitempty" wire:"members" redact:"content"` // further members of the request; optional
}

// SimulationResult is the result of each call. A false Success is no error.
type SimulationResult struct {
	Success              bool   `json:"success" required:""`            // whether the simulated network approved
	Message              string `json:"message"`                        // the service's text
	AuthorizationID      string `json:"authorization_id,omitzero"`      // set by Transact, Advise and Reverse
	TransactionReference string `json:"transaction_reference,omitzero"` // set by Transact
}

// Transact simulates a purchase, withdrawal or credit. Safety: never repeated; after [OutcomeUnknown] use FindMovement. API: POST
// /simulation/transact.
func (s *SimulationService) Transact(ctx context.Context, params SimulateParams) (*SimulationResult, error) {
	return s.simulate(ctx, opSimulationTransact, params, true, false)
}

// Advise adjusts a purchase by a reversal (1120), if an authorisation matches, and an advice (1118). Safety: as Transact. API: POST
// /simulation/advice.
func (s *SimulationService) Advise(ctx context.Context, params SimulateParams) (*SimulationResult, error) {
	return s.simulate(ctx, opSimulationAdvise, params, true, true)
}

// Reverse makes a reversal (1120) of a purchase authorisation, if one matches. Safety: as Transact. API: POST /simulation/reverse.
func (s *SimulationService) Reverse(ctx context.Context, params SimulateParams) (*SimulationResult, error) {
	return s.simulate(ctx, opSimulationReverse, params, true, true)
}

// Clear makes a credit back (1117) and a clearing (1115) or, if no authorisation matches, a forced-post clearing (1115), some time after
// the response. Safety: as Transact. API: POST /simulation/clear.
func (s *SimulationService) Clear(ctx context.Context, params SimulateParams) (*SimulationResult, error) {
	return s.simulate(ctx, opSimulationClear, params, false, true)
}

// ReverseClear makes a clearing reversal (1125) some time after the response. Safety: as Transact.
// API: POST /simulation/reverse_clear.
func (s *SimulationService) ReverseClear(ctx context.Context, params SimulateParams) (*SimulationResult, error) {
	return s.simulate(ctx, opSimulationReverseClear, params, false, true)
}

// check accepts the fields of all calls, and requires what each of them requires.
func (p SimulateParams) check(v *validator) { p.checkFor(v, true, true) }

// checkFor checks the fields of a call that takes a location, and those of a call about an authorisation.
func (p SimulateParams) checkFor(v *validator, located, authorized bool) {
	v.requiredOneOf("transaction_type", string(p.Type), p.Type.values())
	v.required("account_id", string(p.AccountID))
	v.amount("amount", p.Amount, p.AllowUnusual || !p.Amount.IsZero(), "is required; for zero, set AllowUnusual")
	v.text("acquirer_id", p.AcquirerID, 0)
	v.text("merchant_id", p.MerchantID, 0)
	v.text("terminal_id", p.TerminalID, 0)
	if !authorized && p.Type == SimulatedTypeWithdrawal || p.MerchantCategoryCode != "" {
		v.mcc("mcc", p.MerchantCategoryCode)
	}
	for _, field := range []struct {
		name, value string
		taken       bool
	}{
		{"bank_name", p.BankName, located}, {"location", p.Location, located},
		{"location_code", p.LocationCode, located}, {"currency_code", p.CurrencyCode, located},
		{"authorization_id", p.AuthorizationID, authorized},
	} {
		v.text(field.name, field.value, 0)
		if field.value != "" && !field.taken {
			v.value(field.name, "is not accepted by this operation")
		}
	}
	v.extra(p.Extra, reflect.TypeFor[SimulateParams]())
}

func (s *SimulationService) simulate(ctx context.Context, op operation, p SimulateParams, located, authorized bool) (*SimulationResult, error) {
	v := s.client.validator()
	v.simulator(s.client.config)
	p.checkFor(&v, located, authorized)
	return fetch[SimulationResult](ctx, s.client, request{op: op, account: p.AccountID, faults: v.faults}.with(p))
}
