package page

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/gotest"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// newest returns the log, newest first.
func (p *Page) newest() []prepaidtest.Request { return reversed(p.server.Requests()) }

// requestRow is a request in a list.
type requestRow struct {
	Request, Response []cell
	Amount            string
	Duration          time.Duration
	Time              time.Time
}

func (p *Page) requestTable(list []prepaidtest.Request) *table {
	twice := p.server.PaidTwice()
	t := tableOf(each(list, func(r prepaidtest.Request) requestRow {
		path := "/requests/" + strconv.FormatInt(r.Number, 10)
		request := []cell{{Text: r.Method + " " + strings.TrimPrefix(r.Path, "/3.0"), Link: path, Class: "route"}}
		if r.RequestID != "" {
			request = append(request, cell{Text: string(r.RequestID), Class: "small code"})
		}
		return requestRow{append(request, remarks(r, slices.Contains(twice, r.RequestID))...), []cell{outcome(r)}, r.Amount, r.Duration, r.Time}
	}), "Request", "Response", "Amount", "Duration:Took", "Time:Time, UTC")
	for i, r := range list {
		t.Rows[i].Key = "r" + strconv.FormatInt(r.Number, 10)
	}
	return t
}

// outcome is the badge of a response.
func outcome(r prepaidtest.Request) cell {
	badge := statusBadge(r.Status)
	if refusal(r) != "" {
		badge.Tone = "warn"
	}
	return badge
}

// remarks are the badges of a request: repeats, faults and refusals.
func remarks(r prepaidtest.Request, twice bool) []cell {
	var list []cell
	add := func(shown bool, text, tone string) {
		if shown {
			list = append(list, cell{Text: text, Tone: tone})
		}
	}
	add(r.RepeatOf != 0, "repeat of #"+strconv.FormatInt(r.RepeatOf, 10), "calm")
	add(r.Replayed, "kept response", "dull")
	later := strings.Contains(r.FaultForm, "commit-after")
	if r.RepeatOf != 0 && !r.Replayed && slices.Contains(heldOperations(), r.Method+" "+r.Template) {
		moved := gotest.Moved(r)
		add(later, "carried out later", "dull")
		add(!later && moved, "moved money", "warn")
		add(!later && !moved, "moved no money", "dull")
	}
	add(twice, "paid more than once", "bad")
	add(r.FaultForm != "", r.FaultForm, "warn")
	if why := cmp.Or(refusal(r), strings.TrimSpace(r.ErrorCode+" "+r.ErrorDescription)); why != "" {
		list = append(list, cell{Text: why, Class: "small"})
	}
	return list
}

// refusal is the reason why nothing was done despite the status 200. It is empty for other responses.
func refusal(r prepaidtest.Request) string {
	decoded, err := personal.Decode(r.ResponseBody)
	body, isObject := decoded.(map[string]any)
	if r.Status != http.StatusOK || err != nil || !isObject {
		return ""
	}
	switch {
	case strings.HasSuffix(r.Template, "/transfer") && !strings.HasPrefix(r.FaultForm, "respond-body") && !r.Replayed && !gotest.Moved(r):
		return "not made"
	case strings.HasPrefix(r.Template, "/funding/") && body["outcome"] == "declined":
		return "declined"
	case strings.HasPrefix(r.Template, "/simulation/"):
		if success, known := body["success"].(bool); known && !success {
			message, _ := body["message"].(string)
			return cmp.Or(message, "no success")
		}
	}
	return ""
}

// failed reports whether the request was refused, failed or cut.
func failed(r prepaidtest.Request) bool {
	return r.Status == 0 || r.Status >= http.StatusBadRequest || refusal(r) != ""
}

func outcomes() []option {
	return []option{{"", "any"}, {"failed", "refused, failed or cut"}, {"repeat", "repeat of a request ID"}, {"twice", "paid more than once"}, {"fault", "met a fault"}}
}

