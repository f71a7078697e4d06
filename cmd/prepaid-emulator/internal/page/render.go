package page

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// layout is the data around the content of every page.
type layout struct {
	Title   string
	Section string // the navigation entry
	Live    string // address of the live parts; by default the page's own path and query
	Base    string // URL of the service
	Version string
	Now     time.Time
	Notice  string // result of an action
	Problem string // why the action failed
	Armed   int    // number of armed faults
	Data    any
	JSON    any // response for a program; nil to send the page
}

// functions are the template functions.
func functions() template.FuncMap {
	return template.FuncMap{
		"when": func(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05") },
		"iso":  func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"day":  func(at time.Time) string { return at.UTC().Format("2 Jan 2006") },
		"tone": tone, "words": words, "statusTone": statusTone, "negative": func(amount string) bool { return strings.HasPrefix(amount, "-") },
		"money": money, "date": func(wire string) string { date, _, _ := strings.Cut(wire, "T"); return date },
		"path": func(id any) string { return url.PathEscape(fmt.Sprint(id)) }, "short": func(id any) string { return short(fmt.Sprint(id)) }, "args": func(values ...any) []any { return values },
		"plural": plural, "entries": entries, "assets": assets, "segments": segments, "took": took, "refusal": refusal,
		"outcomeTone": outcomeTone, "clock": clockTime, "tokens": tokens, "amount": shownAmount, "repeated": repeated,
		"destination": destination, "span": span, "runTone": runTone,
		"grouped": func(n int) string { return strings.TrimSuffix(money(strconv.Itoa(n)), ".") },
		"until":   func(at, now time.Time) time.Duration { return at.Sub(now) },
		"held": func(operation string) string {
			if operation == heldOperations()[0] {
				return "transfer"
			}
			return "direct entry out"
		},
	}
}

// assets are the static files of a kind, the shared style first.
func assets(kind string) []string {
	names, _ := fs.Glob(files, "static/*."+kind) // the pattern is valid
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(-cmp.Compare(strings.Count(a, "/style."), strings.Count(b, "/style.")), strings.Compare(a, b))
	})
	return names
}

// templates makes a page of each file and the two shared files. It parses them once.
var templates = sync.OnceValue(func() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(functions()).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	pages := make(map[string]*template.Template)
	names, _ := fs.Glob(files, "templates/*.html") // the pattern is valid
	for _, name := range names {
		pages[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(template.Must(shared.Clone()).ParseFS(files, name))
	}
	return pages
})

// plural is the noun for n items.
func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// show writes a page. With ?live=1 it writes only the live parts, for the script.
func (p *Page) show(w http.ResponseWriter, r *http.Request, status int, name string, l layout) {
	switch {
	case l.Problem != "" && (wantsJSON(r) || !accepts(r, "text/html")):
		fail(w, r, status, l.Problem)
		return
	case wantsJSON(r) && l.JSON != nil:
		writeJSON(w, status, l.JSON)
		return
	}
	server := p.server.Load()
	l.Base, l.Version, l.Now, l.Armed = p.base(r), p.config.Version, server.Now(), server.FaultsLeft()
	if l.Live == "" {
		l.Live = liveAddress(r, l.Section)
	}
	l.Notice = notices()[r.URL.Query().Get("done")]
	root := "layout"
	if r.URL.Query().Get("live") == "1" {
		root = "live"
	}
	var text bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&text, root, l); err != nil {
		http.Error(w, "The page cannot be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // fails if the reader has disconnected
}

// liveAddress is the page's own address or, for a refused form, the address of the section.
func liveAddress(r *http.Request, section string) string {
	if r.Method != http.MethodPost {
		query := r.URL.Query()
		query.Del("live")
		query.Del("done")
		return (&url.URL{Path: r.URL.Path, RawQuery: query.Encode()}).String()
	}
	for _, e := range entries() {
		if e.Section == section {
			return e.Path
		}
	}
	return ""
}

// base is the service's address for this reader.
func (p *Page) base(r *http.Request) string { return "http://" + r.Host + "/3.0/" }

func (p *Page) notFound(w http.ResponseWriter, r *http.Request, text string) {
	p.show(w, r, http.StatusNotFound, "problem", layout{Title: "Not here", Problem: text})
}

// done redirects a browser to a page with a note on the action. A program gets the new state instead.
func done(w http.ResponseWriter, r *http.Request, back, what string, state any) {
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, state)
		return
	}
	http.Redirect(w, r, back+"?done="+what, http.StatusSeeOther) //nolint:gosec // G710: a path of this page
}

