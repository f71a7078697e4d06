package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The whole table of DESIGN.md, "Outcomes": every operation, and calls of Client.Do of each class, against
// every fault of the wire and every pair of a doubtful first attempt with a second one. The expected outcome is written here
// once more, from the safety class alone.

func with(base, changes map[string]string) map[string]string {
	changed := maps.Clone(base)
	maps.Copy(changed, changes)
	return changed
}

// tableCase is an operation with a request of it and a success.
type tableCase struct {
	operation *reference.Operation
	safety    string // that of the request, see neverFixtures
	call      func(ctx context.Context, client *prepaid.Client) error
	fixture   *contract.Fixture
}

// kind is the other criterion next to the safety class.
func (c *tableCase) kind() string {
	if c.operation.Body == "json" && slices.Contains(c.operation.Success(), "204") && c.operation.Also == nil {
		return "empty"
	}
	return c.operation.Body
}

// neverFixtures are the requests that are never repeated though others of their operation are.
func neverFixtures() []string {
	return []string{"Accounts.SetStatus/200-active", "Accounts.SetStatus/200-pre_active", "Accounts.SetPlasticEnabled/200"}
}

func tableCases(t testing.TB) []tableCase {
	t.Helper()
	fixtures := contract.ReadFixtures(t)
	var cases []tableCase
	for _, o := range reference.Read().Operations {
		found := 0
		for _, c := range contract.Cases(t) {
			f := fixtures[c.Fixture]
			if c.Refusal || f.Operation != o.Name || (f.Response.Status == http.StatusNoContent && o.Safety == "read") {
				continue
			}
			if slices.Contains(neverFixtures(), c.Fixture) {
				cases = append(cases, tableCase{o, "never", c.Call, f})
			} else if found == 0 {
				found++
				cases = append(cases, tableCase{o, o.Safety, c.Call, f})
			}
		}
		require.NotZero(t, found, o.Name)
	}
	require.Len(t, cases, len(reference.Read().Operations)+len(neverFixtures()))
	return append(cases, rawCases()...)
}

// oneOfEachClass keeps one case of those of one class.
func oneOfEachClass(t *testing.T) []tableCase {
	t.Helper()
	seen := map[string]bool{}
	return slices.DeleteFunc(tableCases(t), func(c tableCase) bool {
		class := fmt.Sprint(c.safety, c.operation.Safety, c.operation.Body, c.operation.Success())
		known := seen[class]
		seen[class] = true
		return known
	})
}

// tableServer reads requests off raw connections, carries them out as the fault says, and responds.
type tableServer struct {
	*harness.Server
	mu       sync.Mutex // requests are handled one after the other
	requests int
	effects  map[string]int // by request_id, or all alike
}

// effect is one movement for a request id, however often it comes, as the service's cache makes it.
func (s *tableServer) effect(c *tableCase, body string) {
	var sent struct {
		RequestID string `json:"request_id"`
	}
	_ = json.Unmarshal([]byte(body), &sent)
	switch {
	case c.safety == "read" || c.safety == "token":
	case c.safety == "repeated" || (c.safety == "keyed" && sent.RequestID != ""):
		s.effects[sent.RequestID] = 1
	default:
		s.effects[sent.RequestID]++
	}
}

func (s *tableServer) sum() int {
	sum := 0
	for _, effects := range s.effects {
		sum += effects
	}
	return sum
}

// listener is harness.NewServer or harness.NewPipes.
type listener func(t *testing.T, respond func(n int, p *harness.Peer)) *harness.Server

// newTableServer responds to the n-th request by the n-th fault; the last one goes on.
func newTableServer(t *testing.T, listen listener, c *tableCase, faults ...wireFault) *tableServer {
	t.Helper()
	s := &tableServer{effects: make(map[string]int)}
	s.Server = listen(t, func(_ int, p *harness.Peer) {
		s.mu.Lock()
		defer s.mu.Unlock()
		fault := faults[min(s.requests, len(faults)-1)]
		s.requests++
		if fault.effect {
			s.effect(c, p.Request.Body)
		}
		if fault.response != nil {
			fault.response(p.Conn, c.fixture)
		}
	})
	return s
}

