package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const overviewRows = 12

func (p *Page) overview(*http.Request) view {
	ids, requests := p.server.AccountIDs(), p.newest()
	refused := slices.DeleteFunc(slices.Clone(requests), func(r prepaidtest.Request) bool { return !failed(r) })
	faults := p.armed()
	faults.Links = []link{{"Arm a fault", "/faults"}}
	return view{
		Title: "Overview", Section: "/",
		Tiles: []link{
			{plural(len(ids), "account"), "/accounts"}, {plural(len(requests), "request"), "/requests"},
			{plural(len(refused), "refused or cut request"), "/requests?outcome=failed"}, {plural(len(p.undeliverable()), "undeliverable message"), "/webhooks"},
		},
		Blocks: []block{
			{
				Head: "Latest requests", Table: p.requestTable(requests[:min(len(requests), overviewRows)]), Links: []link{{"All requests", "/requests"}},
				Empty: "No request yet. The emulator has printed a first command when it started.",
			},
			{Head: "Accounts", Table: p.accountTable(ids[:min(len(ids), overviewRows)]), Empty: "No account yet.", Links: []link{{"All accounts", "/accounts"}}},
		},
		Side: []block{{Head: "Clock", Text: "Tokens, reports and cached transfers expire by it.", Forms: []form{clockSteps()}, Links: []link{{"Another step", "/clock"}}}, faults},
	}
}

func (p *Page) accountTable(ids []prepaid.AccountID) *table {
	return tableOf(each(ids, p.server.Account), "ID:Account", "Status", "Balance:Balance, AUD", "CompanyID:Company", "ProductType:Product", "Key:Key")
}

// accounts lists the accounts that have all search words, each as part of an ID, key, status, card number or name. The list shows
// no names: personal data is on the account's page only.
func (p *Page) accounts(r *http.Request) view {
	text := r.URL.Query().Get("text")
	ids := slices.DeleteFunc(p.server.AccountIDs(), func(id prepaid.AccountID) bool {
		a := p.server.Account(id)
		places := strings.ToLower(strings.Join([]string{
			string(a.ID), a.ExternalID, a.Key, a.Status, a.CardNumber, a.DisplayName, a.NameOnCard, a.Cardholder.FirstName, a.Cardholder.MiddleName, a.Cardholder.LastName,
		}, "\n"))
		return slices.ContainsFunc(strings.Fields(strings.ToLower(text)), func(word string) bool { return !strings.Contains(places, word) })
	})
	ids, pages := paginate(r, "page", ids)
	list := block{Head: "All accounts", Table: p.accountTable(ids), Empty: "No account matches.", Forms: []form{{
		ID: "search", Action: "/accounts", Search: true, Buttons: []button{{Text: "Search"}},
		Fields: []field{{Name: "text", Label: "Name, ID, status, key or card number", Value: text}},
	}}}
	list.Table.Pager = pages
	return view{Title: "Accounts", Section: "/accounts", Blocks: []block{list}}
}

// transactionRow is a transaction with its type and ID.
type transactionRow struct {
	prepaidtest.Transaction
	Kind []cell
}

