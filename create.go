package prepaid

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid/internal/redact"
)

// RequestType says whether a creation is a new card or a replacement. The zero value is the service's default, new.
type RequestType string

const (
	// RequestTypeNew makes a new account.
	RequestTypeNew RequestType = "new"
	// RequestTypeReplace makes a replacement for an account in AccountStatusLostOrStolen.
	RequestTypeReplace RequestType = "replace"
)

// Known reports whether the reference lists the type.
func (t RequestType) Known() bool { return t == RequestTypeNew || t == RequestTypeReplace }

// CreateAccountParams describes a new account (reference section 4.4). The zero value lacks CompanyID and
// Registration.
type CreateAccountParams struct {
	// CompanyID is the program in which the account is created. Required.
	CompanyID CompanyID `json:"company_id"`
	// InitialLoadAmount is zero or more currency units; always sent.
	InitialLoadAmount Amount `json:"initial_load_amount"`
	// Registration is the cardholder. Required.
	Registration *Cardholder `json:"registration"`
	// NameOnCard is engraved: 2 to 19 characters of 0-9, A-Z, hyphen, slash and full stop. No space, no small letter.
	NameOnCard string `json:"name_on_card,omitzero" redact:"personal"`
	// ClientAccountKey is the caller's own key, at most 255 printable ASCII characters. Search and Issue find by it:
	// without it an account whose creation's answer was lost cannot be found.
	ClientAccountKey string `json:"client_account_key,omitzero"`
	// DisplayName is at most 100 characters, for a fringe-benefit card program.
	DisplayName string `json:"display_name,omitzero" redact:"personal"`
	// InitiatingUserID says who asked.
	InitiatingUserID string `json:"initiating_user_id,omitzero"`
	// PlasticEnabled allows physical-card and online card-detail transactions; nil means true.
	PlasticEnabled *bool `json:"is_plastic_enabled,omitzero"`
	// PlasticExpiry works only for a card batch that allows custom plastic expiry.
	PlasticExpiry time.Time `json:"plastic_expiry,omitzero"`
	// PortalIdentifier links the account to the portal.
	PortalIdentifier *PortalIdentifier `json:"portal_identifier,omitzero"`
	// MDESConfigID is the wallet token-service product configuration, at most 10 characters.
	MDESConfigID string `json:"mdes_config_id,omitzero"`
	// GiftCardExpiry is set for gift cards. A digital gift card that is active at once must set it here: the operation
	// that sets it later is not described by the reference and not offered.
	GiftCardExpiry time.Time `json:"gift_card_expiry,omitzero"`
	// CorrespondingAccountID is the EAID of the card being replaced, needed when the activation portal activates the
	// new card; the old one is then closed if its balance is zero.
	CorrespondingAccountID AccountID `json:"corresponding_account_id,omitzero"`
	// CardholderType is primary or secondary; not sent when zero.
	CardholderType CardholderType `json:"card_holder_type,omitzero"`
	// RequestType is new when empty.
	RequestType RequestType `json:"request_type,omitzero"`
	// AccountIDToReplace is the lost or stolen account. Required with RequestTypeReplace; sent whenever it is set.
	AccountIDToReplace AccountID `json:"account_id_to_replace,omitzero"`

	// AccountExpiry is when the account expires.
	//
	// Deprecated: use GiftCardExpiry.
	AccountExpiry time.Time `json:"account_expiry,omitzero"`
}

