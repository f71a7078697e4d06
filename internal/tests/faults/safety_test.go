package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// docs/safety.json has the safety rules as data, for authors of clients in other languages. Its parts are derived: classes from the
// attempts that the client makes, the meaning of results from the table of TestOutcomeTable, the times of the wait from package liveness,
// and the responses that end the wait from the client. TestSafetySettings of package prepaid writes the line with the settings.
func TestSafetyFile(t *testing.T) {
	t.Parallel()
	file := readSafety(t)
	settings, err := json.Marshal(file.Settings)
	require.NoError(t, err)
	file.Operations = measuredOperations(t)
	file.Forms = safetyForms()
	file.Attempts = safetyRules()
	file.Next = safetyNext(t)
	file.Resolves = append([]condition{{Status: []string{"success"}, Form: "refusal"}}, measuredRefusals(t)...)
	file.Ask = safetyAsk{
		Operation: "Accounts.Summary", Header: measuredHeader(t), Pause: 5.0, Counts: measuredSigns(t),
		GivesUp: []any{"*", 2.0, []any{"+", "attempt_timeout", "in_flight_wait"}},
	}
	measureRules(t, file)

	line := func(v any) string {
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(v))
		return strings.TrimSpace(text.String())
	}
	var text strings.Builder
	text.WriteString("{\n  \"settings\": " + string(settings) + ",\n")
	list := func(name, open, end string, lines []string, last string) {
		fmt.Fprintf(&text, "  %q: %s\n    %s\n  %s%s\n", name, open, strings.Join(lines, ",\n    "), end, last)
	}
	lines := func(n int, of func(i int) any) (all []string) {
		for i := range n {
			all = append(all, line(of(i)))
		}
		return all
	}
	list("operations", "[", "]", lines(len(file.Operations), func(i int) any { return file.Operations[i] }), ",")
	var forms, next []string
	for _, name := range slices.Sorted(maps.Keys(file.Forms)) {
		forms = append(forms, fmt.Sprintf("%q: %s", name, line(file.Forms[name])))
	}
	list("forms", "{", "}", forms, ",")
	list("attempts", "[", "]", lines(len(file.Attempts), func(i int) any { return file.Attempts[i] }), ",")
	for _, name := range []string{"end", "token", "throttle", "backoff", "repeat"} {
		next = append(next, fmt.Sprintf("%q: %s", name, line(file.Next[name])))
	}
	list("next", "{", "}", next, ",")
	text.WriteString("  \"ask\": " + line(file.Ask) + ",\n")
	list("resolves", "[", "]", lines(len(file.Resolves), func(i int) any { return file.Resolves[i] }), "")
	tree.Committed(t, "docs/safety.json", text.String()+"}\n")
}

const safetyVendor = "application/vnd.{vendor}+json"

func safetyForms() map[string]safetyForm {
	own := []string{safetyVendor, "application/json"}
	bytes := append([]string{"application/octet-stream"}, own...)
	return map[string]safetyForm{
		"error": {MediaTypes: own}, "json": {MediaTypes: own}, "refusal": {MediaTypes: own}, "any": {MediaTypes: own},
		"text": {MediaTypes: bytes}, "data": {MediaTypes: bytes},
		"none": {MediaTypes: append([]string{"", "text/plain"}, bytes...), Bodies: []string{"", "null", "{}"}},
	}
}

// safetyRules are the results of an attempt that have to be told apart, without the conclusions from them.
func safetyRules() []safetyRule {
	success := []string{"success"}
	var rules []safetyRule
	for _, c := range []condition{
		{Sent: new(false)},
		{Status: success, Complete: new(false), Declared: new(true)},
		{Status: []string{"none", "200-299"}, Complete: new(false)},
		{Status: []string{"401"}},
		{Status: []string{"429"}},
		{Status: []string{"408"}},
		{Status: []string{"400-499"}, Form: "error"},
		{Status: []string{"400-499"}},
		{Status: []string{"500"}},
		{Status: []string{"502-504"}},
		{Status: success, Form: "result"},
		{Status: success, Form: "refusal"},
		{Status: success, Form: "error"},
		{Status: success, Declared: new(true)},
		{Status: success},
		{},
	} {
		rules = append(rules, safetyRule{If: c})
	}
	return rules
}

