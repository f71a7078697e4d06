package prepaidtest

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// AccountState is the state of an account, for a test or a page to inspect. If you print or log it, the text has
// only EAID, status and balance, so that a failure message has no personal data.
type AccountState struct {
	// Account has the data of the account; its Cardholder is not nil.
	state.Account
	// ClientID is the client_id of the company.
	ClientID string
	// Activatable reports whether ActivateThroughPortal accepts the card.
	Activatable bool
	// PlasticEnabled is is_plastic_enabled.
	PlasticEnabled bool
	// FirstTransaction is the time of the first item of the history; zero without one.
	FirstTransaction time.Time
	// LastTransaction is the time of the last item; zero without one.
	LastTransaction time.Time
	// Transactions counts the items of the history.
	Transactions int
	// WalletTokens are the tokens of GET /accounts/{id}/tokens.
	WalletTokens []WalletToken
	// PINSet reports whether a PIN change was executed; PINOf returns the PIN.
	PINSet bool
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
	made := AccountState{
		Account: a.Account.Clone(), ClientID: a.Company.ClientID, Activatable: s.activatable(a), PlasticEnabled: !bool(a.PlasticDisabled),
		Transactions: len(a.Items), WalletTokens: each(a.WalletTokens, WalletToken.Clone), PINSet: a.PIN != "",
	}
	made.Balance = a.Balance.String()
	if n := len(a.Items); n > 0 {
		made.FirstTransaction, made.LastTransaction = a.Items[0].OccurredAt, a.Items[n-1].OccurredAt
	}
	return made
}

// AccountStatuses lists the eleven account statuses (3.1).
func AccountStatuses() []string { return ledger.AccountStatuses() }

// Companies returns the companies, sorted by id.
func (s *Server) Companies() []Company {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	return each(l.Companies(), func(c *ledger.Company) Company { return c.Company })
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

// Hooks returns the registered webhooks, oldest first.
func (s *Server) Hooks() []HookState {
	s.service.Clock.Settle()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	return each(s.service.Hooks.All(l), func(h *hooks.Hook) HookState {
		return HookState{
			ID: prepaid.HookID(h.ID), URI: h.URI, Scope: slices.Clone(h.Scope), Filter: h.Filter, Enabled: h.Enabled, Reliability: h.Reliability,
			KeyID: h.KeyID, Queued: h.Queued(), Undeliverable: each(h.Undeliverable, func(m *state.Message) MessageState { return *m }),
		}
	})
}
