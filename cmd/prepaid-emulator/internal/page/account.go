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

type accountData struct {
	Account prepaidtest.AccountState
	Chart   chart
	Items   []prepaidtest.Transaction
	Pager   pager
	// Open and Older are the purchases that can be reversed or cleared, newest first.
	Open, Older []prepaidtest.Authorization
	Requests    requestsTable // the newest about the account
	Asked       int           // number of all requests about the account
	Running     int           // transfers from the account
	Statuses    []string      // to choose
	Effect      string        // of a status other than active
	NoCard      string        // why the card cannot be used; empty if it can be used
	Entered     accountForm
	// PINChanges are shown as on the cardholder's phone.
	PINChanges  []prepaidtest.PINChange
	Fingerprint string // of the PIN certificate, while a change is pending
}

// accountForm is the input of a refused form.
type accountForm struct {
	Adjust, Status string
	Card           cardForm
	// Authorization is the purchase in the refused form, and Part is the entered amount.
	Authorization, Part string
}

// cardForm is the form of a purchase or refund.
type cardForm struct {
	Amount, Category, Merchant, Terminal, Acquirer, Place string
	Changed                                               bool // whether a merchant field differs from usualCard
}

// usualCard is a purchase in a grocery store.
func usualCard() cardForm {
	return cardForm{Category: "5411", Merchant: "GROCER000000001", Terminal: "T0000001", Acquirer: "400001", Place: "Sydney"}
}

const (
	accountItems    = 20
	accountRequests = 8
	accountOpen     = 3
)

func (p *Page) account(w http.ResponseWriter, r *http.Request, id prepaid.AccountID) {
	p.showAccount(w, r, id, http.StatusOK, accountForm{Card: usualCard()}, "")
}

// refuse shows the account with the refused input and the reason.
func (p *Page) refuse(w http.ResponseWriter, r *http.Request, id prepaid.AccountID, entered accountForm, problem string) {
	if entered.Card == (cardForm{}) {
		entered.Card = usualCard()
	}
	p.showAccount(w, r, id, http.StatusUnprocessableEntity, entered, problem)
}

func (p *Page) showAccount(w http.ResponseWriter, r *http.Request, id prepaid.AccountID, status int, entered accountForm, problem string) {
	server := p.server.Load()
	state, items := server.Account(id), server.Transactions(id)
	data := accountData{
		Account: state, Chart: chartOf(items), Entered: entered, Effect: effectOf(state.Status), NoCard: noCard(state),
		Statuses:   slices.DeleteFunc(prepaidtest.AccountStatuses(), func(status string) bool { return status == state.Status }),
		PINChanges: server.PINChanges(id),
	}
	if len(data.PINChanges) > 0 { // otherwise there may be no certificate yet, and to make one takes a moment
		data.Fingerprint = server.PINFingerprint()
	}
	slices.Reverse(items)
	data.Items, data.Pager = paginate(r, items, accountItems)
	data.Pager.Path = accountPath(id)
	for _, running := range server.RunningTransfers() {
		if running.AccountID == id {
			data.Running++
		}
	}
	data.Open = slices.DeleteFunc(server.Authorizations(id), func(made prepaidtest.Authorization) bool {
		return made.State != "open" || made.Type != "Purchase"
	})
	slices.Reverse(data.Open)
	if n := len(data.Open); n > accountOpen {
		data.Open, data.Older = data.Open[:accountOpen], data.Open[accountOpen:]
	}
	asked := slices.DeleteFunc(newestRequests(server), func(request prepaidtest.Request) bool { return !names(request, id) })
	data.Asked = len(asked)
	data.Requests = p.table(asked[:min(data.Asked, accountRequests)], "?text="+url.QueryEscape(string(id)))
	data.Requests.Compact = true
	page := layout{Title: "Account " + string(id), Section: "accounts", Data: data, Problem: problem, JSON: accountOf(server, id)}
	if problem != "" {
		page.Live = accountPath(id)
	}
	p.show(w, r, status, "account", page)
}

// names reports whether a request's path or body names an account, perhaps as the destination.
func names(r prepaidtest.Request, id prepaid.AccountID) bool {
	return r.AccountID == id || strings.Contains(r.Body, `"`+string(id)+`"`)
}

