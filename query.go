package prepaid

import (
	"net/url"
	"slices"
	"strings"
)

// query is the query of a request, sorted by name; a few parameters, each once.
type query []parameter

type parameter struct{ name, value string }

// with returns q with a parameter added or replaced. It may share memory with q.
func (q query) with(name, value string) query {
	at, found := slices.BinarySearchFunc(q, name, func(p parameter, name string) int { return strings.Compare(p.name, name) })
	if found {
		q[at].value = value
		return q
	}
	return slices.Insert(q, at, parameter{name, value})
}

// encode writes q as url.Values does.
func (q query) encode() string {
	if len(q) == 0 {
		return ""
	}
	var space [256]byte
	text := space[:0]
	for i, p := range q {
		if i > 0 {
			text = append(text, '&')
		}
		text = append(text, url.QueryEscape(p.name)...)
		text = append(text, '=')
		text = append(text, url.QueryEscape(p.value)...)
	}
	return string(text)
}
