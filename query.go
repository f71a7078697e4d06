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

// resolve expands the path template under the base address. Values were validated: none can climb.
func (c *core) resolve(r *request) *url.URL {
	u := &url.URL{Scheme: c.base.Scheme, Host: c.base.Host, RawQuery: r.query.encode()}
	u.Path = expand(c.base.Path, r.op.Path, r.path, nil)
	if raw := c.base.EscapedPath(); raw != c.base.Path || slices.ContainsFunc(r.path[:], needsEscape) {
		u.RawPath = expand(raw, r.op.Path, r.path, url.PathEscape)
	}
	return u
}

// needsEscape reports whether value can look different in a path. It may say so of one that does not.
func needsEscape(value string) bool {
	for i := range len(value) {
		b := value[i]
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '-' && b != '_' && b != '.' {
			return true
		}
	}
	return false
}

// expand puts values, escaped if asked for, into the parameters of a path template under base.
func expand(base, template string, values pathValues, escape func(string) string) string {
	var space [128]byte
	path := append(space[:0], base...)
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
	return string(append(path, template...))
}
