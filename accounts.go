package prepaid

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/internal/address"
)

// AccountsService manages card accounts. Use [Client].Accounts.
type AccountsService struct{ client *Client }

// AccountStatus is the state of an account (reference section 3.1).
type AccountStatus string

const (
	AccountStatusActive      AccountStatus = "active"
	AccountStatusPreActive   AccountStatus = "pre_active" // issued, not yet activated
	AccountStatusInactive    AccountStatus = "inactive"
	AccountStatusDeactivated AccountStatus = "deactivated"
	// AccountStatusLostOrStolen: reported lost or stolen; only such a card can be replaced.
	AccountStatusLostOrStolen             AccountStatus = "lost_or_stolen"
	AccountStatusExpired                  AccountStatus = "expired"
	AccountStatusSuspectedFraud           AccountStatus = "suspected_fraud" // blocked for suspected fraud
	AccountStatusClosed                   AccountStatus = "closed"
	AccountStatusInactivePINTriesExceeded AccountStatus = "inactive_pin_tries_exceeded" // blocked after too many wrong PINs
	AccountStatusVendorInactive           AccountStatus = "vendor_inactive"             // blocked by the operator
	AccountStatusReplaced                 AccountStatus = "replaced"                    // a replacement was issued
)

// ProductType is the kind of product.
type ProductType string

const (
	ProductTypeReloadable ProductType = "reloadable"
	ProductTypeGift       ProductType = "gift"
	ProductTypeLoyalty    ProductType = "loyalty"
)

// AccountType distinguishes a proxy card from a salary-packaging ledger.
type AccountType string

const (
	AccountTypeProxy  AccountType = "proxy"
	AccountTypeLedger AccountType = "ledger" // a salary-packaging ledger (benefit)
)

// CardholderType distinguishes primary from secondary cards.
type CardholderType int

const (
	CardholderTypePrimary   CardholderType = 1 // the first card of an account
	CardholderTypeSecondary CardholderType = 2 // an additional card
)

func (t CardholderType) known() bool {
	return t == CardholderTypePrimary || t == CardholderTypeSecondary
}

// Include requests a group of account fields that are otherwise absent.
type Include string

const (
	IncludeCardholder             Include = "with_personal"               // requests Account.Cardholder
	IncludeDirectEntry            Include = "with_directentry"            // requests Account.DirectEntryBSB and DirectEntryAccountNumber
	IncludeFreeText               Include = "with_freetext"               // requests Account.FreeText
	IncludeBPay                   Include = "with_bpay"                   // requests Account.BPayBillerCode and BPayReferenceNumber
	IncludeTokenInfo              Include = "with_tokeninfo"              // requests Account.MDESConfigID; Get only
	IncludeCorrespondingAccountID Include = "with_correspondingaccountid" // requests Account.CorrespondingAccountID; Get only
	IncludeCardholderType         Include = "with_cardholdertype"         // requests Account.CardholderType; Get only
)

// Account is a card account (section 2.2). It round-trips through JSON.
type Account struct {
	// ID is the EAID (External Account ID), which identifies the account in every operation. A response without it is an error.
	ID                AccountID     `json:"account_id" required:""`
	ExternalAccountID string        `json:"external_account_id"`           // an external reference, not the EAID
	CompanyID         CompanyID     `json:"company_id" required:""`        // the owning program; a response without it is an error
	Balance           Amount        `json:"balance" required:""`           // in currency units; a missing balance is an error, never zero
	CardNumber        string        `json:"card_number" redact:"personal"` // masked by the service
	PlasticExpiry     time.Time     `json:"plastic_expiry"`                // when the plastic expires
	AccountExpiry     time.Time     `json:"account_expiry"`                // when the account expires
	ProductType       ProductType   `json:"product_type"`
	Status            AccountStatus `json:"status" required:""`
	// PlasticEnabled allows physical-card and online card-detail transactions.
	PlasticEnabled             bool        `json:"is_plastic_enabled"`
	AccountType                AccountType `json:"account_type"`
	FirstTransactionOccurredAt time.Time   `json:"first_transaction_occurred_at,omitzero"` // the first balance-affecting event; zero if none
	LastTransactionOccurredAt  time.Time   `json:"last_transaction_occurred_at,omitzero"`  // the last balance-affecting event; zero if none
	// DisplayName was supplied by the client. For salary packaging it holds the employer and benefit type.
	DisplayName     string `json:"display_name,omitzero" redact:"personal"`
	NameOnCard      string `json:"name_on_card,omitzero" redact:"personal"` // engraved on the physical card
	Compliant       *bool  `json:"is_compliant,omitzero"`                   // nil when the service does not report it
	ProgramClientID string `json:"client_id,omitzero"`                      // the client_id to search by, not an OAuth client ID
	// ClientAccountKey is your own key (salary packaging): at most 255 characters, ASCII 0x20 to 0x7E.
	ClientAccountKey         string            `json:"client_account_key,omitzero"`
	BPayBillerCode           string            `json:"bpay_biller_code,omitzero"`                              // needs IncludeBPay
	BPayReferenceNumber      string            `json:"bpay_reference_number,omitzero" redact:"personal"`       // needs IncludeBPay
	DirectEntryBSB           string            `json:"direct_entry_bsb,omitzero"`                              // needs IncludeDirectEntry
	DirectEntryAccountNumber string            `json:"direct_entry_account_number,omitzero" redact:"personal"` // needs IncludeDirectEntry
	Cardholder               *Cardholder       `json:"personal,omitzero"`                                      // needs IncludeCardholder
	FreeText                 *FreeText         `json:"free_text,omitzero"`                                     // needs IncludeFreeText
	PortalIdentifier         *PortalIdentifier `json:"portal_identifier,omitzero"`                             // nil when the account has none
	// MDESConfigID is the product configuration of the wallet token service. Needs IncludeTokenInfo.
	MDESConfigID string `json:"mdes_config_id,omitzero"`
	// CorrespondingAccountID is the card this one replaces. Needs IncludeCorrespondingAccountID.
	CorrespondingAccountID AccountID      `json:"corresponding_account_id,omitzero"`
	CardholderType         CardholderType `json:"card_holder_type,omitzero"` // needs IncludeCardholderType
}

