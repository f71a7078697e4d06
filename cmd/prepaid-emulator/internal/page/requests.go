package page

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/gotest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// requestsTable is the data of the template with that name.
type requestsTable struct {
	Requests []prepaidtest.Request
	Now      time.Time
	Query    string // of links: the current filter
	Twice    map[prepaid.RequestID]bool
	Compact  bool // with fewer columns, for a narrow place
	Select   bool // rows can be selected, for a test
}

// Link is the address of a request, with the current filter.
func (t requestsTable) Link(number int64) string {
	return "/requests/" + strconv.FormatInt(number, 10) + t.Query
}

// table shows requests, in the order given.
func (p *Page) table(list []prepaidtest.Request, query string) requestsTable {
	server := p.server.Load()
	table := requestsTable{Requests: list, Now: server.Now(), Query: query, Twice: make(map[prepaid.RequestID]bool)}
	for _, id := range server.PaidTwice() {
		table.Twice[id] = true
	}
	return table
}

// requestFilter selects requests; it is the query of the page.
type requestFilter struct{ Text, Operation, Outcome string }

func filterOf(r *http.Request) requestFilter {
	query := r.URL.Query()
	return requestFilter{strings.TrimSpace(query.Get("text")), query.Get("operation"), query.Get("outcome")}
}