// tableConfig has pauses of one nanosecond on sockets, and of seconds on pipes, where they pass at once.
func tableConfig(server *tableServer, onPipes bool) prepaid.Config {
	config := contract.Config(nil)
	config.Token = harness.NumberedTokens("canary-")
	config.BaseURL, config.MaxResponseBytes = server.Address+"/3.0/", 16<<10
	config.AttemptTimeout = time.Minute
	config.Retry = prepaid.RetryPolicy{MaxAttempts: 3, MinWait: 1, MaxWait: 1}
	if onPipes {
		config.Transport = server.Transport()
		config.AttemptTimeout = 10 * time.Second
		config.Retry = prepaid.RetryPolicy{MaxAttempts: 3, MinWait: time.Second, MaxWait: time.Second, MaxThrottleWait: 3 * time.Second}
	}
	return config
}

func (c *tableCase) run(ctx context.Context, t *testing.T, config prepaid.Config) error {
	t.Helper()
	if c.safety == "token" {
		config.Token = nil
	}
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	err = c.call(ctx, client)
	require.NoError(t, client.Close())
	return err
}

var outcomeLetters = map[string]prepaid.Outcome{"A": prepaid.OutcomeApplied, "R": prepaid.OutcomeRejected, "N": prepaid.OutcomeNotProcessed, "U": prepaid.OutcomeUnknown}

func (c *tableCase) check(t *testing.T, want string, err error, requests int) {
	t.Helper()
	number, outcome := want[:len(want)-1], want[len(want)-1:]
	if number == "+" {
		require.Greater(t, requests, 1, "%v", err)
	} else {
		require.Equal(t, number, strconv.Itoa(requests), "requests; %v", err)
	}
	if outcome == "S" {
		require.NoError(t, err)
		return
	}
	failure := harness.As[*prepaid.CallError](t, err)
	if c.safety == "token" {
		outcome = "N" // without a token nothing is processed, whatever is wrong
	}
	require.Equal(t, outcomeLetters[outcome], failure.Outcome, "%v", err)
	require.Equal(t, c.operation.Name, failure.Operation)
	if c.safety != "token" { // the attempts of a token are not those of a call
		require.Equal(t, requests, failure.Attempts)
		require.Equal(t, requests == 0, failure.FirstSent.IsZero())
	}
	if requests <= 1 && !strings.Contains(err.Error(), "has not responded since") {
		require.NotContains(t, err.Error(), "earlier attempt", "there was none")
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprint(failure.Err)} {
		require.NotRegexp(t, `canary|Bad gateway|lost|\b1000\b|\n`, text)
	}
}

// want is the expected result of a fault for the request of a case.
func (c *tableCase) want(fault *wireFault) string {
	want := fault.request[c.safety]
	if other, ok := fault.request[c.safety+", "+c.kind()]; ok {
		want = other
	}
	switch {
	case fault.name == "204" && (strings.HasPrefix(c.operation.Name, "PIN.") || c.isRaw()):
		return "1S" // the reference shows no statuses
	case fault.unread && c.isRaw() && c.safety == "repeated":
		return "1U" // others of its class have no body to read
	case c.operation.Name == "Reporting.Result" && fault.name == "500":
		return "1N" // the report must be requested again
	case c.readsAnything() && (fault.name == "success that cannot be read" || fault.name == "success of a proxy that names no type"):
		return "1S"
	}
	return want
}

// concerns leaves out impossible cases: a 204 has no body, and that of a PIN change is the caller's to read.
func (c *tableCase) concerns(fault *wireFault) bool {
	switch fault.name {
	case "success cut off", "success beyond the limit", "success of a proxy", "success of a proxy that names no type":
		return c.fixture.Response.Status != http.StatusNoContent
	case "success that cannot be read":
		return c.fixture.Response.Status != http.StatusNoContent && !strings.HasPrefix(c.operation.Name, "PIN.")
	case "success that says error":
		return !strings.HasPrefix(c.operation.Name, "PIN.") && !c.readsAnything()
	}
	return true
}

// readsAnything reports the operations whose successful body is a bare string that may be anything; that of a report's start
// must look like an id.
func (c *tableCase) readsAnything() bool {
	return c.fixture.Response.Header["Content-Type"] == "application/octet-stream" && c.operation.Name != "Reporting.Start"
}

