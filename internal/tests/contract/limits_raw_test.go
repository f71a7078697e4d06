package contract

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

var rawMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// rawClient counts its requests.
func rawClient(t *testing.T) (*prepaid.Client, *harness.Script) {
	t.Helper()
	script := harness.NewScript(harness.Respond(200, harness.VendorJSON, `{}`))
	config := harness.Config("https://cards.example")
	config.Transport, config.SkipValueChecks = script, true // which has no effect here
	return harness.NewClient(t, config), script
}

// written is a path in one of the forms that a caller may try.
type written struct {
	path   string
	values map[string]string
}

// walkArounds are the ways to write the path of an operation, with and without values. A router somewhere may take each for it.
func walkArounds(template string) []written {
	segments := strings.Split(template[1:], "/")
	values := map[string]string{}
	for _, segment := range segments {
		if segment[0] == '{' {
			values[strings.Trim(segment, "{}")] = "EA-1"
		}
	}
	plain := strings.NewReplacer("{", "", "}", "").Replace(template)
	forms := []written{
		{template, values}, {template + "/", values}, {"/" + template, values}, {template[1:], values}, {"." + template, values},
		{"/." + template, values}, {"/.." + template, values}, {"/x/.." + template, values}, {template + "/.", values},
		{template + "/x/..", values}, {template + "?x=1", values}, {template + "#x", values}, {template + ";x", values},
		{template + " ", values}, {template + "\n", values}, {template + "\x00", values}, {template + "%20", values},
		{template + ".json", values}, {template + ".", values}, {strings.ReplaceAll(template, "/", "//"), values},
		{strings.ReplaceAll(template, "/", "\\"), values}, {strings.ReplaceAll(template, "/", "%2F"), values},
		{strings.ReplaceAll(template, "s", "%73"), values}, {strings.ReplaceAll(template, "o", "%6f"), values},
		{strings.ReplaceAll(template, "s", "ſ"), values}, {strings.ReplaceAll(template, "k", "\u212a"), values},
		{strings.ReplaceAll(template, "t", "ｔ"), values}, {"https://cards.example/3.0" + template, values},
		{"//cards.example/3.0" + template, values}, {"/3.0" + template, values}, {strings.ReplaceAll(template, "}", ""), values},
		{template, nil}, {template, map[string]string{"id": ".."}}, {template, map[string]string{"id": ""}}, {plain + "0", nil},
		{cased(template, strings.ToUpper), values}, {cased(template, func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }), values},
	}
	for _, spell := range []func(string) string{
		func(s string) string { return s }, strings.ToUpper,
		func(s string) string { return s + ".json" }, func(s string) string { return s + "." }, func(s string) string { return s + ".." },
		func(s string) string { return s + "/" }, func(s string) string { return s + "%2F" }, func(s string) string { return s + "%00" },
		func(s string) string { return s + ";v=1" }, func(s string) string { return s + " " }, func(s string) string { return s + "?a" },
		func(s string) string { return "./" + s }, func(s string) string { return "../" + s }, func(s string) string { return "%2e/" + s },
		func(s string) string { return s[:len(s)-1] + fmt.Sprintf("%%%02x", s[len(s)-1]) },
		func(s string) string { return strings.ReplaceAll(s, "s", "ſ") + "\u200b" },
	} {
		byValue := written{values: map[string]string{}}
		for i, segment := range segments {
			name := string(rune('a' + i))
			byValue.path += "/{" + name + "}"
			if byValue.values[name] = "EA-1"; segment[0] != '{' {
				byValue.values[name] = spell(segment)
			}
		}
		forms = append(forms, byValue)
	}
	return forms
}

// cased changes the fixed segments of a template.
func cased(template string, change func(string) string) string {
	segments := strings.Split(template[1:], "/")
	for i, segment := range segments {
		if segment[0] != '{' {
			segments[i] = change(segment)
		}
	}
	return "/" + strings.Join(segments, "/")
}

// callable reports whether Client.Do calls an operation: it does not move money.
func callable(o *reference.Operation) bool {
	return o.Lane == "call" && !strings.HasPrefix(o.Name, "Simulation.")
}

