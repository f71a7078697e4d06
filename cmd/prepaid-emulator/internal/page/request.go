package page

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/gotest"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

type requestData struct {
	Request            prepaidtest.Request
	Query              [][2]string
	Headers            [][2]string
	ResponseHeaders    [][2]string
	Body, ResponseBody string
	Sent               []prepaidtest.Request // all with the same request id, oldest first
	Movements          int
	BodyDiffers        bool // from that of the first request with the id
	FaultEffect        string
	Account            bool              // the account exists
	Created            prepaid.AccountID // the account that this request created
	Transaction        string
	TransactionLink    string // empty if the account lacks the transaction
	Newer, Older       int64
	Filter             string
	Curl, GoTest       string
	NoGoTest           string // why GoTest is absent
	Operation          string
	NoAgain            string // why the request cannot be sent again as it was
	Send               sendForm
	Methods            []string
}

// logged returns the log, newest first, and the index of the path's request. If that is missing, logged responds and returns -1.
func (p *Page) logged(w http.ResponseWriter, r *http.Request) ([]prepaidtest.Request, int) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	list := newestRequests(p.server.Load())
	i := slices.IndexFunc(list, func(request prepaidtest.Request) bool { return err == nil && request.Number == number })
	if i < 0 {
		p.notFound(w, r, "There is no such request, or the log no longer reaches back to it.")
	}
	return list, i
}

func (p *Page) request(w http.ResponseWriter, r *http.Request) {
	if list, i := p.logged(w, r); i >= 0 {
		p.showRequest(w, r, http.StatusOK, list, i, sendForm{}, "")
	}
}

func (p *Page) showRequest(w http.ResponseWriter, r *http.Request, status int, list []prepaidtest.Request, i int, form sendForm, problem string) {
	server := p.server.Load()
	request, filter := list[i], filterOf(r)
	ids := server.AccountIDs()
	data := requestData{
		Request: request, Query: pairs(request.Query), Headers: pairs(request.Header), ResponseHeaders: pairs(request.ResponseHeader),
		Body: readable(request.Body), ResponseBody: readable(request.ResponseBody), FaultEffect: faultEffect(request.FaultForm), Filter: filter.Query(),
		Account: slices.Contains(ids, request.AccountID), Transaction: transactionID(request), Curl: curl(p.base(r), request),
		NoAgain: asItWas(request).incomplete(), Send: form, Methods: methods(),
	}
	if !form.Edited {
		data.Send = toEdit(request)
	}
	if request.Template != "" {
		data.Operation = request.Method + " " + request.Template
	}
	if request.RequestID != "" {
		data.repeats(list)
		data.Movements = server.Movements(request.RequestID)
	}
	var err error
	if data.GoTest, err = gotest.Write(request); err != nil {
		data.NoGoTest = err.Error()
	}
	if data.Account && data.Transaction != "" {
		data.TransactionLink = transactionLink(server, request.AccountID, data.Transaction)
	}
	data.Created = created(server, ids, request)
	data.neighbours(filter, list, p.table(nil, "").Twice)
	page := layout{Title: "Request " + strconv.FormatInt(request.Number, 10), Section: "requests", Data: data, Problem: problem}
	if problem != "" {
		page.Live = "/requests/" + strconv.FormatInt(request.Number, 10)
	}
	p.show(w, r, status, "request", page)
}

// repeats finds the requests with the same request id.
func (d *requestData) repeats(newest []prepaidtest.Request) {
	for _, other := range slices.Backward(newest) {
		if other.RequestID == d.Request.RequestID && other.Method == d.Request.Method && other.Template == d.Request.Template {
			d.Sent = append(d.Sent, other)
		}
	}
	d.BodyDiffers = d.Sent[0].Body != d.Request.Body || d.Sent[0].Path != d.Request.Path
}

// neighbours finds the requests before and after this request, among those that the filter selects.
func (d *requestData) neighbours(filter requestFilter, newest []prepaidtest.Request, twice map[prepaid.RequestID]bool) {
	for _, other := range newest {
		switch {
		case other.Number == d.Request.Number || !filter.fits(other, twice):
		case other.Number > d.Request.Number:
			d.Newer = other.Number
		case d.Older == 0:
			d.Older = other.Number
		}
	}
}

// faultEffect describes the effect of a fault, in words.
func faultEffect(form string) string {
	name, _, _ := strings.Cut(form, " ")
	for _, known := range splitForms(prepaidtest.FaultForms()) {
		if first, _, _ := strings.Cut(known[0], " "); name != "" && first == name {
			if _, later, found := strings.Cut(form, "commit-after "); found {
				return strings.Replace(known[1], ", nothing carried out", "; carried out "+later+" later", 1)
			}
			return known[1]
		}
	}
	return ""
}

// created finds the account that a request created. The response does not have the account's id.
func created(server *prepaidtest.Server, ids []prepaid.AccountID, r prepaidtest.Request) prepaid.AccountID {
	external, _ := membersOf(r.ResponseBody)["external_account_id"].(string)
	if r.Method != http.MethodPost || r.Template != "/accounts" || external == "" {
		return ""
	}
	for _, id := range slices.Backward(ids) {
		if server.Account(id).ExternalID == external {
			return id
		}
	}
	return ""
}

// transactionLink leads to a transaction's row, on the right page of its account.
func transactionLink(server *prepaidtest.Server, id prepaid.AccountID, transaction string) string {
	items := server.Transactions(id)
	slices.Reverse(items)
	i := slices.IndexFunc(items, func(item prepaidtest.Transaction) bool { return string(item.ID) == transaction })
	if i < 0 {
		return ""
	}
	return accountPath(id) + "?page=" + strconv.Itoa(i/accountItems+1) + "#t" + transaction
}

// pairs are names and values, sorted by name, without personal data.
func pairs(values map[string][]string) [][2]string {
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := strings.Join(values[name], ", ")
		if personal.Hidden(name) {
			value = concealed
		}
		list = append(list, [2]string{name, value})
	}
	return list
}

// curl is the request as a command for this emulator. Masked text stays masked, and the token is a variable.
func curl(base string, r prepaidtest.Request) string {
	var text strings.Builder
	text.WriteString("curl -i")
	if r.Method != http.MethodGet && (r.Method != http.MethodPost || r.Body == "") {
		text.WriteString(" -X " + r.Method)
	}
	if r.Template == "/token" {
		text.WriteString(` -u "$PREPAID_CLIENT_ID:$PREPAID_CLIENT_SECRET"`)
	} else {
		text.WriteString(` -H "Authorization: Bearer $TOKEN"`)
	}
	if kind := r.Header.Get("Content-Type"); kind != "" && r.Body != "" {
		text.WriteString(" \\\n  -H " + Quote("Content-Type: "+kind))
	}
	if r.Body != "" {
		text.WriteString(" \\\n  --data-raw " + Quote(compact(r.Body)))
	}
	text.WriteString(" \\\n  " + Quote(strings.TrimSuffix(base, "/3.0/")+target(r.Path, shownQuery(r.Query))))
	return text.String()
}

// shownQuery is a query without personal data.
func shownQuery(query url.Values) url.Values {
	shown := maps.Clone(query)
	for name := range shown {
		if personal.Hidden(name) {
			shown[name] = []string{concealed}
		}
	}
	return shown
}

// Quote quotes a text as one word for a POSIX shell.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