// selected returns the newest requests that the query selects. The search is in the text that a request's page shows, which has no
// secrets and no personal data.
func (p *Page) selected(query url.Values) []prepaidtest.Request {
	twice, text := p.server.PaidTwice(), strings.ToLower(strings.TrimSpace(query.Get("text")))
	return slices.DeleteFunc(p.newest(), func(r prepaidtest.Request) bool {
		fits := map[string]bool{"": true, "failed": failed(r), "repeat": r.RepeatOf != 0, "twice": slices.Contains(twice, r.RequestID), "fault": r.Fault}
		if !fits[query.Get("outcome")] {
			return true
		}
		if text == "" {
			return false
		}
		path, _ := url.PathUnescape(r.Path) // a malformed path is searched as it arrived
		places := []string{
			r.Method + " " + r.Path, path, string(r.AccountID), string(r.RequestID), r.ErrorCode, r.ErrorDescription, r.FaultForm, r.Amount, money(r.Amount),
			readable(r.Body), readable(r.ResponseBody), strconv.Itoa(r.Status),
		}
		for _, list := range [][]fact{pairs(r.Query), pairs(r.Header), pairs(r.ResponseHeader)} {
			for _, pair := range list {
				places = append(places, pair.Name+"="+pair.Cells[0].Text)
			}
		}
		return !strings.Contains(strings.ToLower(strings.Join(places, "\n")), text)
	})
}

func (p *Page) requests(r *http.Request) view {
	query := r.URL.Query()
	found := p.selected(query)
	list, pages := paginate(r, "page", found)
	b := block{Head: "Found", Text: plural(len(found), "request") + ".", Table: p.requestTable(list), Empty: "No request matches.", Forms: []form{{
		ID: "search", Action: "/requests", Search: true, Buttons: []button{{Text: "Search"}}, Fields: []field{
			{Name: "text", Label: "Anything that a request shows", Value: query.Get("text"), Placeholder: "EA1000…, lunch, 25.50, 503"},
			{Name: "outcome", Label: "Outcome", Value: query.Get("outcome"), Options: outcomes()},
		},
	}}}
	b.Table.Pager = pages
	if n := len(operations(found)); n > 0 && n <= gotest.MaxRequests {
		query.Del("page")
		b.Links = []link{{"These as a Go test", "/requests/test?" + query.Encode()}}
	}
	return view{Title: "Requests", Section: "/requests", Blocks: []block{b}}
}

// operations returns the requests that a Go test can send.
func operations(list []prepaidtest.Request) []prepaidtest.Request {
	return slices.DeleteFunc(slices.Clone(list), func(r prepaidtest.Request) bool { return r.Template == "" })
}

// story shows the selected requests as one Go test.
func (p *Page) story(r *http.Request) view {
	list := operations(p.selected(r.URL.Query()))
	if numbers := r.URL.Query()["n"]; len(numbers) > 0 {
		list = slices.DeleteFunc(list, func(one prepaidtest.Request) bool {
			return !slices.Contains(numbers, strconv.FormatInt(one.Number, 10))
		})
	}
	text, err := gotest.Write(reversed(list)...)
	if err != nil {
		return view{Title: "Requests as a Go test", Section: "/requests", Problem: "No Go test: " + err.Error() + "."}
	}
	return view{Title: "Requests as a Go test", Section: "/requests", Blocks: []block{{
		Head: "Selected requests", Text: "A complete file for any module that requires the SDK. Secrets and personal data in it are fictional.",
		Codes: []code{{"go-text", "Go test", text}},
	}}}
}