func TestOutcomeTable(t *testing.T) {
	t.Parallel()
	all, few := tableCases(t), oneOfEachClass(t)
	for _, fault := range wireFaults() {
		cases := all
		if fault.few {
			cases = few
		}
		for _, c := range cases {
			if c.concerns(&fault) {
				waits := fault.waits || c.safety == "keyed" && (fault.unseen || strings.HasPrefix(c.want(&fault), "3"))
				runRow(t, fault.name+"/"+c.fixture.Name(), waits, func(t *testing.T, listen listener) {
					t.Helper()
					checkFaultOf(t, listen, waits, &c, fault)
				})
			}
		}
	}
}

// runRow checks a row of a table on sockets or, if something in it waits, on pipes in a synctest bubble, where a wait takes no time.
func runRow(t *testing.T, name string, waits bool, check func(t *testing.T, listen listener)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		if waits {
			synctest.Test(t, func(t *testing.T) { check(t, harness.NewPipes) })
		} else {
			check(t, harness.NewServer)
		}
	})
}

func checkFaultOf(t *testing.T, listen listener, onPipes bool, c *tableCase, fault wireFault) {
	t.Helper()
	server := newTableServer(t, listen, c, append([]wireFault{fault}, fault.then...)...)
	config := tableConfig(server, onPipes)
	if fault.dial != nil {
		fault.dial(t, &config)
	}
	var tries atomic.Int32
	config.Trace = &prepaid.Trace{AttemptDone: func(context.Context, prepaid.Operation, prepaid.Attempt) { tries.Add(1) }}
	began := time.Now()
	err := c.run(t.Context(), t, config)
	ended := time.Now()
	server.Stop()
	requests := server.requests
	if fault.unseen {
		require.Zero(t, requests)
		requests, _ = strconv.Atoi(c.want(&fault)[:1])
	}
	c.check(t, c.want(&fault), err, requests)
	if err != nil && c.safety != "token" {
		fault.cause.check(t, c, err)
		c.checkCall(t, harness.CallError(t, err), began, ended)
		if requests == 0 {
			require.Equal(t, map[bool]int32{true: 1, false: 3}[fault.name == "untrusted certificate"], tries.Load())
		}
	}
	effect := fault.effect || len(fault.then) > 0
	require.Equal(t, effect && c.safety != "read" && c.safety != "token", server.sum() == 1)
	require.LessOrEqual(t, server.sum(), 1, "carried out twice")
}

// checkCall checks how an error identifies its call.
func (c *tableCase) checkCall(t *testing.T, failure *prepaid.CallError, began, ended time.Time) {
	t.Helper()
	var sent struct {
		RequestID prepaid.RequestID `json:"request_id"`
		AccountID prepaid.AccountID `json:"account_id"`
		Replaced  prepaid.AccountID `json:"account_id_to_replace"`
		OfPIN     prepaid.AccountID `json:"eaid"`
	}
	if body := c.fixture.Request.Body; body != nil {
		require.NoError(t, json.Unmarshal(body, &sent))
	}
	if strings.HasPrefix(c.operation.Path, "/accounts/{id}") && !c.isRaw() {
		sent.AccountID = prepaid.AccountID(strings.Split(c.fixture.Request.Path, "/")[3])
	}
	require.Equal(t, cmp.Or(sent.AccountID, sent.Replaced, sent.OfPIN), failure.AccountID)
	require.Equal(t, sent.RequestID, failure.RequestID)
	if failure.Attempts == 0 {
		require.Zero(t, failure.LastSent)
		return
	}
	require.False(t, failure.FirstSent.Before(began) || failure.LastSent.After(ended) || failure.LastSent.Before(failure.FirstSent))
	require.True(t, failure.Attempts == 1 || failure.LastSent.After(failure.FirstSent))
	require.True(t, failure.Attempts > 1 || failure.LastSent.Equal(failure.FirstSent))
}

