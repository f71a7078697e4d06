package accounts

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

type createInput struct {
	state.Account
	load                          wire.Money
	initiatingUser                string
	giftExpiry                    time.Time
	requestType, accountToReplace string
}

func (in *createInput) bind(b *wire.Reader) {
	a := &in.Account
	a.Cardholder, in.requestType = new(state.Cardholder), "new"
	b.Member(a, "company_id").Required()
	b.LoadAmount("initial_load_amount", &in.load).Required()
	b.Object("registration", func(b *wire.Reader) { b.Struct(a.Cardholder) }).Required()
	b.Some(a, "name_on_card", "client_account_key", "display_name")
	b.String("initiating_user_id", &in.initiatingUser)
	b.Some(a, "is_plastic_enabled", "plastic_expiry", "portal_identifier", "mdes_config_id", "account_expiry")
	b.DateTime("gift_card_expiry", &in.giftExpiry)
	b.Some(a, "corresponding_account_id", "card_holder_type")
	b.String("request_type", &in.requestType).OneOf("new", "replace")
	b.String("account_id_to_replace", &in.accountToReplace).RequiredWhen(in.requestType == "replace", "when request_type is replace")
}

// Create handles POST /accounts. The reference lists 404 for an invalid or unknown account id.
func (s *Accounts) Create(c *exchange.Call) exchange.Response {
	var in createInput
	if refusal := c.BindBody(in.bind); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	owner := l.Company(in.CompanyID)
	if owner == nil {
		return c.Unusable("invalid fields: company_id is no company")
	}
	if in.requestType == "replace" {
		old := l.Account(in.accountToReplace)
		if old == nil {
			return c.Refuse(http.StatusNotFound, "account_not_found", "invalid fields: account_id_to_replace is no account")
		}
		if old.Status != "lost_or_stolen" {
			return c.Refuse(http.StatusNotFound, "invalid_request", "invalid fields: account_id_to_replace is not lost_or_stolen")
		}
	}
	if other := in.CorrespondingAccountID; other != "" && l.Account(string(other)) == nil {
		return c.Refuse(http.StatusNotFound, "account_not_found", "invalid fields: corresponding_account_id is no account")
	}
	if !s.with.CustomPlasticExpiry {
		in.PlasticExpiry = time.Time{}
	}
	in.Status, in.AccountExpiry = s.with.InitialStatus, cmp.Or(in.giftExpiry, in.AccountExpiry)
	a := l.Open(owner, in.Account, in.load, "initial load", s.clock.Now())
	return c.Encoded(http.StatusCreated, a.Append(nil, "created", nil))
}

// Update handles PUT /accounts/{id}. It replaces the whole registration.
func (s *Accounts) Update(c *exchange.Call) exchange.Response {
	in := state.Account{Cardholder: new(state.Cardholder)}
	var initiatingUser string
	var sent []string
	texts, portal := []string{"client_account_key", "display_name"}, "portal_identifier"
	if refusal := c.BindBody(func(b *wire.Reader) {
		sent = b.Some(&in, texts...)
		b.String("initiating_user_id", &initiatingUser)
		b.Object("registration", func(b *wire.Reader) { b.Struct(in.Cardholder) }).Required()
		sent = append(sent, b.Some(&in, portal)...)
	}); refusal != nil {
		return *refusal
	}
	if s.with.ClearOmitted {
		sent = slices.Concat(texts, []string{portal})
	}
	return s.changeAccount(c, func(l ledger.Locked, a *ledger.Account) {
		wire.Assign(&a.Account, &in, sent)
		a.Register(in.Cardholder)
		if slices.Contains(sent, "client_account_key") {
			l.Reindex(a, in.Key)
		}
	})
}

// PutStatus handles PUT /accounts/{id}/status. Any status can follow any other.
func (s *Accounts) PutStatus(c *exchange.Call) exchange.Response {
	var in state.Account
	if refusal := c.BindBody(func(b *wire.Reader) { b.Member(&in, "status").Required() }); refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(_ ledger.Locked, a *ledger.Account) { a.Status = in.Status })
}

// PutPlastic handles PUT /accounts/{id}/plastic.
func (s *Accounts) PutPlastic(c *exchange.Call) exchange.Response {
	var enabled bool
	var initiatingUser string
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.Boolean("plastic_enabled", &enabled).Required()
		b.String("initiating_user_id", &initiatingUser)
	}); refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(_ ledger.Locked, a *ledger.Account) { a.PlasticDisabled = state.Inverted(!enabled) })
}

func (s *Accounts) changeAccount(c *exchange.Call, change func(ledger.Locked, *ledger.Account)) exchange.Response {
	l := s.ledger.Lock()
	defer l.Unlock()
	a := l.Account(c.Params[0])
	if a == nil {
		return c.AccountNotFound()
	}
	change(l, a)
	return exchange.Done(http.StatusOK)
}