// effectOf lists the operations that a status forbids.
func effectOf(status string) string {
	switch status {
	case "active":
		return ""
	case "closed", "replaced", "expired", "lost_or_stolen", "deactivated":
		return "Transfers to and from this account fail, and its card is refused. The reference shows no status that is final: " +
			"you can set any other one, also active."
	}
	return "Transfers from this account fail, and its card is refused. It still takes money."
}

// noCard returns the reason why the simulator refuses the card.
func noCard(a prepaidtest.AccountState) string {
	switch {
	case a.Status != "active":
		return "The card is refused, because the account is " + words(a.Status) + ". Set the status to active to use the card."
	case !a.PlasticEnabled:
		return "The card is refused, because the plastic is off. Switch it on with PUT /accounts/{id}/plastic to use the card."
	}
	return ""
}

func accountPath(id prepaid.AccountID) string { return "/accounts/" + url.PathEscape(string(id)) }

// onAccount calls a handler with the account of the path, if there is one.
func (p *Page) onAccount(handle func(http.ResponseWriter, *http.Request, prepaid.AccountID)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := prepaid.AccountID(r.PathValue("id"))
		if !slices.Contains(p.server.Load().AccountIDs(), id) {
			p.notFound(w, r, "There is no such account.")
			return
		}
		handle(w, r, id)
	}
}

func (p *Page) setStatus(w http.ResponseWriter, r *http.Request, id prepaid.AccountID) {
	status := r.PostFormValue("status")
	if !slices.Contains(prepaidtest.AccountStatuses(), status) {
		p.refuse(w, r, id, accountForm{Status: status}, "Choose one of the eleven statuses.")
		return
	}
	p.server.Load().SetStatus(id, status)
	done(w, r, accountPath(id), "status", accountOf(p.server.Load(), id))
}

const amountForm = `^[+-]?[0-9]+(\.[0-9]{1,19})?$`

// decimal returns an entered amount as the emulator reads it. It returns false for an invalid amount or one of more than 19 digits.
func decimal(entered string) (string, bool) {
	amount := strings.Replace(entered, "−", "-", 1)
	if !regexp.MustCompile(amountForm).MatchString(amount) {
		return "", false
	}
	amount = strings.TrimPrefix(amount, "+")
	sign := ""
	if rest, negative := strings.CutPrefix(amount, "-"); negative {
		sign, amount = "-", rest
	}
	for len(amount) > 1 && amount[0] == '0' && amount[1] != '.' {
		amount = amount[1:]
	}
	digits := strings.TrimLeft(strings.Replace(amount, ".", "", 1), "0")
	return sign + amount, len(digits) <= 19
}

func (p *Page) adjust(w http.ResponseWriter, r *http.Request, id prepaid.AccountID) {
	entered := strings.TrimSpace(r.PostFormValue("amount"))
	amount, ok := decimal(entered)
	if !ok {
		p.refuse(w, r, id, accountForm{Adjust: entered}, "The amount must be a number such as 25, 12.50 or -3.00.")
		return
	}
	server := p.server.Load()
	before := server.Account(id).Transactions
	server.Adjust(id, amount)
	if server.Account(id).Transactions == before {
		p.refuse(w, r, id, accountForm{Adjust: entered}, "The balance would be out of its range.")
		return
	}
	done(w, r, accountPath(id), "adjust", accountOf(p.server.Load(), id))
}

func (p *Page) activate(w http.ResponseWriter, r *http.Request, id prepaid.AccountID) {
	if !p.server.Load().Account(id).Activatable {
		p.refuse(w, r, id, accountForm{}, "Only a new card can be activated: one that is pre active, inactive or active.")
		return
	}
	p.server.Load().ActivateThroughPortal(id)
	done(w, r, accountPath(id), "activate", accountOf(p.server.Load(), id))
}

// pinCertificate sends the operator's public certificate for PIN changes.
func (p *Page) pinCertificate(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Header().Set("Content-Disposition", `attachment; filename="pin-certificate.pem"`)
	_, _ = w.Write(p.server.Load().PINCertificate()) // fails if the reader has disconnected
}
