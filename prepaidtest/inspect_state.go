package prepaidtest

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

// AccountState is the state of an account, for a test or a page to inspect. If you print or log it, the text has
// only EAID, status and balance, so that a failure message has no personal data.
type AccountState struct {
	// ID is the EAID.
	ID prepaid.AccountID
	// ExternalID is external_account_id, which is not the EAID.
	ExternalID string
	// CardNumber is masked.
	CardNumber string
	// CompanyID is the owner.
	CompanyID prepaid.CompanyID
	// ClientID is the client_id of the company.
	ClientID string
	// Status is one of the eleven values of AccountStatuses.
	Status string
	// Activatable reports whether ActivateThroughPortal accepts the card.
	Activatable bool
	// Balance has at least two decimals, for example "74.50".
	Balance string
	// ProductType is reloadable, gift or loyalty.
	ProductType string
	// AccountType is proxy or ledger.
	AccountType string
	// PlasticEnabled is is_plastic_enabled.
	PlasticEnabled bool
	// PlasticExpiry is the expiry of the card, in UTC.
	PlasticExpiry time.Time
	// AccountExpiry is the expiry of the account, in UTC.
	AccountExpiry time.Time
	// FirstTransaction is the time of the first item of the history; zero without one.
	FirstTransaction time.Time
	// LastTransaction is the time of the last item; zero without one.
	LastTransaction time.Time
	// Transactions counts the items of the history.
	Transactions int
	// Key is client_account_key, or empty.
	Key string
	// DisplayName is empty when there is none.
	DisplayName string
	// NameOnCard is empty when there is none.
	NameOnCard string
	// Cardholder is the registration.
	Cardholder Cardholder
	// FreeText is the program's own data.
	FreeText FreeText
	// Portal is nil when there is none.
	Portal *PortalIdentifier
	// MDESConfigID is empty when there is none.
	MDESConfigID string
	// CorrespondingAccountID is the EAID of the card that this one replaces, or empty.
	CorrespondingAccountID prepaid.AccountID
	// CardholderType is 1 or 2.
	CardholderType int
	// WalletTokens are the tokens of GET /accounts/{id}/tokens.
	WalletTokens []WalletToken
	// PINSet reports whether a PIN change was executed; PINOf returns the PIN.
	PINSet bool
}

// Format prints EAID, status and balance with every verb.
func (a AccountState) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s %s", a.ID, a.Status, a.Balance)
}

// LogValue logs EAID, status and balance.
func (a AccountState) LogValue() slog.Value {
	return slog.GroupValue(slog.String("account_id", string(a.ID)), slog.String("status", a.Status), slog.String("balance", a.Balance))
}

// Account returns a copy of the state of an account. For an unknown EAID, the test fails and Account returns the zero
// AccountState; AccountIDs returns the known EAIDs.
func (s *Server) Account(id prepaid.AccountID) AccountState {
	s.service.Clock.Settle()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	if a := s.known(l, id); a != nil {
		return s.stateOf(a)
	}
	return AccountState{}
}

func (s *Server) stateOf(a *ledger.Account) AccountState {
	state := toAccountState(a)
	state.Cardholder = a.Cardholder.Clone()
	for i, token := range a.WalletTokens {
		state.WalletTokens[i] = token.Clone()
	}
	state.ClientID, state.Transactions, state.PINSet, state.Activatable = a.Company.ClientID, len(a.Items), a.PIN != "", s.activatable(a)
	if n := len(a.Items); n > 0 {
		state.FirstTransaction, state.LastTransaction = a.Items[0].OccurredAt, a.Items[n-1].OccurredAt
	}
	return state
}

// AccountStatuses lists the eleven account statuses (3.1).
func AccountStatuses() []string { return ledger.AccountStatuses() }

// Companies returns the companies, sorted by id.
func (s *Server) Companies() []Company {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	companies := []Company{}
	for _, c := range l.Companies() {
		companies = append(companies, toCompany(c.CompanyData))
	}
	return companies
}

// HookState is the state of a registered webhook, without its secret.
type HookState struct {
	// ID is the hook's UUID.
	ID prepaid.HookID
	// URI is the receiver's address, as registered.
	URI string
	// Scope lists the companies that the hook watches.
	Scope []prepaid.CompanyID
	// Filter is filter_spec.
	Filter string
	// Enabled reports whether the hook gets messages.
	Enabled bool
	// Reliability is none or store_undeliverable.
	Reliability string
	// KeyID is hmac_key_id.
	KeyID string
	// Queued counts messages that wait for their first attempt. Messages that wait for a retry do not count.
	Queued int
	// Undeliverable are the messages that failed and were not dismissed, oldest first.
	Undeliverable []MessageState
}

// Format prints h without the user information in its address, which may be secret.
func (h HookState) Format(f fmt.State, verb rune) {
	type plain HookState
	shown := plain(h)
	shown.URI = h.address()
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), shown)
}

// LogValue logs id, address without user information, and whether h is enabled.
func (h HookState) LogValue() slog.Value {
	return slog.GroupValue(slog.String("hook_id", string(h.ID)), slog.String("uri", h.address()), slog.Bool("enabled", h.Enabled))
}

func (h HookState) address() string { return string(requestlog.UserInfo([]byte(h.URI), "/?#")) }

// MessageState is an undeliverable message (2.14).
type MessageState struct {
	// ID is the message's UUID, the same in each attempt.
	ID prepaid.MessageID
	// Type is "transaction", or the type of a ping or an alert.
	Type string
	// Time is when the message was made, on the server's clock.
	Time time.Time
	// Attempts counts how often the message was sent.
	Attempts int
	// Body is the whole message as sent, in JSON.
	Body string
}

// Hooks returns the registered webhooks, oldest first.
func (s *Server) Hooks() []HookState {
	s.service.Clock.Settle()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	hooks := s.service.Hooks.All(l)
	states := make([]HookState, len(hooks))
	for i, h := range hooks {
		states[i] = toHookState(h)
		states[i].Queued = h.Queued()
		if h.Undeliverable == nil {
			states[i].Undeliverable = []MessageState{}
		}
	}
	return states
}
