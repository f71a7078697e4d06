package conformance

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strconv"
)

func (p *probe) accountPath(rest string) string {
	return "accounts/" + url.PathEscape(p.target.AccountID) + rest
}

func accountCases() []Case {
	const get, history = "GET /accounts/{id}", "GET /accounts/{id}/transactions"
	group := func(flag string, members []member) Case {
		return with("2.2", "group_"+flag, get, func(p *probe) {
			p.get(p.accountPath("?" + flag + "=1")).status(200).read(accountShape(members))
		}, "AccountID")
	}
	unknown := func(name, operation, rest string) Case {
		return with("4.4", "unknown_account_"+name, operation, func(p *probe) { p.get("accounts/" + noAccount + rest).refused(404) })
	}
	return []Case{
		with("2.2", "account_without_groups", get, func(p *probe) { p.get(p.accountPath("")).status(200).read(accountShape()) }, "AccountID"),
		with("4.4", "get_account_with_personal", get, func(p *probe) {
			p.get(p.accountPath("?with_personal=1")).status(200).read(accountShape(req(personalShape("2.3", false), "personal")))
		}, "AccountID"),
		group("with_freetext", req(freeTextShape(), "free_text")),
		group("with_bpay", req(text, "bpay_biller_code", "bpay_reference_number")),
		group("with_directentry", req(text, "direct_entry_bsb", "direct_entry_account_number")),
		group("with_tokeninfo", opt(text, "mdes_config_id")),
		group("with_correspondingaccountid", opt(text, "corresponding_account_id")),
		group("with_cardholdertype", opt(integer, "card_holder_type")),
		with("1", "blank_flag_is_no_flag", get, func(p *probe) {
			p.get(p.accountPath("?with_personal=%20")).status(200).read(accountShape())
		}, "AccountID"),
		with("4.4", "status_is_reduced", "GET /accounts/{id}/status", func(p *probe) {
			p.get(p.accountPath("/status")).status(200).read(statusShape())
		}, "AccountID"),
		with("4.4", "search_by_key", "GET /accounts", func(p *probe) {
			query := url.Values{"client_id": {p.target.ProgramClientID}, "client_account_key": {p.target.AccountKey}}
			p.paging("accounts?"+query.Encode()+"&", accountShape())
			for _, found := range p.get("accounts?" + query.Encode()).status(200).objects(accountShape()) {
				if found["client_account_key"] != p.target.AccountKey {
					p.fail("client_account_key", "must be the one searched by")
				}
			}
		}, "ProgramClientID", "AccountKey"),
		with("1", "empty_search_is_204", "GET /accounts", func(p *probe) {
			p.get("accounts?client_id=" + noAccount + "&client_account_key=" + noAccount).status(204).empty()
		}),
		with("4.4", "company_search", "GET /accounts/company/{companyid}", func(p *probe) {
			company := strconv.FormatInt(p.target.CompanyID, 10)
			for _, found := range p.get("accounts/company/" + company + "?page_number=1&page_size=2").status(200).objects(accountShape()) {
				if id, ok := found["company_id"].(json.Number); ok && string(id) != company {
					p.fail("company_id", "must be the company searched")
				}
			}
		}, "CompanyID", "AccountID"),
		with("2.8", "history", history, func(p *probe) { p.paging(p.accountPath("/transactions?"), historyShape()) }, "AccountID"),
		with("4.4", "history_bounds", history, func(p *probe) {
			p.get(p.accountPath("/transactions?start_date=2000-01-01T00:00:00Z&end_date=2000-01-02T00:00:00Z")).status(204).empty()
		}, "AccountID"),
		with("4.4", "balance_is_the_last_running_balance", history, balanceMatches, "AccountID"),
		with("2.9", "wallet_tokens", "GET /accounts/{id}/tokens", func(p *probe) {
			if a := p.get(p.accountPath("/tokens")).status(200, 204); a.code == 200 {
				a.objects(walletTokenShape())
			} else {
				a.empty()
			}
		}, "AccountID"),
		unknown("get", get, ""), unknown("status", "GET /accounts/{id}/status", "/status"),
		unknown("transactions", history, "/transactions"), unknown("tokens", "GET /accounts/{id}/tokens", "/tokens"),
	}
}

// history reads an account's history, at most 100 pages.
func (p *probe) history() []map[string]any {
	var all []map[string]any
	for page, pages := 1, 1; page <= pages && page <= 100; page++ {
		a := p.get(p.accountPath("/transactions?page_size=500&page_number="+strconv.Itoa(page))).status(200, 204)
		if a.bad || a.code == 204 {
			return all
		}
		pages = a.count("X-TotalPages")
		all = append(all, a.objects(historyShape())...)
	}
	return all
}

func balanceMatches(p *probe) {
	body := p.get(p.accountPath("")).status(200).object(accountShape())
	items := p.history()
	if body == nil || len(items) == 0 {
		return
	}
	// The first or the last item may be the newest: the reference does not define the order.
	first, _ := items[0]["occurred_at"].(string)
	last := items[len(items)-1]
	if late, _ := last["occurred_at"].(string); first > late {
		last = items[0]
	}
	if !sameNumber(body["balance"], last["running_balance_amount"]) {
		p.failIn("2.8", "running_balance_amount", "of the last item must be the balance of the account")
	}
}

func sameNumber(a, b any) bool {
	x, okX := a.(json.Number)
	y, okY := b.(json.Number)
	if !okX || !okY {
		return false
	}
	p, okP := new(big.Rat).SetString(string(x))
	q, okQ := new(big.Rat).SetString(string(y))
	return okP && okQ && p.Cmp(q) == 0
}