func (p *Page) request(r *http.Request) view {
	all := p.newest()
	i := slices.IndexFunc(all, func(one prepaidtest.Request) bool { return strconv.FormatInt(one.Number, 10) == r.PathValue("number") })
	if i < 0 {
		return view{}
	}
	one := all[i]
	movements := p.server.Movements(one.RequestID)
	facts := []fact{{"Outcome", append([]cell{outcome(one)}, remarks(one, one.RequestID != "" && movements > 1)...)}}
	omitted := []string{"Number", "Arrival", "Status", "Replayed", "RepeatOf", "FaultForm", "Query", "Header", "Body", "ResponseHeader", "ResponseBody", "Fault", "ErrorCode", "ErrorDescription"}
	if one.AccountStatus == "" { // there is no such account
		omitted = append(omitted, "AccountID")
	}
	facts = append(facts, factsOf(one, omitted...)...)
	again := []code{{"curl-text", "curl", curl("http://"+r.Host, one)}}
	if text, err := gotest.Write(one); err == nil {
		again = append(again, code{"go-text", "Go test", text})
	}
	sent := []block{
		{Head: "Request", Facts: append(pairs(one.Query), pairs(one.Header)...), Codes: body("request-text", one.Body)},
		{Head: "Response", Facts: pairs(one.ResponseHeader), Codes: body("response-text", one.ResponseBody)},
	}
	if one.Status == 0 {
		sent[1].Text = "As the caller would have got it."
	}
	v := view{
		Title: "Request " + r.PathValue("number"), Section: "/requests",
		Blocks: append(sent, block{Head: "Do it again", Codes: again, Text: "TOKEN is an access token. Fill in what is masked; the Go test has fictional data."}),
		Side:   []block{{Head: "Summary", Facts: facts, Links: []link{{"Arm a fault", "/faults?operation=" + url.QueryEscape(one.Method+" "+one.Template)}}}},
	}
	if one.RequestID != "" {
		repeats := slices.DeleteFunc(all, func(other prepaidtest.Request) bool {
			return other.RequestID != one.RequestID || other.Method != one.Method || other.Template != one.Template
		})
		query := url.Values{}
		for _, repeat := range repeats {
			query.Add("n", strconv.FormatInt(repeat.Number, 10))
		}
		v.Blocks = append(v.Blocks, block{
			Head: "Requests with this ID", Text: "Movements of money: " + strconv.Itoa(movements) + ".", Table: p.requestTable(repeats),
			Links: []link{{"All of them as one Go test", "/requests/test?" + query.Encode()}},
		})
		if movements > 1 {
			v.Notes = append(v.Notes, cell{Tone: "bad", Text: "This request ID has moved money more than once: a repeat arrived while the first was still running."})
		}
		if first := repeats[len(repeats)-1]; first.Body != one.Body || first.Path != one.Path {
			v.Notes = append(v.Notes, cell{Tone: "bad", Text: "The first request with this ID was another one. The service looks at the request ID only."})
		}
	}
	return v
}

func body(id, text string) []code {
	if text == "" {
		return nil
	}
	return []code{{id, "Body", readable(text)}}
}

// pairs are names and values, sorted by name, without personal data.
func pairs(values map[string][]string) []fact {
	var list []fact
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := strings.Join(values[name], ", ")
		if personal.Hidden(name) {
			value = concealed
		}
		list = append(list, fact{name, []cell{{Text: value}}})
	}
	return list
}

// curl is the request as a command for this emulator. Masked text stays masked, and the token is a variable.
func curl(base string, r prepaidtest.Request) string {
	text := "curl -i -X " + r.Method
	if r.Template == "/token" {
		text += ` -u "$PREPAID_CLIENT_ID:$PREPAID_CLIENT_SECRET"`
	} else {
		text += ` -H "Authorization: Bearer $TOKEN"`
	}
	if kind := r.Header.Get("Content-Type"); kind != "" && r.Body != "" {
		text += " \\\n  -H " + Quote("Content-Type: "+kind)
	}
	if r.Body != "" {
		text += " \\\n  --data-raw " + Quote(compact(r.Body))
	}
	query := url.Values{}
	for _, pair := range pairs(r.Query) {
		query.Set(pair.Name, pair.Cells[0].Text)
	}
	address := base + r.Path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return text + " \\\n  " + Quote(address)
}
