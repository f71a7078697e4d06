package page

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func (p *Page) accountRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /accounts", p.accounts)
	mux.HandleFunc("GET /accounts/{id}", p.account)
	mux.HandleFunc("POST /accounts/{id}/status", p.setStatus)
	mux.HandleFunc("POST /accounts/{id}/adjust", p.adjust)
	mux.HandleFunc("POST /accounts/{id}/activate", p.activate)
	mux.HandleFunc("GET /pin-certificate.pem", p.pinCertificate)
}

type accountsData struct {
	Accounts []prepaidtest.AccountState
	Statuses []string
	Status   string // of the filter
	Text     string // of the filter
	All      int
	Pager    pager
}

const listSize = 50

// accounts lists them by status and by a part of id, key or card number; never by personal data.
func (p *Page) accounts(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	query := r.URL.Query()
	data := accountsData{Statuses: prepaidtest.AccountStatuses(), Status: query.Get("status"), Text: strings.TrimSpace(query.Get("text"))}
	ids := server.AccountIDs()
	data.All = len(ids)
	if data.Status != "" || data.Text != "" {
		ids = slices.DeleteFunc(ids, func(id prepaid.AccountID) bool { return !data.matches(server.Account(id)) })
	}
	ids, data.Pager = paginate(r, ids, listSize)
	data.Accounts = accountStates(server, ids)
	p.show(w, r, http.StatusOK, "accounts", layout{Title: "Accounts", Section: "accounts", Data: data})
}

func (d accountsData) matches(a prepaidtest.AccountState) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(d.Text)) }
	return (d.Status == "" || a.Status == d.Status) && (has(string(a.ID)) || has(a.ExternalID) || has(a.Key) || has(a.CardNumber))
}

type accountData struct {
	Account  prepaidtest.AccountState
	Items    []prepaidtest.Transaction
	Pager    pager
	Statuses []string
	Amount   string // as it was entered, when it cannot be used
	// PINChanges are shown as the cardholder's phone would.
	PINChanges  []prepaidtest.PINChange
	Fingerprint string // of the PIN certificate
}

func (p *Page) account(w http.ResponseWriter, r *http.Request) {
	p.showAccount(w, r, http.StatusOK, "", "")
}

func (p *Page) showAccount(w http.ResponseWriter, r *http.Request, status int, amount, problem string) {
	id, ok := p.known(w, r)
	if !ok {
		return
	}
	server := p.server.Load()
	data := accountData{Account: server.Account(id), Statuses: prepaidtest.AccountStatuses(), Amount: amount,
		PINChanges: server.PINChanges(id), Fingerprint: server.PINFingerprint()}
	items := server.Transactions(id)
	slices.Reverse(items)
	data.Items, data.Pager = paginate(r, items, listSize)
	data.Pager.Path = accountPath(id)
	page := layout{Title: "Account " + string(id), Section: "accounts", Data: data, Problem: problem, JSON: accountOf(server, id)}
	if problem != "" {
		page.Live = accountPath(id)
	}
	p.show(w, r, status, "account", page)
}

func accountPath(id prepaid.AccountID) string { return "/accounts/" + url.PathEscape(string(id)) }

// known is the account of the path; when there is none it responds to the request.
func (p *Page) known(w http.ResponseWriter, r *http.Request) (prepaid.AccountID, bool) {
	id := prepaid.AccountID(r.PathValue("id"))
	if !slices.Contains(p.server.Load().AccountIDs(), id) {
		p.notFound(w, r, "There is no such account.")
		return "", false
	}
	return id, true
}

func (p *Page) setStatus(w http.ResponseWriter, r *http.Request) {
	id, ok := p.known(w, r)
	if !ok {
		return
	}
	status := r.PostFormValue("status")
	if !slices.Contains(prepaidtest.AccountStatuses(), status) {
		p.showAccount(w, r, http.StatusUnprocessableEntity, "", "Choose one of the eleven statuses.")
		return
	}
	p.server.Load().SetStatus(id, status)
	done(w, r, accountPath(id), "status", accountOf(p.server.Load(), id))
}

// amountForm keeps what is entered within the range of money.
const amountForm = `^[+-]?[0-9]{1,9}(\.[0-9]{1,4})?$`

func (p *Page) adjust(w http.ResponseWriter, r *http.Request) {
	id, ok := p.known(w, r)
	if !ok {
		return
	}
	entered := strings.TrimSpace(r.PostFormValue("amount"))
	amount := strings.Replace(entered, "−", "-", 1)
	if !regexp.MustCompile(amountForm).MatchString(amount) {
		p.showAccount(w, r, http.StatusUnprocessableEntity, entered, "The amount must be a number such as 25, 12.50 or -3.00.")
		return
	}
	amount = strings.TrimPrefix(amount, "+")
	sign := ""
	if rest, negative := strings.CutPrefix(amount, "-"); negative {
		sign, amount = "-", rest
	}
	for len(amount) > 1 && amount[0] == '0' && amount[1] != '.' {
		amount = amount[1:]
	}
	server := p.server.Load()
	before := server.Account(id).Transactions
	server.Adjust(id, sign+amount)
	if server.Account(id).Transactions == before {
		p.showAccount(w, r, http.StatusUnprocessableEntity, entered, "The balance would be out of its range.")
		return
	}
	done(w, r, accountPath(id), "adjust", accountOf(p.server.Load(), id))
}

func (p *Page) activate(w http.ResponseWriter, r *http.Request) {
	id, ok := p.known(w, r)
	if !ok {
		return
	}
	if !p.server.Load().Account(id).Activatable {
		p.showAccount(w, r, http.StatusUnprocessableEntity, "", "Only a new card can be activated: one that is pre_active, inactive or active.")
		return
	}
	p.server.Load().ActivateThroughPortal(id)
	done(w, r, accountPath(id), "activate", accountOf(p.server.Load(), id))
}
