package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/prepaidtest/internal/check"
)

// recorder keeps the responses of its transport.
type recorder struct {
	http.RoundTripper
	seen []check.Response
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	got, err := r.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(got.Body)
	got.Body = io.NopCloser(bytes.NewReader(body))
	r.seen = append(r.seen, check.Response{
		Operation: operationOf(request), Query: request.URL.Query(), MediaType: reference.MediaJSON,
		Status: got.StatusCode, Header: got.Header, Body: body,
	})
	return got, err
}

// operationOf finds the operation of a request in the document.
func operationOf(request *http.Request) *reference.Operation {
	parameter := regexp.MustCompile(`\\\{\w+\\\}`)
	for _, o := range reference.Read().Operations {
		path := parameter.ReplaceAllString(regexp.QuoteMeta("/3.0"+o.Path), "[^/]+")
		if o.Method == request.Method && regexp.MustCompile("^"+path+"$").MatchString(request.URL.Path) {
			return o
		}
	}
	return nil
}

// recorded returns the responses of the emulator to all cases and to a dismissal, which no case sends: it would lose a partner's messages.
func recorded(t *testing.T) []check.Response {
	t.Helper()
	target := emulator(t, prepaidtest.Options{InMemory: true})
	r := &recorder{RoundTripper: target.HTTPClient.Transport}
	target.HTTPClient = &http.Client{Transport: r}
	cases := slices.DeleteFunc(Cases(), func(c Case) bool { return c.Name == noResponse || c.Name == rateLimit })
	s, done := newSession(target)
	defer done()
	for _, c := range append(cases, with("3.4", "dismiss", "Hooks.Dismiss", nil, func(p *probe) {
		hook := p.call("Hooks.List", nil).objects()[0]
		p.call("Hooks.Dismiss", values{"id": hook["id"], "message_ids": []any{hook["last_undeliverable"]}}).is(204)
	})) {
		require.Equal(t, result{}, s.run(t.Context(), c), c.Name)
	}
	return r.seen
}

// TestEveryOperationIsChecked fails if the suite gets no success of an operation, or not each error that the document lists for it.
func TestEveryOperationIsChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		checked, succeeded := map[string]bool{}, map[string]bool{}
		for _, r := range recorded(t) {
			checked[r.Operation.Name+strconv.Itoa(r.Status)] = true
			succeeded[r.Operation.Name] = succeeded[r.Operation.Name] || r.Status < 300
		}
		for _, o := range reference.Read().Operations {
			require.True(t, succeeded[o.Name] || o.Body == "any", o.Name) // the reference describes no success of a PIN change
			for _, listed := range o.Results {
				if listed.Name >= "400" && !slices.Contains([]string{"403", "429", "500"}, listed.Name) { // the emulator has no reason for them
					require.True(t, checked[o.Name+listed.Name], "%s: %s", o.Name, listed.Name)
				}
			}
		}
	})
}

// TestEveryRuleIsChecked breaks each rule of the document in each response of the emulator.
func TestEveryRuleIsChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[string]bool{}
		for _, r := range recorded(t) {
			require.Empty(t, r.Check(), r.Operation.Name)
			kind := fmt.Sprint(r.Operation.Name, r.Status, slices.Sorted(maps.Keys(r.Query)))
			if seen[kind] {
				continue
			}
			seen[kind] = true
			for _, b := range breaches(&r) {
				found := b.response.Check()
				require.True(t, slices.ContainsFunc(found, func(v check.Violation) bool { return v.Field == b.field && v.Section != "" }),
					"%s %d: %s: %v: %s", r.Operation.Name, r.Status, b.field, found, b.response.Body)
			}
		}
	})
}

// breach is a response that breaks one rule of a field.
type breach struct {
	field    string
	response check.Response
}

func breaches(r *check.Response) []breach {
	var all []breach
	add := func(field string, change func(*check.Response)) {
		changed := *r
		changed.Header = maps.Clone(r.Header)
		change(&changed)
		all = append(all, breach{field, changed})
	}
	add("status", func(r *check.Response) { r.Status = 299 })
	payload, _ := r.Operation.Results.Get(strconv.Itoa(r.Status))
	switch {
	case payload == nil || r.Operation.Body == "any":
		return all
	case len(payload.Content) == 0:
		add("body", func(r *check.Response) { r.Body = []byte("{}") })
	case r.Status != http.StatusNoContent:
		add("body", func(r *check.Response) { r.Body = nil })
		add("Content-Type", func(r *check.Response) { r.Header.Set("Content-Type", "application/json") })
	}
	for name := range payload.Headers {
		add(name, func(r *check.Response) { r.Header.Del(name) })
	}
	if len(payload.Codes) > 0 {
		add("error", func(r *check.Response) { r.Body = []byte(`{"error":"conformance"}`) })
	}
	if schema := payload.JSON(); schema != nil && len(r.Body) > 0 {
		spoil(schema, r.Value, "body", func(field string, value any) {
			text, _ := json.Marshal(value)
			add(field, func(r *check.Response) { r.Body = text })
		})
	}
	return all
}

// spoil gives to, one by one, the values that break a rule of the schema.
func spoil(s *reference.Schema, value any, field string, to func(field string, value any)) {
	if slices.Contains(s.Type, "object") || slices.Contains(s.Type, "array") {
		to(field, "conformance")
	} else {
		to(field, values{})
	}
	switch value := value.(type) {
	case string:
		if len(s.Enum) > 0 || s.Pattern != "" || s.MaxLength > 0 || s.Format != "" {
			to(field, strings.Repeat("é", 300))
		}
	case []any:
		if len(value) > 0 {
			spoil(s.Items, value[0], field+"[0]", func(field string, first any) { to(field, []any{first}) })
		}
	case map[string]any:
		with := func(name string, v any) values {
			changed := maps.Clone(value)
			changed[name] = v
			return changed
		}
		if !s.Open {
			to(field, with("conformance", 1))
		}
		for _, member := range s.Properties {
			v, present := value[member.Name]
			inner := field + "." + member.Name
			if !present {
				continue
			}
			if s.Sends(member) {
				rest := maps.Clone(value)
				delete(rest, member.Name)
				to(inner, rest)
			}
			spoil(member.Value, v, inner, func(field string, v any) { to(field, with(member.Name, v)) })
		}
	}
}