func (p *Page) account(r *http.Request) view {
	server, id := p.server, p.accountOf(r)
	if !slices.Contains(server.AccountIDs(), id) {
		return view{}
	}
	a, items := server.Account(id), server.Transactions(id)
	slices.Reverse(items)
	items, pages := paginate(r, "page", items)
	about := slices.DeleteFunc(p.newest(), func(one prepaidtest.Request) bool {
		return one.AccountID != id && !strings.Contains(one.Body, `"`+string(id)+`"`)
	})
	history := block{Head: "Transactions", Empty: "Nothing booked yet.", Table: tableOf(each(items, func(item prepaidtest.Transaction) transactionRow {
		return transactionRow{item, []cell{{Text: item.Description}, {Text: string(item.ID), Class: "small code"}}}
	}), "Kind:Type", "Amount", "Fee", "RunningBalance:Balance", "Reference", "CardAcceptorID:Merchant", "OccurredAt:Time, UTC")}
	history.Table.Pager = pages
	v := view{
		Title: "Account " + string(id), Section: "/accounts", JSON: input{server: server, id: id}.account(),
		Blocks: []block{
			history,
			{
				Head: "Requests", Table: p.requestTable(about[:min(len(about), overviewRows)]), Empty: "No request names this account yet.",
				Links: []link{{"Search all requests", "/requests?text=" + url.QueryEscape(string(id))}},
			},
			{Head: "Authorisations", Text: "Simulated card transactions, newest first.", Empty: "None yet.", Table: tableOf(
				reversed(server.Authorizations(id)), "ID", "Type", "Amount:Remaining", "State", "CardAcceptorID:Merchant")},
			{Head: "Wallet tokens", Table: tableOf(a.WalletTokens,
				"TokenUniqueReference:Token", "TokenRequestorName:Wallet", "CurrentStatusCode:Status", "TokenSuffix:Ends with", "ExpirationDate:Expires"), Empty: "None yet."},
		},
		Side: []block{
			{Head: "State", Facts: factsOf(a, "ID", "Cardholder", "PlasticDisabled", "FreeText")},
			{Head: "Change it", Forms: accountForms(a)},
			p.pinChange(id),
			{Head: "Cardholder", Facts: factsOf(struct {
				prepaidtest.Cardholder
				prepaidtest.FreeText
			}{*a.Cardholder, a.FreeText})},
		},
	}
	if n := len(slices.DeleteFunc(server.RunningTransfers(), func(t prepaidtest.RunningTransfer) bool { return t.AccountID != id })); n > 0 {
		v.Notes = []cell{{Tone: "calm", Text: "Still running, and not in the balance yet: " + plural(n, "transfer") + " from this account."}}
	}
	return v
}

// pinChange shows the one-time passwords as on the cardholder's phone.
func (p *Page) pinChange(id prepaid.AccountID) block {
	b := block{Head: "PIN change", Links: []link{{"Certificate, PEM", "/pin-certificate.pem"}}, Empty: "None is pending. The one-time password is shown here, as on the cardholder's phone."}
	for _, change := range p.server.PINChanges(id) {
		b.Facts = append(b.Facts, factsOf(change)...)
	}
	if len(b.Facts) > 0 { // otherwise there may be no certificate yet, and to make one takes a moment
		b.Facts = append(b.Facts, fact{"Fingerprint", []cell{{Text: p.server.PINFingerprint(), Class: "code"}}})
	}
	return b
}

func accountForms(a prepaidtest.AccountState) []form {
	path := accountPath(a.ID)
	return []form{
		{
			ID: "status", Action: path + "/status", Buttons: []button{{Text: "Set status"}},
			Fields: []field{{Name: "status", Label: "Status", Value: a.Status, Options: texts(prepaidtest.AccountStatuses())}},
		},
		{
			ID: "adjust", Action: path + "/adjust", Buttons: []button{{Text: "Adjust"}},
			Fields: []field{{Name: "amount", Label: "Balance, by an amount", Placeholder: "25.00 or -12.50", Required: true}},
		},
		{ID: "activate", Action: path + "/activate", Text: "As the cardholder does in the portal.", Buttons: []button{{Text: "Activate"}}},
	}
}

// payment is a request ID with its movements.
type payment struct {
	RequestID prepaid.RequestID
	Movements int
}

// transfer is a running request with its movements so far.
type transfer struct {
	prepaidtest.RunningTransfer
	Outcome []cell
}

