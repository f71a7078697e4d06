// Package address builds the URLs of requests from a base URL, a path template, values for the template's parameters, and a query.
//
// The package escapes each value, so that the value stays one segment of the path. It does not check values: the caller must refuse
// ".", ".." and empty values, which would change the path.
package address

import (
	"net/url"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// Values are the values of a path template's parameters, in order. A value that the template needs is not empty.
type Values [2]string

// Query is the query of a request: a few parameters, sorted by name, each name once.
type Query []Parameter

// Parameter is a name and its value, both unescaped.
type Parameter struct{ Name, Value string }

// With returns q with a parameter added or replaced. The result may share memory with q.
func (q Query) With(name, value string) Query {
	at, found := slices.BinarySearchFunc(q, name, func(p Parameter, name string) int { return strings.Compare(p.Name, name) })
	if found {
		q[at].Value = value
		return q
	}
	return slices.Insert(q, at, Parameter{name, value})
}

// appendTo appends q to text. It encodes q like url.Values, but with %20 for a space: not every server reads + as a space.
func (q Query) appendTo(text []byte) []byte {
	for i, p := range q {
		if i > 0 {
			text = append(text, '&')
		}
		text = append(text, escape(p.Name)...)
		text = append(text, '=')
		text = append(text, escape(p.Value)...)
	}
	return text
}

func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// Resolve expands template, such as "/accounts/{id}", under base, which has no trailing slash.
func Resolve(base *url.URL, template string, values Values, query Query) url.URL {
	var space [256]byte
	path := expand(space[:0], base.Path, template, values, nil)
	both := string(query.appendTo(path)) // one allocation
	u := url.URL{Scheme: base.Scheme, Host: base.Host, Path: both[:len(path)], RawQuery: both[len(path):]}
	if raw := base.EscapedPath(); raw != base.Path || slices.ContainsFunc(values[:], func(value string) bool { return !ascii.IsName(value) }) {
		u.RawPath = string(expand(nil, raw, template, values, url.PathEscape))
	}
	return u
}

// expand appends base and a path template to path. Values replace the parameters, escaped with escape if it is not nil.
func expand(path []byte, base, template string, values Values, escape func(string) string) []byte {
	path = append(path, base...)
	for _, value := range values {
		before, after, found := strings.Cut(template, "{")
		if !found {
			break
		}
		_, template, _ = strings.Cut(after, "}")
		if escape != nil {
			value = escape(value)
		}
		path = append(append(path, before...), value...)
	}
	return append(path, template...)
}