// FreeText is the program's own data; the service sends all fields together.
type FreeText struct {
	Text1 string `json:"free_text1" redact:"content"` // the program's own text
	Text2 string `json:"free_text2" redact:"content"` // the program's own text
	Text3 string `json:"free_text3" redact:"content"` // the program's own text
	Text4 string `json:"free_text4" redact:"content"` // the program's own text
	Text5 string `json:"free_text5" redact:"content"` // the program's own text
	Text6 string `json:"free_text6" redact:"content"` // the program's own text
	Text7 string `json:"free_text7" redact:"content"` // the program's own text
	Text8 string `json:"free_text8" redact:"content"` // the program's own text
	Int1  string `json:"free_int1" redact:"content"`  // a whole number, as text
	Int2  string `json:"free_int2" redact:"content"`  // a whole number, as text
	Dec1  string `json:"free_dec1" redact:"content"`  // a decimal number, as text
	Dec2  string `json:"free_dec2" redact:"content"`  // a decimal number, as text
}

// PortalIdentifier names a cardholder in the portal. All fields but UnlistedMembers are required. Like a [Cardholder], it keeps what it was
// read from.
type PortalIdentifier struct {
	ClientID     string `json:"client_id"`     // the portal's client
	ProgramID    string `json:"program_id"`    // the portal's program
	CardholderID string `json:"cardholder_id"` // the portal's cardholder
	// UnlistedMembers is a JSON object of members that the reference does not list, as in a [Cardholder].
	UnlistedMembers string `json:"unlisted_members,omitzero" wire:"-" redact:"personal"`

	received string // as in a Cardholder
}

// Equal reports whether the fields are equal, as for a [Cardholder].
func (p PortalIdentifier) Equal(other PortalIdentifier) bool {
	other.received = p.received
	return p == other
}

func (p *PortalIdentifier) kept() (received, unlisted *string) {
	return &p.received, &p.UnlistedMembers
}

func (p *PortalIdentifier) check(v *validator, path string) {
	if p != nil {
		checkKept(v, path, p)
	}
}

func (p *PortalIdentifier) checkMembers(v *validator) {
	v.requiredText("client_id", p.ClientID, 0)
	v.requiredText("program_id", p.ProgramID, 0)
	v.requiredText("cardholder_id", p.CardholderID, 0)
}

func accountIdentity(a *Account) string { return string(a.ID) }

// AccountSummary is the reduced account of Create and Summary. It has no EAID.
type AccountSummary struct {
	ExternalAccountID string        `json:"external_account_id"`           // an external reference, not the EAID
	CompanyID         CompanyID     `json:"company_id"`                    // the owning program
	Balance           Amount        `json:"balance" required:""`           // in currency units
	CardNumber        string        `json:"card_number" redact:"personal"` // masked by the service
	PlasticExpiry     time.Time     `json:"plastic_expiry"`                // when the plastic expires
	ProductType       ProductType   `json:"product_type"`
	Status            AccountStatus `json:"status" required:""`
	// PlasticEnabled allows physical-card and online card-detail transactions.
	PlasticEnabled             bool      `json:"is_plastic_enabled"`
	FirstTransactionOccurredAt time.Time `json:"first_transaction_occurred_at,omitzero"` // set by Create only
	LastTransactionOccurredAt  time.Time `json:"last_transaction_occurred_at,omitzero"`  // set by Create only
}

// Get returns an account with the requested groups. All seven groups are permitted. Errors: [ErrNotFound]. Safety:
// read. API: GET /accounts/{id}.
func (s *AccountsService) Get(ctx context.Context, id AccountID, include ...Include) (*Account, error) {
	v := s.client.validator()
	v.readID("id", string(id))
	v.includes(include, IncludeCardholder, IncludeDirectEntry, IncludeFreeText, IncludeBPay,
		IncludeTokenInfo, IncludeCorrespondingAccountID, IncludeCardholderType)
	return fetch[Account](ctx, s.client, request{
		op: opAccountsGet, account: id, path: pathValues{string(id)}, query: includeQuery(include), faults: v.faults,
	})
}

