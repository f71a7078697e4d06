package page

import (
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest"
)

func (p *Page) requestRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /requests", p.requests)
	mux.HandleFunc("GET /requests/{number}", p.request)
}

type requestsData struct {
	Requests []prepaidtest.Request
	Only     string // "failed", or empty
	All      int
	Pager    pager
}

func (p *Page) requests(w http.ResponseWriter, r *http.Request) {
	list := newestRequests(p.server.Load())
	data := requestsData{All: len(list), Only: r.URL.Query().Get("only")}
	if data.Only == "failed" {
		list = slices.DeleteFunc(list, func(request prepaidtest.Request) bool { return !failed(request) })
	}
	data.Requests, data.Pager = paginate(r, list, listSize)
	p.show(w, r, http.StatusOK, "requests", layout{Title: "Requests", Section: "requests", Data: data})
}

type requestData struct {
	Request        prepaidtest.Request
	Query, Headers [][2]string
	Body, Answer   string
}

func (p *Page) request(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	list := p.server.Load().Requests()
	i := slices.IndexFunc(list, func(request prepaidtest.Request) bool { return request.Number == number })
	if err != nil || i < 0 {
		p.notFound(w, r, "There is no such request, or the log no longer reaches back to it.")
		return
	}
	request := list[i]
	p.show(w, r, http.StatusOK, "request", layout{Title: "Request " + strconv.FormatInt(number, 10), Section: "requests", Data: requestData{
		Request: request, Query: pairs(request.Query), Headers: pairs(request.Header), Body: readable(request.Body), Answer: readable(request.Answer),
	}})
}

// pairs are names with their values, by name, without personal data.
func pairs(values map[string][]string) [][2]string {
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := strings.Join(values[name], ", ")
		if slices.Contains(personalMembers(), name) {
			value = concealed
		}
		list = append(list, [2]string{name, value})
	}
	return list
}

// requestFunctions are those that the templates of requests use.
func requestFunctions() template.FuncMap { return template.FuncMap{} }
