package accounts

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Search handles GET /accounts.
func (s *Accounts) Search(c *exchange.Call) exchange.Response {
	key, with := ledger.Key{ClientID: c.Parameter("client_id"), Key: c.Parameter("client_account_key")}, c.Flags()
	l := s.ledger.RLock()
	defer l.RUnlock()
	return exchange.Paged(c, l.Keyed(key), func(to []byte, a *ledger.Account) []byte { return a.Append(to, "Account", with) })
}

// companyFilter is the query of the company search; empty fields do not filter.
type companyFilter struct{ clientID, programID, status, firstName, lastName, mobile string }

func (f companyFilter) matches(a *ledger.Account) bool {
	program := a.Company.ProgramID == f.programID || (a.Portal != nil && a.Portal.ProgramID == f.programID)
	return (f.clientID == "" || a.Company.ClientID == f.clientID) &&
		(f.programID == "" || program) &&
		(f.status == "" || a.Status == f.status) &&
		(f.firstName == "" || strings.EqualFold(a.Cardholder.FirstName, f.firstName)) &&
		(f.lastName == "" || strings.EqualFold(a.Cardholder.LastName, f.lastName)) &&
		(f.mobile == "" || a.Cardholder.MobileNumber == f.mobile)
}

// SearchCompany handles GET /accounts/company/{companyid}. An unknown company has no accounts, since the
// reference lists no error for this operation.
func (s *Accounts) SearchCompany(c *exchange.Call) exchange.Response {
	filter := companyFilter{
		clientID: c.Parameter("client_id"), programID: c.Parameter("program_id"), status: c.Parameter("status"),
		firstName: c.Parameter("first_name"), lastName: c.Parameter("last_name"), mobile: c.Parameter("mobile"),
	}
	with := c.Flags()
	id, ok := ledger.CompanyID(c.Params[0])
	if !ok {
		return c.Unusable("invalid fields: companyid must be a number")
	}
	l := s.ledger.RLock()
	defer l.RUnlock()
	var found []*ledger.Account
	if owner := l.Company(id); owner != nil {
		for _, a := range owner.Accounts {
			if filter.matches(a) {
				found = append(found, a)
			}
		}
	}
	response := exchange.Paged(c, found, func(to []byte, a *ledger.Account) []byte { return a.Append(to, "Account", with) })
	if !s.with.CompanyPaging {
		response.Page = nil
	}
	return response
}

// Get handles GET /accounts/{id}.
func (s *Accounts) Get(c *exchange.Call) exchange.Response {
	return s.withAccount(c, func(a *ledger.Account) exchange.Response {
		return c.Encoded(http.StatusOK, a.Append(nil, "Account", c.Flags()))
	})
}

// Status handles GET /accounts/{id}/status.
func (s *Accounts) Status(c *exchange.Call) exchange.Response {
	return s.withAccount(c, func(a *ledger.Account) exchange.Response {
		return c.Encoded(http.StatusOK, a.Append(nil, "AccountSummary", nil))
	})
}

// Transactions handles GET /accounts/{id}/transactions, newest first unless OldestFirst is set.
func (s *Accounts) Transactions(c *exchange.Call) exchange.Response {
	return s.withAccount(c, func(a *ledger.Account) exchange.Response {
		items := between(a.Items, c.Time("start_date"), c.Time("end_date"))
		if !s.with.OldestFirst {
			items = slices.Clone(items)
			slices.Reverse(items)
		}
		return exchange.Paged(c, items, ledger.AppendItem)
	})
}

// between returns the items from start to end, inclusive. It compares times in whole seconds, as the response shows
// them.
func between(items []ledger.Item, start, end time.Time) []ledger.Item {
	from, to := 0, len(items)
	compare := func(i ledger.Item, at time.Time) int { return i.OccurredAt.Truncate(time.Second).Compare(at) }
	if !start.IsZero() {
		from, _ = slices.BinarySearchFunc(items, start, compare)
	}
	if !end.IsZero() {
		to, _ = slices.BinarySearchFunc(items, end.Truncate(time.Second).Add(time.Second), compare)
	}
	return items[from:max(from, to)]
}

// withAccount finds the account of the path and reads it under the lock.
func (s *Accounts) withAccount(c *exchange.Call, read func(*ledger.Account) exchange.Response) exchange.Response {
	l := s.ledger.RLock()
	defer l.RUnlock()
	a := l.Account(c.Params[0])
	if a == nil {
		return c.AccountNotFound()
	}
	return read(a)
}