// notices are the notes on the actions.
func notices() map[string]string {
	return map[string]string{
		"status":   "The status is set.",
		"adjust":   "The adjustment is booked.",
		"activate": "The card is activated.",
		"purchase": "The purchase is authorised.",
		"refund":   "The refund is booked.",
		"reverse":  "The purchase is reversed.",
		"clear":    "The clearing is accepted, and is booked after the simulator's delay.",
		"held":     "The next one is held: it gets a 502, and is carried out later.",
		"revoked":  "All tokens are revoked.",
		"sent":     "It is sent.",
		"queued":   "The message is on its way.",
		"armed":    "The fault is armed.",
		"cleared":  "The faults are cleared.",
		"clock":    "The clock has moved.",
	}
}

// tone is the colour of an account status.
func tone(status string) string {
	switch status {
	case "active":
		return "good"
	case "pre_active", "inactive", "vendor_inactive":
		return "calm"
	case "lost_or_stolen", "suspected_fraud", "inactive_pin_tries_exceeded":
		return "bad"
	}
	return "dull"
}

// statusTone is the colour of an HTTP status; 0 means that the connection was cut.
func statusTone(status int) string {
	switch {
	case status == 0 || status >= http.StatusInternalServerError:
		return "bad"
	case status >= http.StatusBadRequest:
		return "warn"
	}
	return "good"
}

// words makes a word of the wire format readable: lost_or_stolen becomes "lost or stolen".
func words(wire string) string { return strings.ReplaceAll(wire, "_", " ") }

// money groups the digits before the point: -1234.50 becomes −1,234.50.
func money(amount string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(amount, "-"); negative {
		sign, amount = "−", rest
	}
	whole, fraction, _ := strings.Cut(amount, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + "." + fraction
}

// short is the beginning of a long id.
func short[ID ~string](id ID) string {
	if len(id) > 13 {
		return string(id[:8]) + "…"
	}
	return string(id)
}

// pager links a long list's pages.
type pager struct {
	Page, Pages, Total int
	Parameter          string
	Path               string
	Query              url.Values
}

// paginate returns the part of a list that the request selects. Pages are numbered from 1.
func paginate[T any](r *http.Request, list []T, size int) ([]T, pager) {
	return paginateBy(r, "page", list, size)
}

// paginateBy is paginate for a page with several lists, each with its own parameter.
func paginateBy[T any](r *http.Request, parameter string, list []T, size int) ([]T, pager) {
	pages := max(1, (len(list)+size-1)/size)
	number, err := strconv.Atoi(r.URL.Query().Get(parameter))
	if err != nil {
		number = 1
	}
	number = min(max(number, 1), pages)
	query := r.URL.Query()
	query.Del("live")
	query.Del("done")
	return list[(number-1)*size : min(number*size, len(list))], pager{number, pages, len(list), parameter, r.URL.Path, query}
}

// Link is the address of a page of the list.
func (p pager) Link(number int) string {
	query := url.Values{}
	maps.Copy(query, p.Query)
	query.Set(p.Parameter, strconv.Itoa(number))
	return p.Path + "?" + query.Encode()
}

// Previous is the page before, 0 on the first.
func (p pager) Previous() int { return p.Page - 1 }

// Next is the page after, 0 on the last.
func (p pager) Next() int {
	if p.Page < p.Pages {
		return p.Page + 1
	}
	return 0
}
