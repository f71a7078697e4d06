package conformance

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/cardprograms/prepaid/internal/reference"
)

func accountCases() []Case {
	const search, history = "Accounts.Search", "Accounts.Transactions"
	nobody := values{"client_id": noAccount, "client_account_key": noAccount}
	// succeed makes a case with one request.
	succeed := func(name, operation, permission string) Case {
		return with("4.4", name, operation, nil, func(p *probe) { p.call(operation, nil).ok() }, permission)
	}
	return []Case{
		succeed("create_account", "Accounts.Create", "CreateAccounts"),
		succeed("wallet_is_provisioned", "Accounts.ProvisionWallet", "ChangeAccounts"),
		succeed("dip_returns_data", "Accounts.ExchangeKey", "ChangeAccounts"),
		putBack("Accounts.Update"), putBack("Accounts.SetStatus"), putBack("Accounts.SetPlasticEnabled"),
		with("1", "blank_flag_is_no_flag", "Accounts.Get", nil, func(p *probe) { p.call("Accounts.Get", values{"with_personal": " "}).ok() }),
		with("1", "empty_search_is_204", search, nobody, func(p *probe) { p.call(search, nobody).is(204) }),
		with("4.4", "search_by_key", search, nil, func(p *probe) { p.selects(search, "client_account_key", p.target.AccountKey) }),
		with("4.4", "search_of_company", "Accounts.SearchCompany", nil, func(p *probe) {
			p.selects("Accounts.SearchCompany", "company_id", json.Number(strconv.FormatInt(p.target.CompanyID, 10)))
		}),
		with("4.4", "history_bounds", history, nil, func(p *probe) {
			p.call(history, values{"start_date": "2000-01-01T00:00:00Z", "end_date": "2000-01-02T00:00:00Z"}).is(204)
		}),
		with("4.4", "balance_is_the_last_running_balance", history, nil, balanceMatches),
	}
}

// selects checks a member by which a search selects.
func (p *probe) selects(operation, member string, value any) {
	for _, object := range p.call(operation, values{"page_size": 2}).objects() {
		if object[member] != value {
			p.fail(member, "must be as requested")
		}
	}
}

// putBack makes a case that writes the current values back, so that nothing changes.
func putBack(operation string) Case {
	read := map[string]string{"registration": "personal", "plastic_enabled": "is_plastic_enabled"} // other names are those of the request
	return with("4.4", "put_back_"+operation, operation, nil, func(p *probe) {
		before := p.call("Accounts.Get", values{"with_personal": 1}).object()
		body := values{}
		for _, member := range reference.Read().Operation(operation).Request.JSON().Properties {
			if value, present := before[cmp.Or(read[member.Name], member.Name)]; present {
				body[member.Name] = value
			}
		}
		p.call(operation, body).ok()
		if after := p.call("Accounts.Get", values{"with_personal": 1}).object(); !reflect.DeepEqual(after, before) {
			p.fail("body", "must be as before, because the same values were put back")
		}
	}, "ChangeAccounts")
}

// history reads an account's history, at most 100 pages.
func (p *probe) history() []map[string]any {
	var all []map[string]any
	for page, pages := 1, 1; page <= pages && page <= 100; page++ {
		r := p.call("Accounts.Transactions", values{"page_size": 500, "page_number": page})
		all = append(all, r.objects()...)
		pages = r.count("X-TotalPages")
	}
	return all
}

func balanceMatches(p *probe) {
	balance := p.call("Accounts.Get", nil).object()["balance"]
	items := p.history()
	if len(items) == 0 {
		return
	}
	// The first or the last item may be the newest: the reference does not define the order.
	first, _ := items[0]["occurred_at"].(string)
	last := items[len(items)-1]
	if late, _ := last["occurred_at"].(string); first > late {
		last = items[0]
	}
	if number(balance) != number(last["running_balance_amount"]) {
		p.failIn("2.8", "running_balance_amount", "of the last item must be the balance of the account")
	}
}

func number(value any) float64 {
	text, _ := value.(json.Number)
	n, _ := text.Float64() // the response is checked
	return n
}
