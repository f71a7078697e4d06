package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// docs/safety.json has the safety rules as data, for authors of clients in other languages. The operations are those of the written
// document, and TestSafetySettings of package prepaid writes the settings. The rest is written manually: the tests below compare it with
// the table of TestOutcomeTable, to which they hold the client, and with package liveness.
func TestSafetyFile(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, o := range reference.Read().Operations {
		var line strings.Builder
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(safetyOf(o)))
		lines = append(lines, "    "+strings.TrimSpace(line.String()))
	}
	text, err := os.ReadFile(filepath.Join(tree.Root(t), "docs", "safety.json"))
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)  "operations": \[.*?\n  \],`)
	require.Len(t, list.FindAll(text, -1), 1)
	renewed := "  \"operations\": [\n" + strings.Join(lines, ",\n") + "\n  ],"
	tree.Committed(t, "docs/safety.json", list.ReplaceAllLiteralString(strings.ReplaceAll(string(text), "\r\n", "\n"), renewed))
}

// safetyOf returns the line of an operation. If the class depends on a member, it is never, except with the listed values: a program that
// does not know the list, or sends another value, never repeats the request.
func safetyOf(o *reference.Operation) safetyOperation {
	row := safetyOperation{Operation: o.Name, Method: o.Method, Path: o.Path, Safety: o.Safety, Success: o.Success(), Body: o.Body, Also: o.Also}
	values := func(s *reference.Schema) []any {
		if s.Enum == nil {
			return []any{true, false}
		}
		return slices.Clone(s.Enum)
	}
	for member, never := range o.Never {
		schema, _ := o.Request.JSON().Properties.Get(member)
		others := slices.DeleteFunc(values(schema), func(v any) bool { return slices.Contains(never, v) })
		row.Safety, row.When = "never", []safetyWhen{{Member: member, Values: others, Safety: o.Safety}}
	}
	if o.Name == "Accounts.Transfer" {
		row.When = []safetyWhen{{Setting: "never_repeat_loads", Member: "transaction_type", Values: []any{2950}, Safety: "never"}}
		row.Refusal = &memberIs{Member: "transaction_id", Values: []any{nil, ""}}
	}
	switch {
	case o.Safety == "keyed":
		row.Key, row.Result = "request_id", &memberIs{Member: "transaction_id", Above: new(0.0)}
	case o.Body == "refusal":
		for _, member := range o.Response().Properties {
			if member.Name == "outcome" || member.Name == "success" {
				row.Result = &memberIs{Member: member.Name, Values: values(member.Value)}
			}
		}
	}
	return row
}

// A client that has only docs/safety.json makes as many attempts as TestOutcomeTable expects, and knows as much about their effect. Each
// conclusion of the file is drawn.
func TestSafetyFileIsEnough(t *testing.T) {
	t.Parallel()
	file := readSafety(t)
	for name, value := range map[string]float64{"attempts": 3, "throttle_least": 1, "throttle_most": 1, "throttle_total": 3, "backoff_most": 0} {
		file.Settings[name] = value // those of tableConfig
	}
	drawn, written := map[string]bool{}, map[string]bool{}
	for i, rule := range file.Attempts {
		for class, then := range rule.Classes {
			written[fmt.Sprint(i, " ", class)] = true
			repeats := then.Next != "end" && then.Outcome == "unknown"
			require.Equal(t, class == "keyed" && repeats, then.Next == "repeat", "rule %d of %s", i, class)
		}
	}
	cases := oneOfEachClass(t)
	for _, fault := range append(wireFaults(), wireFault{name: "refusal", request: map[string]string{"keyed": "1R"}}) {
		for _, c := range cases {
			if c.isRaw() || c.exempt(&fault) {
				continue
			}
			fault, o := fault, file.operation(c.operation.Name)
			if fault.name == "refusal" {
				if o.Refusal == nil {
					continue
				}
				fault.response = say(c.fixture.Response.Status, harness.VendorJSON, `{"transaction_id":null}`)
			}
			want := c.want(&fault)
			synctest.Test(t, func(t *testing.T) {
				client, server := c.fileClient(t, file, append([]wireFault{fault}, fault.then...))
				client.drawn = drawn
				query := url.Values{}
				for name, value := range c.fixture.Request.Query {
					query.Set(name, value)
				}
				target := strings.TrimSuffix(c.fixture.Request.Path+"?"+query.Encode(), "?")
				outcome, sent := client.call(t.Context(), c.operation.Name, target, c.fixture.Request.Body)
				server.Stop()
				require.Equal(t, outcomeLetters[strings.ReplaceAll(want[1:], "S", "A")].String(), outcome, "%s of %s", fault.name, c.fixture.Name())
				if want[0] == '+' {
					require.Greater(t, sent, 1)
				} else {
					require.Equal(t, want[:1], fmt.Sprint(sent), "%s of %s", fault.name, c.fixture.Name())
				}
				require.LessOrEqual(t, server.sum(), 1, "carried out twice")
				require.True(t, fault.unseen || sent == server.requests)
			})
		}
	}
	require.Equal(t, written, drawn)
}

// exempt reports the results that say nothing about their rule.
func (c *tableCase) exempt(fault *wireFault) bool {
	switch {
	case !c.concerns(fault), fault.name == "success beyond the limit": // the file has no limit
		return true
	case fault.unseen: // the reads before a repeat fail, too
		return c.safety == "keyed"
	case fault.unread: // the client accepts some bodies that cannot be told from a proxy's
		return c.want(fault) == "1S"
	}
	return fault.name == "success of a proxy that names no type" && c.readsAnything()
}

func readSafety(t *testing.T) *safetyFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tree.Root(t), "docs", "safety.json"))
	require.NoError(t, err)
	file := &safetyFile{vendor: "vendor"}
	require.NoError(t, json.Unmarshal(text, file))
	return file
}

// fileClient returns a client of the file and its server with faults.
//
//waits:bubble
func (c *tableCase) fileClient(t *testing.T, file *safetyFile, faults []wireFault) (*fileClient, *tableServer) {
	t.Helper()
	server := newTableServer(t, harness.NewPipes, c, faults...)
	config := tableConfig(server, true)
	switch fault := faults[0]; {
	case fault.dial != nil && (fault.waits || fault.unseen):
		fault.dial(t, &config)
	case fault.dial != nil: // the others need a network, which has no virtual time
		config.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }}
	}
	return &fileClient{
		safetyFile: *file, base: strings.TrimSuffix(config.BaseURL, "/3.0/"), transport: config.Transport,
		token: func(rejected string) string { return rejected + "canary" }, unknown: map[string]time.Time{},
	}, server
}

// The formulas of the wait in docs/safety.json give the times of package liveness, however long the service is silent, and whether or not
// it is silent again.
func TestSafetyWaits(t *testing.T) {
	t.Parallel()
	file := readSafety(t)
	for _, attempt := range []float64{3, 10, 30, 60} {
		for _, silence := range []float64{0, 0.4, 1, 1.01, 2.5, 10, 38.3, 43} {
			file.Settings["attempt_timeout"] = attempt
			w := measuredWaits(t, scope(file.Settings), silence*attempt, 0)
			s := file.scope(file.Next["repeat"])
			s["first_sign"], s["second_sign"] = w.first, w.second
			if w.secondAsked == 0 { // the first response is late enough
				s["second_sign"], w.secondAsked = w.first, w.first
			}
			require.InDelta(t, s.value("first_sign_from"), w.firstAsked, 1e-6)
			require.InDelta(t, max(w.first, s.value("second_sign_from")), w.secondAsked, 1e-6, "%v, %v", attempt, silence)
			require.InDelta(t, s.value("repeat_from"), w.repeat, 1e-6)

			if w.first > 1000 { // soon it is gone anyway
				continue
			}
			for late, more := range map[float64]float64{-1e-3: 2, 1e-3: 3} {
				w := measuredWaits(t, scope(file.Settings), silence*attempt, s.value("second_sign_within")+late)
				require.GreaterOrEqual(t, w.signs, more, "%v, %v: a slow response is a first one", attempt, silence)
				require.True(t, more == 3 || w.signs == 2)
			}
		}
	}
}

// waits are ages of a request of unknown outcome: when package liveness asks, when responses arrive, and when it permits the repeat. signs
// counts the responses.
type waits struct{ firstAsked, first, secondAsked, second, repeat, signs float64 }

// measuredWaits returns the waits of package liveness if the service is silent until the request has the age silence, and needs slow
// for its second response.
func measuredWaits(t *testing.T, settings scope, silence, slow float64) (w waits) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		attempt, wait := seconds(settings.value("attempt_timeout")), seconds(settings.value("in_flight_wait"))
		tracker, sent := liveness.New(attempt, wait), time.Now()
		age := func() float64 { return time.Since(sent).Seconds() }
		err := tracker.Await(t.Context(), liveness.Request{First: sent, Last: sent, NotBefore: sent.Add(attempt + wait)}, 24*time.Hour,
			liveness.Reader{Read: func(context.Context) (bool, error) {
				asked, at := age(), time.Now()
				if w.firstAsked == 0 {
					w.firstAsked = asked
				}
				if asked < silence {
					return false, harness.ErrCut
				}
				time.Sleep(time.Millisecond)
				if w.signs++; w.signs == 2 {
					time.Sleep(seconds(slow) - time.Millisecond)
				}
				tracker.Responded(at, time.Now())
				if w.signs == 1 {
					w.first = age()
				} else if w.secondAsked, w.second = asked, age(); w.signs > 4 {
					t.Error("endless")
				}
				return false, nil
			}})
		require.NoError(t, err)
		w.repeat = age()
	})
	return w
}