// oneGroup has the parameter of each group, for calls with one group: these are the most, and allocate no query. Nothing changes it.
var oneGroup = query{
	{Name: string(IncludeCardholder), Value: "1"},
	{Name: string(IncludeDirectEntry), Value: "1"},
	{Name: string(IncludeFreeText), Value: "1"},
	{Name: string(IncludeBPay), Value: "1"},
	{Name: string(IncludeTokenInfo), Value: "1"},
	{Name: string(IncludeCorrespondingAccountID), Value: "1"},
	{Name: string(IncludeCardholderType), Value: "1"},
}

// includeQuery sets the parameter of each group. Any parameter value that is not blank selects the group.
func includeQuery(include []Include) query {
	if len(include) == 1 {
		if i := slices.Index(oneGroup, address.Parameter{Name: string(include[0]), Value: "1"}); i >= 0 {
			return oneGroup[i : i+1 : i+1] // a further parameter goes to a copy
		}
	}
	q := make(query, 0, len(include))
	for _, group := range include {
		q = q.With(string(group), "1")
	}
	return q
}

// Summary returns the reduced account, without the times of transactions. Errors: [ErrNotFound]. Safety: read. API: GET
// /accounts/{id}/status.
func (s *AccountsService) Summary(ctx context.Context, id AccountID) (*AccountSummary, error) {
	var v validator
	v.readID("id", string(id))
	return fetch[AccountSummary](ctx, s.client, request{
		op: opAccountsSummary, account: id, path: pathValues{string(id)}, faults: v.faults,
	})
}

// DiagnoseTransfer reads the accounts of a transfer that failed ([ErrTransferFailed]), because the service gives no reason. It returns
// payer and receiver as they are now. They prove nothing: they may have changed, and other reasons leave no trace. Errors: [ErrNotFound],
// for the account in [CallError].AccountID. Safety: read. API: GET /accounts/{id}/status, twice.
func (s *AccountsService) DiagnoseTransfer(ctx context.Context, source AccountID, params TransferParams) (payer, receiver *AccountSummary, err error) {
	if payer, err = s.Summary(ctx, source); err != nil {
		return nil, nil, err
	}
	if receiver, err = s.Summary(ctx, params.DestinationAccountID); err != nil {
		return nil, nil, err
	}
	return payer, receiver, nil
}

// SetStatusParams sets the state of an account.
type SetStatusParams struct {
	Status AccountStatus `json:"status"` // the new state; required
}

func (p SetStatusParams) check(v *validator) {
	v.requiredOneOf("status", string(p.Status), p.Status.values())
}

// SetStatus sets the state of an account, such as active for a new card, if the service permits it. Errors: [ErrNotFound]. After
// [OutcomeUnknown] read the state with Summary. Safety: repeated, except for [AccountStatusActive] and [AccountStatusPreActive]. API: PUT
// /accounts/{id}/status.
func (s *AccountsService) SetStatus(ctx context.Context, id AccountID, params SetStatusParams) error {
	v := s.client.validator()
	v.pathID("id", string(id))
	params.check(&v)
	op := opAccountsSetStatus.with(string(params.Status))
	return send(ctx, s.client, request{op: op, account: id, path: pathValues{string(id)}, faults: v.faults}.with(params))
}

// SetPlasticEnabledParams sets the plastic flag. The zero value clears it.
type SetPlasticEnabledParams struct {
	Enabled          bool   `json:"plastic_enabled"`             // allows physical-card and online card-detail transactions; always sent
	InitiatingUserID string `json:"initiating_user_id,omitzero"` // the user who initiated the request; optional
}

func (p SetPlasticEnabledParams) check(v *validator) {
	v.text("initiating_user_id", p.InitiatingUserID, 0)
}

// SetPlasticEnabled sets the plastic flag. Errors: [ErrNotFound]. Safety: repeated, except when enabling. API: PUT /accounts/{id}/plastic.
func (s *AccountsService) SetPlasticEnabled(ctx context.Context, id AccountID, params SetPlasticEnabledParams) error {
	var v validator
	v.pathID("id", string(id))
	params.check(&v)
	op := opAccountsSetPlasticEnabled.with(strconv.FormatBool(params.Enabled))
	return send(ctx, s.client, request{op: op, account: id, path: pathValues{string(id)}, faults: v.faults}.with(params))
}

func (v *validator) includes(include []Include, allowed ...Include) {
	for i, group := range include {
		if slices.Contains(allowed, group) {
			continue
		}
		if field := "include[" + strconv.Itoa(i) + "]"; v.required(field, string(group)) {
			v.value(field, "is not accepted by this operation")
		}
	}
}