// measureRules sends each operation into each fault, finds the rule that the result fulfils, and enters the expectation of
// TestOutcomeTable.
func measureRules(t *testing.T, file *safetyFile) {
	t.Helper()
	wants := map[int]map[string]map[string]string{} // by rule, class and body
	cases := slices.DeleteFunc(oneOfEachClass(t), func(c tableCase) bool { return c.isRaw() })
	for _, fault := range append(wireFaults(), wireFault{name: "refusal"}) {
		if fault.then != nil || fault.name == "untrusted certificate" {
			continue // a second attempt; a fault for good
		}
		for _, c := range cases {
			o, fault := file.operation(c.row.Name), fault
			if fault.name == "refusal" {
				if o.Refusal == nil {
					continue
				}
				fault = refused(&c, o)
			}
			if c.exempt(&fault) {
				continue
			}
			rule := -1
			onFile(t, file, &c, []wireFault{fault}, func(t *testing.T, client *fileClient, _ *tableServer, target string) {
				t.Helper()
				rule = client.rule(o, client.send(t.Context(), o, target, "canary", c.fixture.Request.Body))
			})
			want := c.want(&fault)
			then := safetyThen{
				map[byte]string{'0': "backoff", '1': "end", '2': "token", '3': "backoff", '+': "throttle"}[want[0]],
				outcomeLetters[strings.ReplaceAll(want[1:], "S", "A")].String(),
			}
			if c.safety == "keyed" && want[0] == '3' {
				then.Next = "repeat"
			}
			text, _ := json.Marshal(then)
			if wants[rule] == nil {
				wants[rule] = map[string]map[string]string{}
			}
			if wants[rule][c.safety] == nil {
				wants[rule][c.safety] = map[string]string{}
			}
			earlier, has := wants[rule][c.safety][c.row.Body]
			require.True(t, !has || earlier == string(text), "%s of %s is %s, but others that fulfil rule %d are %s", fault.name, c.fixture.Name(), text, rule, earlier)
			wants[rule][c.safety][c.row.Body] = string(text)
			if seen := &file.Attempts[rule].Seen; !slices.Contains(*seen, fault.name) {
				*seen = append(*seen, fault.name)
			}
		}
	}
	for i := range file.Attempts {
		rule := &file.Attempts[i]
		require.NotEmpty(t, rule.Seen, "rule %d", i)
		rule.Classes = map[string]safetyThen{}
		for class, bodies := range wants[i] {
			number := map[string]int{}
			for _, then := range bodies {
				number[then]++
			}
			usual := slices.MaxFunc(slices.Sorted(maps.Keys(number)), func(a, b string) int { return number[a] - number[b] })
			for body, then := range bodies {
				var decoded safetyThen
				require.NoError(t, json.Unmarshal([]byte(then), &decoded))
				if then == usual {
					rule.Classes[class] = decoded
				} else {
					rule.Classes[class+", "+body] = decoded
				}
			}
		}
	}
}

// exempt reports the results that say nothing about their rule.
func (c *tableCase) exempt(fault *wireFault) bool {
	switch {
	case !c.concerns(fault), fault.name == "success beyond the limit": // the file has no limit
		return true
	case fault.unseen: // the reads before a repeat fail, too
		return c.safety == "keyed"
	case c.row.Name == "Reporting.Result": // see its "also"
		return fault.name == "500" || fault.name == "204"
	case fault.unread: // the client accepts some bodies that cannot be told from a proxy's
		return c.want(fault) == "1S"
	}
	return fault.name == "success of a proxy that names no type" && c.readsAnything()
}

// refused is a success status with the refusal of an operation.
func refused(c *tableCase, o *safetyOperation) wireFault {
	body, _ := json.Marshal(map[string]any{o.Refusal.Member: o.Refusal.Values[0]})
	return wireFault{
		name: "refusal", response: say(c.fixture.Response.Status, harness.VendorJSON, string(body)),
		request: map[string]string{"keyed": "1R", "never": "1R"},
	}
}

