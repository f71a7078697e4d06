package page

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// simulate uses the card: a purchase, a refund, or the reversal or clearing of a purchase.
func (p *Page) simulate(w http.ResponseWriter, r *http.Request, id prepaid.AccountID) {
	do := r.PostFormValue("do")
	switch do {
	case "purchase", "refund":
		p.useCard(w, r, id, do)
	case "reverse", "clear":
		p.follow(w, r, id, do)
	default:
		p.refuse(w, r, id, accountForm{}, "Choose purchase, refund, reverse or clear.")
	}
}

func (p *Page) useCard(w http.ResponseWriter, r *http.Request, id prepaid.AccountID, do string) {
	usual := usualCard()
	field := func(name, otherwise string) string {
		if _, sent := r.PostForm[name]; !sent {
			return otherwise // a program sends only some fields
		}
		return strings.TrimSpace(r.PostFormValue(name))
	}
	form := cardForm{
		Amount: field("amount", ""), Category: field("category", usual.Category), Merchant: field("merchant", usual.Merchant),
		Terminal: field("terminal", usual.Terminal), Acquirer: field("acquirer", usual.Acquirer), Place: field("place", usual.Place),
	}
	usual.Amount = form.Amount
	form.Changed = form != usual
	amount, ok := decimal(form.Amount)
	problem := ""
	switch {
	case !ok || strings.HasPrefix(amount, "-") || strings.Trim(amount, "0.") == "":
		problem = "The amount must be a number above zero, such as 18.90."
	case !regexp.MustCompile(`^([0-9]{4})?$`).MatchString(form.Category):
		problem = "The merchant category must have four digits, such as 5411."
	case slices.Max([]int{len(form.Merchant), len(form.Terminal), len(form.Acquirer), len(form.Place)}) > longestField:
		problem = "A field of the merchant is too long."
	}
	if problem != "" {
		p.refuse(w, r, id, accountForm{Card: form}, problem)
		return
	}
	p.carryOut(w, r, id, do, accountForm{Card: form}, prepaidtest.Simulation{
		AccountID: id, Type: map[string]string{"purchase": "Purchase", "refund": "PosCredit"}[do], Amount: amount, Location: form.Place,
		MerchantCategoryCode: form.Category, CardAcceptorID: form.Merchant, TerminalID: form.Terminal, AcquirerID: form.Acquirer,
	})
}

// longestField bounds the texts of a merchant.
const longestField = 100

func (p *Page) follow(w http.ResponseWriter, r *http.Request, id prepaid.AccountID, do string) {
	entered := accountForm{Authorization: r.PostFormValue("authorization_id"), Part: strings.TrimSpace(r.PostFormValue("amount"))}
	made := p.server.Load().Authorizations(id)
	i := slices.IndexFunc(made, func(a prepaidtest.Authorization) bool { return a.ID == entered.Authorization })
	if i < 0 {
		p.refuse(w, r, id, entered, "The account has no such authorisation.")
		return
	}
	amount, ok := decimal(cmp.Or(entered.Part, made[i].Amount))
	if !ok || strings.HasPrefix(amount, "-") || strings.Trim(amount, "0.") == "" {
		p.refuse(w, r, id, entered, "The amount must be a number above zero, such as "+made[i].Amount+".")
		return
	}
	p.carryOut(w, r, id, do, entered, prepaidtest.Simulation{Operation: do, AuthorizationID: entered.Authorization, Amount: amount})
}

// carryOut runs the requested operation, or shows why the simulator refuses it.
func (p *Page) carryOut(
	w http.ResponseWriter, r *http.Request, id prepaid.AccountID, do string, entered accountForm, wanted prepaidtest.Simulation,
) {
	server := p.server.Load()
	result := server.Simulate(wanted)
	if !result.Success {
		p.refuse(w, r, id, entered, whyNot(result.Message, server.Account(id)))
		return
	}
	done(w, r, accountPath(id), do, accountOf(server, id))
}

// whyNot makes a sentence of the simulator's message.
func whyNot(message string, a prepaidtest.AccountState) string {
	switch message {
	case "Insufficient funds":
		return "Declined: the balance is only " + money(a.Balance) + " AUD."
	case "Declined by policy":
		return "Declined by the policy of the company, which its page shows under Companies."
	case "Account closed", "Account not active", "Plastic not enabled":
		return noCard(a)
	}
	return "Declined: " + strings.ToLower(message[:1]) + message[1:] + "."
}
