package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest"
)

type faultsData struct {
	Armed      []prepaidtest.ArmedFault
	Operations []string
	Forms      [][2]string // syntax and effect
	// Suggestions are faults that can be armed unchanged.
	Suggestions []string
	Entered     faultForm
}

// faultForm holds the fields of the form.
type faultForm struct {
	Operation, Fault, Times, Probability string
	asWritten                            bool // Times is ignored: the text of the fault includes the number
}

func splitForms(forms []string) [][2]string {
	var list [][2]string
	for _, form := range forms {
		written, effect, _ := strings.Cut(form, ": ")
		list = append(list, [2]string{written, effect})
	}
	return list
}

func suggestions() []string {
	return []string{
		"commit-then-drop", "drop-before-commit", "truncate", "proxy-page 502 commit-after 12s", "respond 500", "respond 503", "delay 2s", "too-many-requests 2s",
		"slow-body 50ms", "proxy-page 502", "expire-token",
	}
}

func (p *Page) faults(w http.ResponseWriter, r *http.Request) {
	p.showFaults(w, r, http.StatusOK, faultForm{Operation: r.URL.Query().Get("operation"), Times: "1"}, "")
}

func (p *Page) showFaults(w http.ResponseWriter, r *http.Request, status int, entered faultForm, problem string) {
	p.show(w, r, status, "faults", layout{Title: "Faults", Section: "faults", Problem: problem, JSON: faultsOf(p.server.Load()), Data: faultsData{
		Armed: p.server.Load().Faults(), Operations: append([]string{prepaidtest.AnyOperation}, prepaidtest.Operations()...),
		Forms: splitForms(prepaidtest.FaultForms()), Suggestions: suggestions(), Entered: entered,
	}})
}

func (p *Page) arm(w http.ResponseWriter, r *http.Request) {
	form := faultForm{
		Operation: r.PostFormValue("operation"), Fault: strings.TrimSpace(r.PostFormValue("fault")),
		Times: strings.TrimSpace(r.PostFormValue("times")), Probability: strings.TrimSpace(r.PostFormValue("probability")),
	}
	_, timed := r.PostForm["times"]
	form.asWritten = !timed
	fault, problem := form.fault()
	if problem != "" {
		p.showFaults(w, r, http.StatusUnprocessableEntity, form, problem)
		return
	}
	p.server.Load().Inject(form.Operation, fault)
	done(w, r, "/faults", "armed", faultsOf(p.server.Load()))
}

func (f faultForm) fault() (fault prepaidtest.Fault, problem string) {
	if f.Operation != prepaidtest.AnyOperation && !slices.Contains(prepaidtest.Operations(), f.Operation) {
		return fault, "Choose an operation."
	}
	fault, err := prepaidtest.ParseFault(f.Fault)
	if err != nil {
		return fault, unreadable(err, prepaidtest.FaultForms())
	}
	if f.Operation == "POST /token" && strings.HasPrefix(f.Fault, "expire-token") {
		return fault, "A request for a token has no token that can expire."
	}
	switch n, err := strconv.Atoi(f.Times); {
	case f.asWritten:
	case f.Times == "":
		fault = fault.Always()
	case err != nil || n < 1 || n > maxTimes:
		return fault, "Times must be a number from 1 to 1,000,000, or empty for always."
	case n > 1 || f.Probability != "":
		fault = fault.Times(n)
	}
	if f.Probability == "" {
		return fault, ""
	}
	probability, err := strconv.ParseFloat(f.Probability, 64)
	if err != nil || !(probability > 0 && probability <= 1) {
		return fault, "The probability must be above 0 and at most 1, such as 0.25."
	}
	return fault.WithProbability(probability), ""
}

// unreadable explains why an entered fault is invalid, and the syntax of faults.
func unreadable(err error, forms []string) string {
	what, rule, _ := strings.Cut(strings.TrimPrefix(err.Error(), "prepaidtest: "), ": ")
	name := what[strings.LastIndex(what, " ")+1:]
	for _, form := range splitForms(forms) {
		if word, _, _ := strings.Cut(form[0], " "); word == name {
			return "The fault cannot be read: " + rule + ". It is written " + form[0] + "."
		}
	}
	return "The fault cannot be read: " + rule + ". All forms are explained below."
}

const maxTimes = 1_000_000

func (p *Page) clearFaults(w http.ResponseWriter, r *http.Request) {
	if operation := r.PostFormValue("operation"); operation != "" {
		p.server.Load().RemoveFaults(operation)
	} else {
		p.server.Load().ClearFaults()
	}
	done(w, r, "/faults", "cleared", faultsOf(p.server.Load()))
}