// Format prints p without personal data.
func (p CreateAccountParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without personal data.
func (p CreateAccountParams) LogValue() slog.Value { return redact.LogValue(p) }

func (p CreateAccountParams) check(v *validator) {
	v.companyID("company_id", p.CompanyID)
	v.notNegative("initial_load_amount", p.InitialLoadAmount)
	p.Registration.check(v, "registration")
	v.nameOnCard("name_on_card", p.NameOnCard)
	v.accountKey("client_account_key", p.ClientAccountKey)
	v.text("display_name", p.DisplayName, 100)
	v.text("initiating_user_id", p.InitiatingUserID, 0)
	p.PortalIdentifier.check(v, "portal_identifier")
	v.text("mdes_config_id", p.MDESConfigID, 10)
	v.text("corresponding_account_id", string(p.CorrespondingAccountID), 0)
	if p.CardholderType != 0 && !p.CardholderType.Known() {
		v.value("card_holder_type", "must be 1 (primary) or 2 (secondary)")
	}
	oneOf(v, "request_type", p.RequestType, RequestTypeNew, RequestTypeReplace)
	if p.RequestType == RequestTypeReplace {
		v.accountID("account_id_to_replace", p.AccountIDToReplace)
	} else {
		v.text("account_id_to_replace", string(p.AccountIDToReplace), 0)
	}
}

var opCreateAccount = operation{
	Operation: Operation{"Accounts.Create", "POST", "/accounts"},
	class:     classNever, kind: responseJSON, success: []int{201}, lane: LaneCall, inputStatus: true,
}

// Create makes an account. The answer has no account id; [AccountsService.Issue] creates and finds it.
//
// Errors: a 404 may mean bad input or an unknown account to replace, so it is not [ErrNotFound]. After
// [OutcomeUnknown] look with [AccountsService.FindCreated]. Safety: never repeated once it may have arrived.
//
// API: POST /accounts.
func (s *AccountsService) Create(ctx context.Context, params CreateAccountParams) (*AccountSummary, error) {
	v := s.client.validator()
	params.check(&v)
	return fetch[AccountSummary](ctx, s.client, request{
		op: opCreateAccount, account: params.AccountIDToReplace, body: params, faults: v.faults,
	})
}

// UpdateAccountParams replaces registration data. Whether the service keeps or clears what is left out is not in
// the reference: read with IncludePersonal, change, and put the whole back, which is possible whatever the service
// holds (see [Cardholder]). The zero value lacks Registration.
type UpdateAccountParams struct {
	// Registration is the whole cardholder. Required.
	Registration *Cardholder `json:"registration"`
	// ClientAccountKey is at most 255 printable ASCII characters; nil leaves it out, a pointer to "" sends an empty one.
	ClientAccountKey *string `json:"client_account_key,omitzero"`
	// DisplayName is at most 100 characters; nil leaves it out.
	DisplayName *string `json:"display_name,omitzero" redact:"personal"`
	// InitiatingUserID says who asked; optional.
	InitiatingUserID string `json:"initiating_user_id,omitzero"`
	// PortalIdentifier links the account to the portal; nil leaves it out.
	PortalIdentifier *PortalIdentifier `json:"portal_identifier,omitzero"`
}

// Format prints p without personal data.
func (p UpdateAccountParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without personal data.
func (p UpdateAccountParams) LogValue() slog.Value { return redact.LogValue(p) }

var opUpdateAccount = operation{
	Operation: Operation{"Accounts.Update", "PUT", "/accounts/{id}"},
	class:     classNever, kind: responseNone, success: []int{200, 204}, lane: LaneCall,
}

// Update replaces the registration of an account. After [OutcomeUnknown] read it back with Get and [IncludePersonal], and
// put it again only if it is still what the account should have.
//
// Errors: [ErrNotFound]. Safety: never repeated once it may have arrived: a late repeat would overwrite a newer change.
//
// API: PUT /accounts/{id}.
func (s *AccountsService) Update(ctx context.Context, id AccountID, params UpdateAccountParams) error {
	v := s.client.validator()
	v.pathID("id", string(id))
	params.Registration.check(&v, "registration")
	if params.ClientAccountKey != nil {
		v.accountKey("client_account_key", *params.ClientAccountKey)
	}
	if params.DisplayName != nil {
		v.text("display_name", *params.DisplayName, 100)
	}
	v.text("initiating_user_id", params.InitiatingUserID, 0)
	params.PortalIdentifier.check(&v, "portal_identifier")
	return send(ctx, s.client, request{
		op: opUpdateAccount, account: id, path: pathValues{string(id)}, body: params, faults: v.faults,
	})
}