// Query is the filter as a query, empty for none.
func (f requestFilter) Query() string {
	query := make(url.Values)
	for name, value := range map[string]string{"text": f.Text, "operation": f.Operation, "outcome": f.Outcome} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// outcome is a value of the filter, with its label and the requests that it selects.
type outcome struct {
	Value, Label string
	fits         func(r prepaidtest.Request, twice bool) bool
}

func outcomes() []outcome {
	return []outcome{
		{"", "any", func(prepaidtest.Request, bool) bool { return true }},
		{"ok", "succeeded", func(r prepaidtest.Request, _ bool) bool { return !failed(r) }},
		{"failed", "refused, failed or cut", func(r prepaidtest.Request, _ bool) bool { return failed(r) }},
		{"refused", "refused (4xx or declined)", func(r prepaidtest.Request, _ bool) bool { return r.Status/100 == 4 || refusal(r) != "" }},
		{"error", "failed (5xx)", func(r prepaidtest.Request, _ bool) bool { return r.Status >= http.StatusInternalServerError }},
		{"cut", "cut without a response", func(r prepaidtest.Request, _ bool) bool { return r.Status == 0 }},
		{"repeat", "repeat of a request ID", func(r prepaidtest.Request, _ bool) bool { return r.RepeatOf != 0 }},
		{"twice", "paid more than once", func(_ prepaidtest.Request, twice bool) bool { return twice }},
		{"fault", "met a fault", func(r prepaidtest.Request, _ bool) bool { return r.Fault }},
	}
}

func (f requestFilter) fits(r prepaidtest.Request, twice map[prepaid.RequestID]bool) bool {
	if f.Operation != "" && r.Method+" "+r.Template != f.Operation {
		return false
	}
	for _, known := range outcomes() {
		if known.Value == f.Outcome && !known.fits(r, twice[r.RequestID]) {
			return false
		}
	}
	return f.Text == "" || f.found(r)
}

// found searches the text that a request's page shows. This text has no secrets and no personal data.
func (f requestFilter) found(r prepaidtest.Request) bool {
	text := strings.ToLower(f.Text)
	contains := func(places ...string) bool {
		return slices.ContainsFunc(places, func(place string) bool { return strings.Contains(strings.ToLower(place), text) })
	}
	path, err := url.PathUnescape(r.Path)
	if err != nil {
		path = r.Path
	}
	if text == strconv.Itoa(r.Status) || text == "#"+strconv.FormatInt(r.Number, 10) ||
		contains(r.Method+" "+path, r.Path, string(r.AccountID), string(r.RequestID), r.ErrorCode, r.ErrorDescription, r.FaultForm, r.Amount, shownAmount(r.Amount)) ||
		contains(readable(r.Body), readable(r.ResponseBody)) {
		return true
	}
	return slices.ContainsFunc(pairs(r.Query), func(pair [2]string) bool { return contains(pair[0] + "=" + pair[1]) }) ||
		slices.ContainsFunc(append(pairs(r.Header), pairs(r.ResponseHeader)...), func(pair [2]string) bool { return contains(pair[1]) })
}

func (f requestFilter) apply(list []prepaidtest.Request, twice map[prepaid.RequestID]bool) []prepaidtest.Request {
	if f == (requestFilter{}) {
		return list
	}
	return slices.DeleteFunc(list, func(r prepaidtest.Request) bool { return !f.fits(r, twice) })
}

type requestsData struct {
	Table      requestsTable
	Filter     requestFilter
	Operations []string
	Outcomes   []outcome
	All        int
	Pager      pager
}

func (p *Page) requests(w http.ResponseWriter, r *http.Request) {
	list := newestRequests(p.server.Load())
	filter := filterOf(r)
	data := requestsData{All: len(list), Filter: filter, Operations: prepaidtest.Operations(), Outcomes: outcomes()}
	data.Table = p.table(nil, filter.Query())
	data.Table.Select = true
	data.Table.Requests, data.Pager = paginate(r, filter.apply(list, data.Table.Twice), listSize)
	p.show(w, r, http.StatusOK, "requests", layout{Title: "Requests", Section: "requests", Data: data})
}

type storyData struct {
	Requests []int64
	GoTest   string
}

// story shows the selected requests as one Go test.
func (p *Page) story(w http.ResponseWriter, r *http.Request) {
	server := p.server.Load()
	list := slices.DeleteFunc(server.Requests(), func(request prepaidtest.Request) bool {
		return !slices.Contains(r.URL.Query()["n"], strconv.FormatInt(request.Number, 10))
	})
	page := layout{Title: "Requests as a Go test", Section: "requests"}
	text, err := gotest.Write(list...)
	if err != nil {
		page.Problem = "No Go test: " + err.Error() + "."
		p.show(w, r, http.StatusUnprocessableEntity, "problem", page)
		return
	}
	data := storyData{GoTest: text}
	for _, request := range list {
		data.Requests = append(data.Requests, request.Number)
	}
	page.Data = data
	p.show(w, r, http.StatusOK, "story", page)
}

// repeated describes whether a repeat moved money. It is empty for a request that is not a repeat.
func repeated(r prepaidtest.Request) string {
	switch {
	case r.RepeatOf == 0 || !slices.Contains(heldOperations(), r.Method+" "+r.Template):
		return ""
	case r.Replayed:
		return "kept response"
	case strings.Contains(r.FaultForm, "commit-after"):
		return "carried out later"
	case gotest.Moved(r):
		return "moved money"
	}
	return "moved no money"
}

// destination is the account that a transfer pays.
func destination(r prepaidtest.Request) string {
	id, _ := membersOf(r.Body)["destination_account_id"].(string)
	return id
}

// failed reports whether the request was refused, failed or cut.
func failed(r prepaidtest.Request) bool {
	return r.Status == 0 || r.Status >= http.StatusBadRequest || refusal(r) != ""
}

// segment is a part of a path. Values from the caller are highlighted.
type segment struct {
	Text string
	Own  bool
}

// segments removes the prefix of a path and finds the caller's values.
func segments(r prepaidtest.Request) []segment {
	path := strings.TrimPrefix(r.Path, "/3.0")
	parts, names := strings.Split(path, "/"), strings.Split(r.Template, "/")
	if len(parts) != len(names) {
		return []segment{{path, false}}
	}
	var list []segment
	for i, part := range parts {
		if i > 0 {
			list = append(list, segment{"/", false})
		}
		list = append(list, segment{part, strings.HasPrefix(names[i], "{")})
	}
	return list
}

// took rounds a duration for display.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// clockTime is a time of day. The date precedes it unless that is today.
func clockTime(now, at time.Time) string {
	if now, at = now.UTC(), at.UTC(); now.Format(time.DateOnly) == at.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.UTC().Format("2 Jan 15:04:05")
}

// shownAmount groups the digits of a plain number and leaves any other amount as written.
func shownAmount(text string) string {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if whole == "" || len(whole) > 12 || strings.Trim(whole+fraction, "0123456789") != "" {
		return text
	}
	for len(fraction) < 2 {
		fraction += "0"
	}
	if strings.HasPrefix(text, "-") {
		whole = "-" + whole
	}
	return money(whole + "." + fraction)
}

// refusal is the reason why nothing was done despite the status 200. It is empty for other responses.
func refusal(r prepaidtest.Request) string {
	if r.Status != http.StatusOK {
		return ""
	}
	switch body := membersOf(r.ResponseBody); {
	case strings.HasSuffix(r.Template, "/transfer") && body != nil && transactionID(r) == "":
		return "not made: " + notMade(r)
	case strings.HasPrefix(r.Template, "/funding/") && body["outcome"] == "declined":
		return "declined"
	case strings.HasPrefix(r.Template, "/simulation/"):
		if done, known := body["success"].(bool); known && !done {
			message, _ := body["message"].(string)
			return cmp.Or(message, "no success")
		}
	}
	return ""
}

// notMade returns the reason why a transfer was not made, if the account's state shows the reason.
func notMade(r prepaidtest.Request) string {
	amount, err := prepaid.ParseAmount(r.Amount)
	balance, balanceErr := prepaid.ParseAmount(r.AccountBalance)
	switch {
	case r.AccountStatus != "" && r.AccountStatus != "active":
		return "the account was " + words(r.AccountStatus)
	case err == nil && balanceErr == nil && amount.Compare(balance) > 0:
		return "the balance was " + money(r.AccountBalance)
	}
	return "the destination cannot take it"
}

// outcomeTone is the colour of a response.
func outcomeTone(r prepaidtest.Request) string {
	if refusal(r) != "" {
		return "warn"
	}
	return statusTone(r.Status)
}
