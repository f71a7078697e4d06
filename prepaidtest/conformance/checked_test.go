package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
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

// tap shows each response of its transport to a function that may change it.
type tap struct {
	http.RoundTripper
	change func(*check.Response)
}

// RoundTrip implements http.RoundTripper.
func (w tap) RoundTrip(request *http.Request) (*http.Response, error) {
	got, err := w.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	r := check.Response{Query: request.URL.Query(), MediaType: reference.MediaJSON, Status: got.StatusCode, Header: got.Header}
	parameter := regexp.MustCompile(`\{\w+\}`)
	for _, o := range reference.Read().Operations {
		pattern := "/3.0" + parameter.ReplaceAllString(o.Path, "*")
		if same, _ := path.Match(pattern, request.URL.Path); same && o.Method == request.Method {
			r.Operation = o
		}
	}
	r.Body, err = io.ReadAll(got.Body)
	w.change(&r)
	got.StatusCode, got.Header, got.Body = r.Status, r.Header, io.NopCloser(bytes.NewReader(r.Body))
	return got, err
}

// recorded returns the responses of the emulator to all cases, which must conform, and to requests that no case sends: a dismissal would
// lose a partner's messages, and a PIN change would send a message to a cardholder.
func recorded(t *testing.T, options prepaidtest.Options) (all []check.Response) {
	t.Helper()
	options.InMemory = true
	target := emulator(t, options)
	target.HTTPClient.Transport = tap{target.HTTPClient.Transport, func(r *check.Response) { all = append(all, *r) }}
	for _, c := range append(Cases(), with("3.4", "dismiss", "Hooks.Dismiss", nil, func(p *probe) {
		p.call("PIN.Initiate", nil).ok()
		hook := p.call("Hooks.List", nil).objects()[0]
		p.call("Hooks.Dismiss", values{"id": hook["id"], "message_ids": []any{hook["last_undeliverable"]}}).is(204)
	})) {
		if c.Name != noResponse && c.Name != rateLimit { // have their own tests
			faults, skipped := c.run(t.Context(), target)
			require.Empty(t, faults, c.Name)
			require.Empty(t, skipped, c.Name)
		}
	}
	return all
}

// TestEveryOperationIsChecked fails if the suite gets no success of an operation, or not each error that the document lists for it.
func TestEveryOperationIsChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		checked := map[string]bool{}
		for _, r := range recorded(t, prepaidtest.Options{Kind: true}) {
			checked[r.Operation.Name+strconv.Itoa(r.Status)] = true
			checked[r.Operation.Name] = checked[r.Operation.Name] || r.Status < 300
		}
		for _, o := range reference.Read().Operations {
			require.True(t, checked[o.Name] || o.Body == "any", o.Name) // the reference describes no success of a PIN change
			for _, listed := range o.Results {
				if listed.Name >= "400" && !slices.Contains([]string{"403", "429", "500"}, listed.Name) { // the emulator has no reason for them
					require.True(t, checked[o.Name+listed.Name], "%s: %s", o.Name, listed.Name)
				}
			}
		}
	})
}

// TestEveryRuleIsChecked breaks each rule of the document in each kind of response of the emulator.
func TestEveryRuleIsChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[string]bool{}
		for _, r := range recorded(t, prepaidtest.Options{}) {
			kind := fmt.Sprint(r.Operation.Name, r.Status, slices.Sorted(maps.Keys(r.Query)))
			if seen[kind] {
				continue
			}
			seen[kind] = true
			require.Empty(t, r.Check(), kind)
			breaches(&r, func(field string, change func(*check.Response)) {
				changed := r
				changed.Header = maps.Clone(r.Header)
				change(&changed)
				found := changed.Check()
				require.True(t, slices.ContainsFunc(found, func(v check.Violation) bool { return v.Field == field && v.Section != "" }),
					"%s: %s: %v: %s", kind, field, found, changed.Body)
			})
		}
	})
}

// breaches calls to with each change that breaks a rule of a field.
func breaches(r *check.Response, to func(field string, change func(*check.Response))) {
	to("status", func(r *check.Response) { r.Status = 299 })
	payload, listed := r.Operation.Results.Get(strconv.Itoa(r.Status))
	switch {
	case !listed || r.Operation.Body == "any":
		return
	case len(payload.Content) == 0:
		to("body", func(r *check.Response) { r.Body = []byte("{}") })
	case len(r.Body) > 0:
		to("body", func(r *check.Response) { r.Body = []byte(" ") })
		to("Content-Type", func(r *check.Response) { r.Header.Set("Content-Type", "application/json") })
	}
	for name := range payload.Headers {
		to(name, func(r *check.Response) { r.Header.Del(name) })
	}
	if len(payload.Codes) > 0 {
		to("error", func(r *check.Response) { r.Body = []byte(`{"error":"conformance"}`) })
	}
	if schema := payload.JSON(); schema != nil && len(r.Body) > 0 {
		spoil(schema, r.Value, "body", func(field string, value any) {
			text, _ := json.Marshal(value)
			to(field, func(r *check.Response) { r.Body = text })
		})
	}
}

// spoil calls to with each value that breaks a rule of a field.
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
		other := func(name string, v any) map[string]any {
			changed := maps.Clone(value)
			changed[name] = v
			return changed
		}
		if !s.Open {
			to(field, other("conformance", 1))
		}
		for _, member := range s.Properties {
			v, present := value[member.Name]
			if !present {
				continue
			}
			if s.Sends(member) {
				rest := maps.Clone(value)
				delete(rest, member.Name)
				to(field+"."+member.Name, rest)
			}
			spoil(member.Value, v, field+"."+member.Name, func(field string, v any) { to(field, other(member.Name, v)) })
		}
	}
}