func readSafety(t *testing.T) *safetyFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tree.Root(t), "docs", "safety.json"))
	require.NoError(t, err)
	file := new(safetyFile)
	require.NoError(t, json.Unmarshal(text, file))
	return file
}

// onFile runs a client of the file against a server with faults, in virtual time.
func onFile(t *testing.T, file *safetyFile, c *tableCase, faults []wireFault, run func(t *testing.T, client *fileClient, server *tableServer, target string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := newTableServer(t, harness.NewPipes, c, faults...)
		config := tableConfig(server, true)
		switch fault := faults[0]; {
		case fault.dial != nil && (fault.waits || fault.unseen):
			fault.dial(t, &config)
		case fault.dial != nil: // the others need a network, which has no virtual time
			config.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }}
		}
		client := &fileClient{
			safetyFile: *file, base: strings.TrimSuffix(config.BaseURL, "/3.0/"), vendor: "vendor", transport: config.Transport,
			token: func(rejected string) string { return rejected + "canary" }, unknown: map[string]time.Time{},
		}
		query := url.Values{}
		for name, value := range c.fixture.Request.Query {
			query.Set(name, value)
		}
		run(t, client, server, strings.TrimSuffix(c.fixture.Request.Path+"?"+query.Encode(), "?"))
	})
}

// safetyNext are the rules of a further attempt. TestSafetyWaits compares the formulas with package liveness.
func safetyNext(t *testing.T) map[string]map[string]any {
	t.Helper()
	settings := scope(readSafety(t).Settings)
	usual := settings.value("attempt_timeout")
	of := func(attempt, silence float64) waits {
		return measuredWaits(t, scope{"attempt_timeout": attempt, "in_flight_wait": settings["in_flight_wait"]}, silence, 0)
	}
	rounded := func(value float64) float64 { return math.Round(value*1e6) / 1e6 }
	slack := func(attempt float64) float64 {
		w := of(attempt, attempt+1)
		return rounded(w.secondAsked - 2*w.first)
	}
	outage := of(usual, 300)
	longest, gone := rounded(outage.secondAsked-outage.first), rounded(of(usual, 1150).secondAsked)
	third := rounded(usual / of(usual, 0).firstAsked)
	limits := []any{[]any{"<", "tried", "attempts"}, []any{"<=", "retry_after", "retry_after_most"}}
	pause := []any{"min", []any{"*", "backoff_least", []any{"^", 2.0, []any{"-", "tried", 1.0}}}, "backoff_most"}
	wait := []any{"max", "retry_after", []any{"random", []any{"/", "pause", 2.0}, "pause"}}
	return map[string]map[string]any{
		"end":   {},
		"token": {"renewed": 1.0, "if": []any{[]any{"<=", "renewed", 1.0}}},
		"throttle": {
			"wait": []any{"or", "retry_after", []any{"random", "throttle_least", "throttle_most"}},
			"if":   append([]any{[]any{"<=", "throttled", "throttle_total"}}, limits...),
		},
		"backoff": {"tried": 1.0, "pause": pause, "wait": wait, "if": limits},
		"repeat": {
			"tried": 1.0, "pause": pause, "wait": wait, "if": limits, "same_bytes": true,
			"last_sent":          []any{"max", "began", []any{"-", "ended", "attempt_timeout"}},
			"first_sign_from":    []any{"/", "attempt_timeout", third},
			"slack":              []any{"min", []any{"max", slack(usual / 3), []any{"/", "attempt_timeout", rounded(usual / slack(usual))}}, []any{"/", "attempt_timeout", rounded(3 / slack(3))}},
			"gone":               []any{"min", []any{"+", []any{"*", 2.0, "first_sign"}, "slack"}, []any{"+", "first_sign", longest}, gone},
			"second_sign_from":   []any{"max", "attempt_timeout", "gone"},
			"second_sign_within": []any{"/", "attempt_timeout", 2.0},
			"repeat_from":        []any{"+", []any{"max", "attempt_timeout", "second_sign"}, "in_flight_wait"},
		},
	}
}
