package page

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// view is the content of a page: blocks below each other, and some at the side.
type view struct {
	Title   string
	Problem string // why there is no such page
	Section string // the path of the navigation entry
	Tiles   []link
	Notes   []cell
	Blocks  []block
	Side    []block
	JSON    any // response for a program; nil to send the page
}

// block is a section of a page, with those of its parts that are not empty.
type block struct {
	Head  string
	Text  string
	Empty string // shown if there are no other parts
	Facts []fact
	Table *table
	Codes []code
	Forms []form
	Links []link
}

// link is a link of this page.
type link struct{ Name, Path string }

// fact is a value with its name.
type fact struct {
	Name  string
	Cells []cell
}

// cell is a text, with a link, as a badge with a tone, or with a class of the style sheet.
type cell struct{ Text, Link, Tone, Class string }

// code is a text that can be copied.
type code struct{ ID, Name, Text string }

// table is a list with a row for each item.
type table struct {
	Columns []column
	Rows    []row
	Pager   pager
}

type column struct {
	Name   string
	Number bool
}

type row struct {
	Key   string // stays the same while the list changes
	Cells [][]cell
}

// form is a form that does an action, or a search if Search is set.
type form struct {
	ID, Action, Text string
	Search           bool
	Fields           []field
	Buttons          []button
}

// field is a text field, or a selection if it has options.
type field struct {
	Name, Label, Value, Placeholder string
	Required                        bool
	Options                         []option
	Suggestions                     []string
}

type option struct{ Value, Text string }

type button struct{ Name, Value, Text string }

// texts makes options that are shown as they are.
func texts(values []string) []option {
	return each(values, func(value string) option { return option{value, words(value)} })
}

// layout is the data of the template.
type layout struct {
	view

	Live    string // address of the live parts
	Base    string // URL of the service
	Version string
	Now     time.Time
	Notice  string // result of an action
	Refused string // why the action failed
	Armed   int    // number of armed faults
}

// parsed parses the template once.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"when": when, "entries": entries, "slug": slug, "args": func(values ...any) []any { return values },
	}).ParseFS(files, "templates/*.html"))
})

// show writes a page. With ?live=1 it writes only the live parts, for the script.
func (p *Page) show(w http.ResponseWriter, r *http.Request, status int, v view, problem string) {
	if v.Title == "" {
		status, problem = http.StatusNotFound, "There is no such page, or the log no longer reaches back to it."
		v.Title = "Not here"
	}
	if v.Problem != "" {
		status, problem = http.StatusUnprocessableEntity, v.Problem
	}
	switch {
	case problem != "" && (wantsJSON(r) || !accepts(r, "text/html")):
		fail(w, r, status, problem)
		return
	case wantsJSON(r) && v.JSON != nil:
		writeJSON(w, status, v.JSON)
		return
	}
	query := r.URL.Query()
	l := layout{view: v, Base: "http://" + r.Host + "/3.0/", Version: p.config.Version, Now: p.server.Now(), Refused: problem, Armed: p.server.FaultsLeft()}
	for _, a := range actions() {
		if a.path == query.Get("done") {
			l.Notice = a.notice
		}
	}
	if r.Method == http.MethodPost {
		l.keepInput(r)
	} else {
		query.Del("live")
		query.Del("done")
		l.Live = (&url.URL{Path: r.URL.Path, RawQuery: query.Encode()}).String()
	}
	root := "layout"
	if r.URL.Query().Get("live") == "1" {
		root = "live"
	}
	var text bytes.Buffer
	if err := parsed().ExecuteTemplate(&text, root, l); err != nil {
		http.Error(w, "The page cannot be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // fails if the reader has disconnected
}

// keepInput fills the form that was refused with its input.
func (l *layout) keepInput(r *http.Request) {
	for _, blocks := range [][]block{l.Blocks, l.Side} {
		for _, b := range blocks {
			for _, f := range b.Forms {
				for i := range f.Fields {
					if f.Action == r.URL.Path && r.PostForm.Has(f.Fields[i].Name) {
						f.Fields[i].Value = r.PostForm.Get(f.Fields[i].Name)
					}
				}
			}
		}
	}
}

// pager links the pages of a long list before and after this one.
type pager struct {
	Page, Pages, Total int
	Previous, Next     string
}

const listSize = 50

// paginate returns the part of a list that a parameter of the request selects. Pages are numbered from 1.
func paginate[T any](r *http.Request, parameter string, list []T) ([]T, pager) {
	pages := max(1, (len(list)+listSize-1)/listSize)
	query := r.URL.Query()
	number, _ := strconv.Atoi(query.Get(parameter)) // zero is replaced by the first
	p := pager{Page: min(max(number, 1), pages), Pages: pages, Total: len(list)}
	query.Del("live")
	query.Del("done")
	if p.Page > 1 {
		query.Set(parameter, strconv.Itoa(p.Page-1))
		p.Previous = "?" + query.Encode()
	}
	if p.Page < pages {
		query.Set(parameter, strconv.Itoa(p.Page+1))
		p.Next = "?" + query.Encode()
	}
	return list[(p.Page-1)*listSize : min(p.Page*listSize, len(list))], p
}