// Through Client.Do no caller reaches an operation with another class, method or spelling, or any operation that moves
// money.
func TestRawCallOfAKnownPath(t *testing.T) {
	t.Parallel()
	client, script := rawClient(t)
	callables := map[string]bool{} // by method and path
	for _, o := range reference.Read().Operations {
		callables[o.Method+" "+o.Path] = callable(o)
	}
	for _, row := range reference.Read().Operations {
		forms := walkArounds(row.Path)
		require.Len(t, forms, 53)
		for i, form := range forms {
			for m, method := range rawMethods {
				for r, repeatable := range []bool{false, true} {
					if i > 0 && (i+m+r)%2 == 0 {
						continue // half of the spellings, to save time
					}
					known := callables[method+" "+form.path]
					if known && !repeatable && len(form.values) == strings.Count(form.path, "{") && form.values["id"] != ".." {
						continue
					}
					err := client.Do(t.Context(), prepaid.RawRequest{Method: method, Path: form.path, PathValues: form.values, Repeatable: repeatable}, nil)
					invalid := harness.As[*prepaid.ValidationError](t, err)
					require.Equal(t, prepaid.OutcomeRejected, harness.CallError(t, err).Outcome)
					if i == 0 {
						require.Len(t, invalid.Faults, 1)
						if known {
							require.Equal(t, "repeatable", invalid.Faults[0].Field)
							continue
						}
						require.Equal(t, "path", invalid.Faults[0].Field)
						require.Contains(t, invalid.Faults[0].Rule, row.Name)
						require.Equal(t, method+" "+row.Path, harness.CallError(t, err).Operation)
					}
				}
			}
		}
	}
	require.Empty(t, script.Requests())
}

// An operation that moves no money can be called with members, parameters and headers that its method does not have. Only one that
// reads is repeated.
func TestRawCallOfAnOperation(t *testing.T) {
	t.Parallel()
	for _, row := range reference.Read().Operations {
		if !callable(row) {
			continue
		}
		success, _ := strconv.Atoi(row.Success()[0])
		script := harness.NewScript(harness.Respond(503, harness.VendorJSON, `{"error":"x"}`), harness.Respond(success, harness.VendorJSON, ""))
		script.CountReads = true
		config := harness.Config("https://cards.example")
		config.Transport, config.Retry.MinWait, config.Retry.MaxWait = script, 1, 1
		client := harness.NewClient(t, config)
		r := prepaid.RawRequest{Method: row.Method, Path: row.Path, PathValues: map[string]string{}, Query: url.Values{"new": {"1"}}, Header: http.Header{
			"x-New": {"a", "b"}, "X-new": {"c"}, "Accept-Language": {"de"}, "If-Match": {"*"}, "Range": {"items=0-9"}, "X-Payment-Method": {"m"},
		}}
		for name := range sample.NewRequest(row, false).Path {
			r.PathValues[name] = "1"
		}
		if row.Method != "GET" {
			r.Body = map[string]int{"new": 1}
		}
		err := client.Do(t.Context(), r, nil)
		sent := script.Requests()
		if row.Safety == "read" {
			require.NoError(t, err, row.Name)
			require.Len(t, sent, 2, row.Name)
		} else {
			require.Len(t, sent, 1, row.Name)
			require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
			require.Equal(t, row.Name, harness.CallError(t, err).Operation)
		}
		for _, q := range sent {
			require.True(t, strings.HasSuffix(q.Target, "?new=1"), q.Target)
			require.ElementsMatch(t, []string{"a", "b", "c"}, q.Header["X-New"])
			require.Equal(t, "de * items=0-9 m", strings.Join([]string{
				q.Header.Get("Accept-Language"), q.Header.Get("If-Match"), q.Header.Get("Range"), q.Header.Get("X-Payment-Method"),
			}, " "))
			require.Equal(t, row.Method != "GET", q.Body == `{"new":1}`)
		}
	}
}

// Operations that the reference does not describe can be called, also next to those that it does.
func TestRawCallOfUnknownPaths(t *testing.T) {
	t.Parallel()
	client, script := rawClient(t)
	id := map[string]string{"id": "EA52174568995001"}
	for _, c := range []struct {
		written
		sent string
	}{
		{written{"/accounts/{id}/expiry", id}, "/3.0/accounts/EA52174568995001/expiry"},
		{written{"/accounts/{id}/transfer/reasons", id}, "/3.0/accounts/EA52174568995001/transfer/reasons"},
		{written{"/funding/limits", nil}, "/3.0/funding/limits"},
		{written{"/pin", nil}, "/3.0/pin"},
		{written{"/some-thing/Other_thing", nil}, "/3.0/some-thing/Other_thing"},
		{written{"/limits/{id}", map[string]string{"id": "a.B-7_"}}, "/3.0/limits/a.B-7_"},
	} {
		for _, method := range rawMethods {
			before := len(script.Requests())
			require.NoError(t, client.Do(t.Context(), prepaid.RawRequest{Method: method, Path: c.path, PathValues: c.values}, nil), c.path)
			sent := script.Requests()[before:]
			require.Len(t, sent, 1)
			require.Equal(t, method, sent[0].Method)
			require.Equal(t, c.sent, sent[0].Target)
		}
	}
}