// A first attempt of unknown outcome, and a second one. The outcome stays unknown, unless a success or, for a keyed
// movement, a refusal resolves it. One operation of each class represents all.
func TestOutcomeTableOfPairs(t *testing.T) {
	firsts := []wireFault{
		{name: "reset after the effect", effect: true, response: sayReset, cause: cause{has: holds[*prepaid.TransportError]}},
		{name: "503", effect: true, response: sayError(503, "unavailable"), cause: cause{is: prepaid.ErrServer}},
		{name: "no response in time", effect: true, waits: true, cause: cause{is: os.ErrDeadlineExceeded}},
	}
	well := wireFault{name: "success", effect: true, response: sayWell}
	seconds := []struct {
		name   string
		faults []wireFault
		read   string
		write  string
		is     error // the last cause
	}{
		{"success", []wireFault{well}, "2S", "2S", nil},
		{"429 and success", []wireFault{{response: sayError(429, "rate_limit_exceeded")}, well}, "3S", "3S", nil},
		{"401 and success", []wireFault{{response: sayError(401, "invalid_token")}, well}, "3S", "3S", nil},
		{"429 for ever", []wireFault{{response: sayError(429, "rate_limit_exceeded"), waits: true}}, "+N", "+U", prepaid.ErrRateLimited},
		{"401 for ever", []wireFault{{response: sayError(401, "invalid_token")}}, "3N", "3U", prepaid.ErrUnauthorized},
		{"400", []wireFault{{response: sayError(400, "invalid_request")}}, "2R", "2U", prepaid.CodeInvalidRequest},
		{"403", []wireFault{{response: sayError(403, "forbidden")}}, "2R", "2U", prepaid.ErrForbidden},
		{"404", []wireFault{{response: sayError(404, "not_found")}}, "2R", "2U", prepaid.ErrorCode("not_found")},
		{"409", []wireFault{{response: sayError(409, "duplicate")}}, "2R", "2U", prepaid.ErrConflict},
		{"302", []wireFault{{response: say(302, "", "")}}, "2N", "2U", nil},
		{"failed transfer", []wireFault{{response: say(200, harness.VendorJSON, `{"transaction_id":"","correlation_id":"c"}`)}}, "", "2R", prepaid.ErrTransferFailed},
		{"cancellation", []wireFault{{name: "cancel"}}, "2N", "2U", context.Canceled},
	}
	t.Parallel()
	cases := oneOfEachClass(t)
	for _, first := range firsts {
		for _, second := range seconds {
			for _, c := range cases {
				if second.name == "failed transfer" && c.operation.Name != "Accounts.Transfer" {
					continue
				}
				waits := c.safety == "keyed" || first.waits || second.faults[0].waits
				runRow(t, first.name+" then "+second.name+"/"+c.fixture.Name(), waits, func(t *testing.T, listen listener) {
					t.Helper()
					err := checkPair(t, listen, waits, &c, first, second.name, second.faults, map[bool]string{true: second.read, false: second.write})
					if err == nil || c.safety == "never" || c.safety == "token" {
						return
					}
					if second.is != nil {
						require.ErrorIs(t, err, second.is)
					}
					failure := harness.CallError(t, err)
					require.Equal(t, failure.Outcome == prepaid.OutcomeUnknown, strings.Contains(err.Error(), "an earlier attempt may have been applied"))
					switch {
					case failure.Outcome == prepaid.OutcomeUnknown:
						require.True(t, first.cause.has == nil || first.cause.has(err))
						require.True(t, first.cause.is == nil || errors.Is(err, first.cause.is))
					case c.safety == "keyed":
						require.True(t, prepaid.ProvesNotApplied(err, failure.FirstSent))
						require.Zero(t, failure.NotBefore)
					}
				})
			}
		}
	}
}

func checkPair(
	t *testing.T, listen listener, onPipes bool, c *tableCase, first wireFault, second string, faults []wireFault, wants map[bool]string,
) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	faults = slices.Clone(faults)
	if second == "cancellation" {
		faults[0].response = func(net.Conn, *contract.Fixture) { cancel() }
	}
	server := newTableServer(t, listen, c, append([]wireFault{first}, faults...)...)
	err := c.run(ctx, t, tableConfig(server, onPipes))
	server.Stop()
	reads := c.safety == "read" || c.safety == "token"
	want := wants[reads]
	switch {
	case c.safety == "never":
		want = "1U"
	case c.safety == "keyed" && (second == "400" || second == "failed transfer"):
		want = "2R"
	case c.safety == "token" && strings.HasPrefix(second, "401"):
		want = "2R" // wrong credentials: there is no other token to try
	}
	c.check(t, want, err, server.requests)
	if reads {
		require.Zero(t, server.sum())
	} else {
		require.Equal(t, 1, server.sum(), "carried out twice, or not at all")
	}
	return err
}
