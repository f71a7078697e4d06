package prepaidtest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func companyID(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil
}

type createInput struct {
	companyID                     int64
	load                          wire.Money
	registration                  Personal
	nameOnCard, key, displayName  string
	initiatingUser                string
	plastic                       bool
	plasticExpiry                 time.Time
	portal                        *PortalIdentifier
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
	b.Object("registration", in.registration.bind).Required()
	b.String("name_on_card", &in.nameOnCard).Min(2).Max(19).Form(wire.IsNameOnCard, "may have 0-9, A-Z, hyphen, slash and full stop")
	b.String("client_account_key", &in.key).Max(255).Form(wire.IsPrintableASCII, "must be ASCII from 0x20 to 0x7E")
	b.String("display_name", &in.displayName).Max(100)
	b.String("initiating_user_id", &in.initiatingUser)
	b.Boolean("is_plastic_enabled", &in.plastic)
	b.DateTime("plastic_expiry", &in.plasticExpiry)
	in.portal = bindPortal(b)
	b.String("mdes_config_id", &in.mdesConfigID).Max(10)
	b.DateTime("account_expiry", &in.accountExpiry)
	b.DateTime("gift_card_expiry", &in.giftExpiry)
	b.String("corresponding_account_id", &in.corresponding)
	holder := b.Integer("card_holder_type", &in.holderType)
	if holder.Usable && in.holderType != 1 && in.holderType != 2 {
		holder.Fault("must be 1 or 2")
	}
	b.String("request_type", &in.requestType).OneOf("new", "replace")
	replaced := b.String("account_id_to_replace", &in.accountToReplace)
	if in.requestType == "replace" {
		replaced.Required()
	}
}

func bindPortal(b *wire.Reader) *PortalIdentifier {
	portal := new(PortalIdentifier)
	if b.Object("portal_identifier", portal.bind).Usable {
		return portal
	}
	return nil
}

// createAccount handles POST /accounts. Its row has 404 for an account id that is invalid or not found.
func (s *Server) createAccount(c *exchange.Call) exchange.Response {
	var in createInput
	if refusal := c.BindBody(in.bind); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.companies[in.companyID]
	if owner == nil {
		return c.Unusable("invalid fields: company_id is no company")
	}
	if in.requestType == "replace" {
		old := s.accounts[in.accountToReplace]
		if old == nil {
			return c.Refuse(http.StatusNotFound, "account_not_found", "invalid fields: account_id_to_replace is no account")
		}
		if old.status != "lost_or_stolen" {
			return c.Refuse(http.StatusNotFound, "invalid_request", "invalid fields: account_id_to_replace is not lost_or_stolen")
		}
	}
	if in.corresponding != "" && s.accounts[in.corresponding] == nil {
		return c.Refuse(http.StatusNotFound, "account_not_found", "invalid fields: corresponding_account_id is no account")
	}
	now := s.clock.Now()
	a := s.newAccount(owner, now)
	a.status, a.plastic, a.personal = s.settings.initialStatus, in.plastic, register(in.registration)
	a.nameOnCard, a.clientAccountKey, a.displayName = in.nameOnCard, in.key, in.displayName
	a.portal, a.mdesConfigID, a.corresponding, a.holderType = in.portal, in.mdesConfigID, in.corresponding, in.holderType
	if s.settings.customPlasticExpiry && !in.plasticExpiry.IsZero() {
		a.plasticExpiry = expires(in.plasticExpiry)
	}
	switch {
	case !in.giftExpiry.IsZero():
		a.accountExpiry = expires(in.giftExpiry)
	case !in.accountExpiry.IsZero():
		a.accountExpiry = expires(in.accountExpiry)
	}
	s.add(a)
	if in.load > 0 {
		s.post(a, entry{code: codeLoad, amount: in.load, reference: "initial load"}, now)
	}
	o := a.appendCreated(nil)
	return c.Encoded(http.StatusCreated, o.End())
}

// updateAccount answers PUT /accounts/{id}. The registration is replaced whole.
func (s *Server) updateAccount(c *exchange.Call) exchange.Response {
	var in struct {
		key, displayName, initiatingUser string
		hasKey, hasDisplayName           bool
		registration                     Personal
		portal                           *PortalIdentifier
	}
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("client_account_key", &in.key).Seen(&in.hasKey).Max(255).Form(wire.IsPrintableASCII, "must be ASCII from 0x20 to 0x7E")
		b.String("display_name", &in.displayName).Seen(&in.hasDisplayName).Max(100)
		b.String("initiating_user_id", &in.initiatingUser)
		b.Object("registration", in.registration.bind).Required()
		in.portal = bindPortal(b)
	}); refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(a *account) {
		clearing := s.settings.clearOmitted
		a.personal = register(in.registration)
		if in.hasKey || clearing {
			s.reindex(a, in.key)
		}
		if in.hasDisplayName || clearing {
			a.displayName = in.displayName
		}
		if in.portal != nil || clearing {
			a.portal = in.portal
		}
	})
}

// putStatus answers PUT /accounts/{id}/status; every move between the eleven is allowed.
func (s *Server) putStatus(c *exchange.Call) exchange.Response {
	var status string
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("status", &status).Required().OneOf(accountStatuses()...)
	}); refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(a *account) { a.status = status })
}

// putPlastic answers PUT /accounts/{id}/plastic.
func (s *Server) putPlastic(c *exchange.Call) exchange.Response {
	var enabled bool
	var initiatingUser string
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.Boolean("plastic_enabled", &enabled).Required()
		b.String("initiating_user_id", &initiatingUser)
	}); refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(a *account) { a.plastic = enabled })
}

func (s *Server) changeAccount(c *exchange.Call, change func(*account)) exchange.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[c.Params[0]]
	if a == nil {
		return c.AccountNotFound()
	}
	change(a)
	return exchange.Done(http.StatusOK)
}
