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

// createInput has the members of an account, and those that only a creation has.
type createInput struct {
	state.Account
	Load             wire.Money       `json:"initial_load_amount"`
	Registration     state.Cardholder `json:"registration"`
	GiftExpiry       time.Time        `json:"gift_card_expiry"`
	RequestType      string           `json:"request_type"`
	AccountToReplace string           `json:"account_id_to_replace"`
}

func (in *createInput) further(faults *wire.Faults) {
	if in.RequestType == "replace" && in.AccountToReplace == "" {
		faults.Add("account_id_to_replace", "is required")
	}
}

// Create handles POST /accounts. The reference lists 404 for an invalid or unknown account id.
func (s *Accounts) Create(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body(c, (*createInput).further)
	if refusal != nil {
		return *refusal
	}
	in.Cardholder = &in.Registration
	l := s.ledger.Lock()
	defer l.Unlock()
	owner := l.Company(in.CompanyID)
	if owner == nil {
		return c.Unusable("invalid fields: company_id is no company")
	}
	if in.RequestType == "replace" {
		old := l.Account(in.AccountToReplace)
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
	in.PlasticExpiry = time.Time{} // only some manufacturing batches allow it
	in.Status, in.AccountExpiry = s.with.InitialStatus, cmp.Or(in.GiftExpiry, in.AccountExpiry)
	a := l.Open(owner, in.Account, in.Load, "initial load", s.clock.Now())
	return c.Encoded(http.StatusCreated, a.Append(nil, "CreatedAccount", nil))
}

// Update handles PUT /accounts/{id}. It replaces the whole registration.
func (s *Accounts) Update(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[struct {
		state.Account
		Registration state.Cardholder `json:"registration"`
	}](c)
	if refusal != nil {
		return *refusal
	}
	var changed []string
	for _, member := range c.Route.Request.JSON().Properties {
		if ledger.Stores(member.Name) && (!s.with.KeepOmitted || c.Has(member.Name)) {
			changed = append(changed, member.Name)
		}
	}
	return s.changeAccount(c, func(l ledger.Locked, a *ledger.Account) {
		wire.Assign(&a.Account, &in.Account, changed)
		a.Cardholder = &in.Registration
		if slices.Contains(changed, "client_account_key") {
			l.Reindex(a, in.Key)
		}
	})
}

// PutStatus handles PUT /accounts/{id}/status. Any status can follow any other.
func (s *Accounts) PutStatus(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[struct {
		Status string `json:"status"`
	}](c)
	if refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(_ ledger.Locked, a *ledger.Account) { a.Status = in.Status })
}

// PutPlastic handles PUT /accounts/{id}/plastic.
func (s *Accounts) PutPlastic(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[struct {
		Enabled bool `json:"plastic_enabled"`
	}](c)
	if refusal != nil {
		return *refusal
	}
	return s.changeAccount(c, func(_ ledger.Locked, a *ledger.Account) { a.PlasticDisabled = state.Inverted(!in.Enabled) })
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