func (p *Page) transfers(*http.Request) view {
	count := make(map[prepaid.RequestID]int)
	for _, one := range p.server.RunningTransfers() {
		count[one.RequestID]++
	}
	running := each(p.server.RunningTransfers(), func(one prepaidtest.RunningTransfer) transfer {
		if one.RequestID != "" && p.server.Movements(one.RequestID)+count[one.RequestID] > 1 {
			return transfer{one, []cell{{Text: "will pay twice", Tone: "bad"}}}
		}
		return transfer{one, []cell{{Text: "running", Tone: "calm"}}}
	})
	twice := each(p.server.PaidTwice(), func(id prepaid.RequestID) payment { return payment{id, p.server.Movements(id)} })
	return view{
		Title: "Transfers", Section: "/transfers", JSON: input{server: p.server}.transfers(),
		Blocks: []block{
			{
				Head: "Running now", Table: tableOf(running, "RequestID:Request ID", "Outcome", "AccountID:From", "Amount", "Age:Running for", "Left:Carried out in", "Operation"),
				Text:  "A repeat of a running request does not get its response: each moves the money.",
				Empty: "No transfer is running. Usually one takes no time: arm the fault proxy-page 502 commit-after 30s to hold the next one.",
				Links: []link{{"Hold the next one", "/faults?fault=proxy-page+502+commit-after+30s&operation=" + url.QueryEscape(heldOperations()[0])}},
			},
			{Head: "Paid twice", Table: tableOf(twice, "RequestID:Request ID", "Movements"), Empty: "No request ID has moved money twice."},
		},
	}
}

func (p *Page) clock(*http.Request) view {
	return view{Title: "Clock", Section: "/clock", JSON: input{server: p.server}.clock(), Blocks: []block{{
		Head: "Move the clock", Text: "Tokens, reports and cached transfers expire by it; clearings, retries and alerts become due. It never moves back.",
		Facts: []fact{{"Now, UTC", []cell{{Text: when(p.server.Now()), Class: "time"}}}},
		Forms: []form{
			clockSteps(),
			{ID: "clock", Action: "/clock", Fields: []field{{Name: "by", Label: "By", Placeholder: "90s, 36h", Required: true}}, Buttons: []button{{Text: "Move"}}},
		},
	}}}
}

func clockSteps() form {
	return form{ID: "step", Action: "/clock", Buttons: []button{{"by", "1m", "+ 1 min"}, {"by", "1h", "+ 1 h"}, {"by", "24h", "+ 1 day"}, {"by", "744h", "+ 31 days"}}}
}

// armed shows the armed faults.
func (p *Page) armed() block {
	b := block{Head: "Armed faults", Table: tableOf(p.server.Faults(), "Operation", "Fault", "Used", "Left"), Empty: "No faults armed."}
	if len(b.Table.Rows) > 0 {
		b.Forms = []form{{ID: "clear", Action: "/faults/clear", Buttons: []button{{Text: "Clear all"}}}}
	}
	return b
}

// forms lists the forms of faults with their effects.
func forms(list []string) block {
	return block{Head: "Forms of a fault", Facts: each(list, func(form string) fact {
		syntax, effect, _ := strings.Cut(form, ": ")
		return fact{syntax, []cell{{Text: effect}}}
	})}
}

func (p *Page) faults(r *http.Request) view {
	operations := append([]string{prepaidtest.AnyOperation}, prepaidtest.Operations()...)
	arm := form{ID: "arm", Action: "/faults", Buttons: []button{{Text: "Arm"}}, Fields: []field{
		{Name: "operation", Label: "The next request to", Value: r.URL.Query().Get("operation"), Options: texts(operations)},
		{Name: "fault", Label: "Fault", Value: r.URL.Query().Get("fault"), Required: true, Placeholder: "commit-then-drop", Suggestions: []string{
			"commit-then-drop", "drop-before-commit", "truncate", "proxy-page 502 commit-after 12s", "respond 500", "respond 503", "delay 2s", "too-many-requests 2s",
			"proxy-page 502", "expire-token",
		}},
		{Name: "times", Label: "Times; empty: until it is cleared", Value: "1"},
		{Name: "probability", Label: "Probability; empty: 1", Placeholder: "0.25"},
	}}
	arm.Fields[0].Options[0].Text = "every operation"
	return view{
		Title: "Faults", Section: "/faults", JSON: input{server: p.server}.faults(),
		Blocks: []block{p.armed(), forms(prepaidtest.FaultForms())}, Side: []block{{Head: "Arm a fault", Forms: []form{arm}}},
	}
}

func reversed[T any](list []T) []T {
	slices.Reverse(list)
	return list
}
