package page

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// action is a form of the page. A program gets its new state in JSON: docs/emulator-control.md lists paths, fields and states.
type action struct {
	path string
	// back is the screen that has the form.
	back, notice string
	// do returns the reason why the input is refused, or an empty string.
	do    func(input) (problem string)
	state func(input) any
}

// input is the input of an action.
type input struct {
	server *prepaidtest.Server
	id     prepaid.AccountID // in the path
	form   url.Values
}

func (in input) text(name string) string { return strings.TrimSpace(in.form.Get(name)) }

func actions() []action {
	const account = "/accounts/{id}"
	return []action{
		{"/clock", "/clock", "The clock has moved.", input.advance, input.clock},
		{"/accounts/{id}/status", account, "The status is set.", input.setStatus, input.account},
		{"/accounts/{id}/adjust", account, "The adjustment is booked.", input.adjust, input.account},
		{"/accounts/{id}/activate", account, "The card is activated.", input.activate, input.account},
		{"/faults", "/faults", "The fault is armed.", input.arm, input.faults},
		{"/faults/clear", "/faults", "The faults are cleared.", input.clearFaults, input.faults},
		{"/webhooks/faults", "/webhooks", "The fault is armed.", input.armDelivery, input.faults},
		{"/webhooks/faults/clear", "/webhooks", "The faults are cleared.", input.clearDeliveryFaults, input.faults},
	}
}

// press carries out an action. A refused form is shown again with its input.
func (p *Page) press(w http.ResponseWriter, r *http.Request, a action, back screen) {
	in := input{p.server, p.accountOf(r), r.PostForm}
	if r.PathValue("id") != "" && !slices.Contains(p.server.AccountIDs(), in.id) {
		p.show(w, r, http.StatusNotFound, view{}, "")
		return
	}
	if problem := a.do(in); problem != "" {
		p.show(w, r, http.StatusUnprocessableEntity, back(r), problem)
		return
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, a.state(in))
		return
	}
	address := strings.Replace(a.back, "{id}", url.PathEscape(string(in.id)), 1) + "?done=" + url.QueryEscape(a.path)
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// maxStep limits the effect of a typing mistake, since the clock cannot go back.
const maxStep = 10 * 365 * 24 * time.Hour

func (in input) advance() string {
	step, err := time.ParseDuration(in.text("by"))
	end := time.Date(2200, time.December, 31, 23, 59, 59, 0, time.UTC)
	switch {
	case err != nil || step <= 0 || step > maxStep:
		return "Enter a duration such as 90s, 5m or 36h, up to ten years."
	case step > end.Sub(in.server.Now()):
		return "The clock ends with the year 2200."
	}
	in.server.Advance(step)
	return ""
}

func (in input) setStatus() string {
	status := in.text("status")
	if !slices.Contains(prepaidtest.AccountStatuses(), status) {
		return "Choose one of the eleven statuses."
	}
	in.server.SetStatus(in.id, status)
	return ""
}

// decimal returns an entered amount as the emulator reads it. It returns false for an invalid amount or one of more than 19 digits.
func decimal(entered string) (string, bool) {
	entered = strings.TrimPrefix(strings.Replace(entered, "−", "-", 1), "+")
	parts := regexp.MustCompile(`^(-?)0*([0-9]+)(\.[0-9]{1,19})?$`).FindStringSubmatch(entered)
	if parts == nil {
		return "", false
	}
	digits := strings.TrimLeft(parts[2]+strings.TrimPrefix(parts[3], "."), "0")
	return parts[1] + parts[2] + parts[3], len(digits) <= 19
}

func (in input) adjust() string {
	amount, ok := decimal(in.text("amount"))
	if !ok {
		return "The amount must be a number such as 25, 12.50 or -3.00."
	}
	before := in.server.Account(in.id).Transactions
	in.server.Adjust(in.id, amount)
	if in.server.Account(in.id).Transactions == before {
		return "The balance would be out of its range."
	}
	return ""
}

func (in input) activate() string {
	if !in.server.Account(in.id).Activatable {
		return "Only a new card can be activated: one that is pre active, inactive or active."
	}
	in.server.ActivateThroughPortal(in.id)
	return ""
}

func (in input) arm() string {
	operation, form, times, probability := in.text("operation"), in.text("fault"), in.text("times"), in.text("probability")
	if operation != prepaidtest.AnyOperation && !slices.Contains(prepaidtest.Operations(), operation) {
		return "Choose an operation."
	}
	fault, err := prepaidtest.ParseFault(form)
	if err != nil {
		return unreadable(err)
	}
	if operation == "POST /token" && strings.HasPrefix(form, "expire-token") {
		return "A request for a token has no token that can expire."
	}
	const maxTimes = 1_000_000
	switch n, err := strconv.Atoi(times); {
	case !in.form.Has("times"): // the text of the fault includes the number
	case times == "":
		fault = fault.Always()
	case err != nil || n < 1 || n > maxTimes:
		return "Times must be a number from 1 to 1,000,000, or empty for always."
	case n > 1 || probability != "":
		fault = fault.Times(n)
	}
	if probability != "" {
		p, err := strconv.ParseFloat(probability, 64)
		if err != nil || !(p > 0 && p <= 1) {
			return "The probability must be above 0 and at most 1, such as 0.25."
		}
		fault = fault.WithProbability(p)
	}
	in.server.Inject(operation, fault)
	return ""
}

// unreadable explains why an entered fault is invalid.
func unreadable(err error) string {
	_, rule, _ := strings.Cut(strings.TrimPrefix(err.Error(), "prepaidtest: "), ": ")
	return "The fault cannot be read: " + rule + ". All forms are explained below."
}

func (in input) clearFaults() string {
	if operation := in.text("operation"); operation != "" {
		in.server.RemoveFaults(operation)
	} else {
		in.server.ClearFaults()
	}
	return ""
}

func (in input) armDelivery() string {
	hook := prepaid.HookID(in.text("hook"))
	fault, err := prepaidtest.ParseDeliveryFault(in.text("fault"))
	switch {
	case hook != "" && !slices.ContainsFunc(in.server.Hooks(), func(h prepaidtest.HookState) bool { return h.ID == hook }):
		return "Choose a webhook."
	case err != nil:
		return unreadable(err)
	}
	in.server.InjectDelivery(hook, fault)
	return ""
}

func (in input) clearDeliveryFaults() string {
	in.server.ClearDeliveryFaults()
	return ""
}
