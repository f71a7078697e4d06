package accounts

import (
	"net/http"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

type createInput struct {
	companyID                     int64
	load                          wire.Money
	registration                  ledger.Personal
	nameOnCard, key, displayName  string
	initiatingUser                string
	plastic                       bool
	plasticExpiry                 time.Time
	portal                        *ledger.Portal
	mdesConfigID                  string
	accountExpiry, giftExpiry     time.Time
	corresponding                 string
	holderType                    int64
	requestType, accountToReplace string
}

func (in *createInput) bind(b *wire.Reader) {
	in.plastic, in.requestType, in.holderType = true, "new", 1
	b.Integer("company_id", &in.companyID).Required()
	b.LoadAmount("initial_load_amount", &in.load).Required()
	b.Object("registration", in.registration.Bind).Required()
	b.String("name_on_card", &in.nameOnCard).Min(2).Max(19).Form(wire.NameOnCard())
	b.String("client_account_key", &in.key).Max(255).Form(wire.PrintableASCII())
	b.String("display_name", &in.displayName).Max(100)
	b.String("initiating_user_id", &in.initiatingUser)
	b.Boolean("is_plastic_enabled", &in.plastic)
	b.DateTime("plastic_expiry", &in.plasticExpiry)
	in.portal = BindPortal(b)
	b.String("mdes_config_id", &in.mdesConfigID).Max(10)
	b.DateTime("account_expiry", &in.accountExpiry)
	b.DateTime("gift_card_expiry", &in.giftExpiry)
	b.String("corresponding_account_id", &in.corresponding)
	b.Integer("card_holder_type", &in.holderType).Between(1, 2, "must be 1 or 2")
	b.String("request_type", &in.requestType).OneOf("new", "replace")
	b.String("account_id_to_replace", &in.accountToReplace).RequiredWhen(in.requestType == "replace", "when request_type is replace")
}

// BindPortal reads portal_identifier; nil when it is absent.
func BindPortal(b *wire.Reader) *ledger.Portal {
	portal := new(ledger.Portal)
	if b.Object("portal_identifier", portal.Bind).Usable {
		return portal
	}
	return nil
}

// Create handles POST /accounts. Its row has 404 for an account id that is invalid or not found.
func (s *Accounts) Create(c *exchange.Call) exchange.Response {
	var in createInput
	if refusal := c.BindBody(in.bind); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	owner := l.Company(in.companyID)
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
	if in.corresponding != "" && l.Account(in.corresponding) == nil {
		return c.Refuse(http.StatusNotFound, "account_not_found", "invalid fields: corresponding_account_id is no account")
	}
	now := s.clock.Now()
	a := l.NewAccount(owner, now)
	a.Status, a.Plastic, a.Registration = s.with.InitialStatus, in.plastic, ledger.NewRegistration(in.registration)
	a.NameOnCard, a.ClientAccountKey, a.DisplayName = in.nameOnCard, in.key, in.displayName
	a.Portal, a.MDESConfigID, a.Corresponding, a.HolderType = in.portal, in.mdesConfigID, in.corresponding, in.holderType
	if s.with.CustomPlasticExpiry && !in.plasticExpiry.IsZero() {
		a.PlasticExpiry = ledger.NewExpiry(in.plasticExpiry)
	}
	switch {
	case !in.giftExpiry.IsZero():
		a.AccountExpiry = ledger.NewExpiry(in.giftExpiry)
	case !in.accountExpiry.IsZero():
		a.AccountExpiry = ledger.NewExpiry(in.accountExpiry)
	}
	l.Add(a)
	if in.load.Sign() > 0 {
		l.Post(a, ledger.Entry{Code: ledger.CodeLoad, Amount: in.load, Reference: "initial load"}, now)
	}
	o := a.AppendCreated(nil)
	return c.Encoded(http.StatusCreated, o.End())
}

// Update handles PUT /accounts/{id}. The registration is replaced whole.
func (s *Accounts) Update(c *exchange.Call) exchange.Response {
	var in struct {
		key, displayName, initiatingUser string
		hasKey, hasDisplayName           bool
		registration                     ledger.Personal
		portal                           *ledger.Portal
	}
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("client_account_key", &in.key).Seen(&in.hasKey).Max(255).Form(wire.PrintableASCII())
		b.String("display_name", &in.displayName).Seen(&in.hasDisplayName).Max(100)
		b.String("initiating_user_id", &in.initiatingUser)
		b.Object("registration", in.registration.Bind).Required()
		in.portal = BindPortal(b)
	}); refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(l ledger.Locked, a *ledger.Account) {
		clearing := s.with.ClearOmitted
		a.Registration = ledger.NewRegistration(in.registration)
		if in.hasKey || clearing {
			l.Reindex(a, in.key)
		}
		if in.hasDisplayName || clearing {
			a.DisplayName = in.displayName
		}
		if in.portal != nil || clearing {
			a.Portal = in.portal
		}
	})
}

// PutStatus handles PUT /accounts/{id}/status; every move between the eleven is allowed.
func (s *Accounts) PutStatus(c *exchange.Call) exchange.Response {
	var status string
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("status", &status).Required().OneOf(ledger.AccountStatuses()...)
	}); refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(_ ledger.Locked, a *ledger.Account) { a.Status = status })
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
	return s.changeAccount(c, func(_ ledger.Locked, a *ledger.Account) { a.Plastic = enabled })
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