// Each fault of a request is found before anything is sent, and all of them at once.
func TestRawCallValidation(t *testing.T) {
	t.Parallel()
	const shown = "Ж界é"
	client, script := rawClient(t)
	var nothing *struct{}
	check := func(change func(r *prepaid.RawRequest), out any, want ...harness.Fault) {
		t.Helper()
		r := prepaid.RawRequest{Method: "POST", Path: "/limits/{id}", PathValues: map[string]string{"id": "7"}, Body: map[string]int{"a": 1}}
		change(&r)
		err := client.Do(t.Context(), r, out)
		harness.RequireFaults(t, err, shown, want...)
	}
	for _, method := range []string{"", "post", "HEAD", "OPTIONS", "TRACE", "CONNECT", "POST ", "POST\r\nX: y", shown} {
		check(func(r *prepaid.RawRequest) { r.Method = method }, nil, harness.Fault{Field: "method", Rule: "must be GET, POST"})
	}
	for _, path := range []string{
		"", "/", "limits", "/limits/", "//limits", "/li mits", "/limits/7", "/limits/{}", "/limits/{id", "/limits/id}", "/limits/{i{d}",
		"/limits/{id}x", "/limits/x{id}", "/limits/{id2}", "/limits/{id}{id}", "/limits/*", "/limits/{id...}", "/" + shown,
	} {
		check(func(r *prepaid.RawRequest) { r.Path = path }, nil, harness.Fault{Field: "path", Rule: "must be like"})
	}
	for _, value := range []string{"", ".", "..", "...", "a/b", "a b", "a%20", "a?b", "a#b", "a;b", "a:b", "a\\b", "a\n", shown} {
		check(func(r *prepaid.RawRequest) { r.PathValues["id"] = value }, nil, harness.Fault{Field: "path_values.id", Rule: "must be letters"})
	}
	check(func(r *prepaid.RawRequest) { r.PathValues = nil }, nil,
		harness.Fault{Field: "path_values.id", Rule: "must be letters"}, harness.Fault{Field: "path_values", Rule: "each name"})
	check(func(r *prepaid.RawRequest) { r.PathValues[shown] = "1" }, nil, harness.Fault{Field: "path_values", Rule: "no other"})
	check(func(r *prepaid.RawRequest) { r.Path = "/limits/{id}/{id}" }, nil, harness.Fault{Field: "path_values", Rule: "each name"})
	for _, query := range []url.Values{{"": {"x"}}, {"a\xff": {"x"}}, {"a": {shown + "\xff"}}} {
		check(func(r *prepaid.RawRequest) { r.Query = query }, nil, harness.Fault{Field: "query", Rule: "must have names"})
	}
	var missing *struct{ A int }
	for _, body := range []any{
		1, shown, true, []byte(`{"a":1}`), strings.NewReader(`{"a":1}`), missing, make(chan int), func() {}, map[string]any{"a": func() {}},
		map[string]string{"a": shown + "\xff"}, failingMarshaler{shown}, []any{make(chan int)},
	} {
		check(func(r *prepaid.RawRequest) { r.Body = body }, nil, harness.Fault{Field: "body", Rule: "must be a JSON object or array"})
	}
	check(func(r *prepaid.RawRequest) { r.Method = http.MethodGet }, nil, harness.Fault{Field: "body", Rule: "must be nil with GET"})
	for _, name := range []string{"Cookie", "content-type", "Accept", "Accept-Encoding", "X-Idempotency-Key", "X-HTTP-Method", "X_Http_Method_Override",
		"X-Method-Override", "x-original-url", "X-Rewrite-URL", "X-Original-Method", "X-Forwarded-Prefix", "X-HTTP-Path-Override", "Transfer_Encoding"} {
		check(func(r *prepaid.RawRequest) { r.Header = http.Header{name: nil, "A": {"x"}} }, nil, harness.Fault{Field: "header." + name, Rule: "must be left out"})
	}
	for _, name := range []string{"X A", "", shown, "a\r\n"} {
		check(func(r *prepaid.RawRequest) { r.Header = http.Header{name: {"x"}} }, nil, harness.Fault{Field: "header", Rule: "must have names"})
	}
	check(func(r *prepaid.RawRequest) {
		r.Header = http.Header{"X-A": {"x", "a\r\nb: c"}, "X-B": {shown}, "Authorization": {shown}}
	}, nil, harness.Fault{Field: "header.Authorization", Rule: "left out"}, harness.Fault{Field: "header.X-A", Rule: "printable"}, harness.Fault{Field: "header.X-B", Rule: "printable"})
	for _, out := range []any{nothing, struct{}{}, map[string]int{}, 1, (*int)(nil)} {
		check(func(*prepaid.RawRequest) {}, out, harness.Fault{Field: "out", Rule: "must be nil or a pointer"})
	}
	check(func(r *prepaid.RawRequest) { *r = prepaid.RawRequest{Body: shown} }, 1, fields("method", "path", "body", "out")...)
	require.Empty(t, script.Requests())
}

type failingMarshaler struct{ text string }

func (f failingMarshaler) MarshalJSON() ([]byte, error) { return nil, errors.New(f.text) }
