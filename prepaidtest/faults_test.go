package prepaidtest

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

func TestFault_ResponsesInOrder(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
	c.Inject(transferOperation, Respond(500, ""), Respond(429, ""), Respond(400, "odd_code"), RespondBody(502, "text/html", "<h1>Bad gateway</h1>"),
		ProxyPage(502), TooManyRequests(1500*time.Millisecond).Times(2), TooManyRequests(0))
	send := func() reply { return c.post("accounts/"+from+"/transfer", transferTo(t, to, nil)) }
	c.send("POST", "accounts/"+from+"/transfer", "{}", http.Header{}).refused(401, "unauthorized") // uses none
	for _, want := range []struct {
		status           int
		code, text, wait string
	}{
		{500, "server_error", "", ""}, {429, "rate_limit_exceeded", "", ""}, {400, "odd_code", "", ""}, {502, "", "<h1>Bad gateway</h1>", ""},
		{502, "", "<h1>502 Bad Gateway</h1>", ""}, {429, "rate_limit_exceeded", "", "2"}, {429, "rate_limit_exceeded", "", "2"},
		{429, "rate_limit_exceeded", "", ""},
	} {
		got := send()
		require.Equal(t, want.wait, got.header.Get("Retry-After"))
		if want.code != "" {
			got.refused(want.status, want.code)
			continue
		}
		require.Equal(t, want.status, got.status)
		require.Equal(t, "text/html", got.header.Get("Content-Type"))
		require.Contains(t, string(got.body), want.text)
	}
	require.Equal(t, "100.00", c.Balance(from))
	send().ok()
}

func TestFault_TruncateAndDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{InMemory: true, ReportDelay: -1})
		id := c.AddAccount(SeedAccount{})
		c.Inject("GET /accounts/{id}", Truncate(), Delay(30*time.Second))
		got, err := c.try("GET", "accounts/"+id, "", c.header(""))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, 200, got.status)
		require.NotEmpty(t, got.body)
		began := time.Now()
		c.get("accounts/" + id).ok()
		require.Equal(t, 30*time.Second, time.Since(began))

		c.Inject("PUT /accounts/{id}/status", Truncate()) // a response without a body: its head is cut
		text := `{"status":"closed"}`
		_, err = c.try("PUT", "accounts/"+id+"/status", text, c.header(text))
		require.Error(t, err)
		require.Equal(t, "closed", c.Status(id))

		const result = "GET /reporting/templates/{templatename}/reports/{reportid}"
		run := string(c.get(settlement + "?include_column_headers=true").ok().body)
		c.Inject(result, Truncate())
		got, err = c.try("GET", settlement+"/reports/"+run, "", c.header(""))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, 200, got.status)
		c.Inject(result, DropBeforeCommit(), CommitThenDrop(), DropBeforeCommit(), DropBeforeCommit(), DropBeforeCommit())
		_, err = c.try("GET", settlement+"/reports/"+run, "", c.header("")) // net/http repeats a GET on a used connection
		if err == nil {
			require.NotZero(t, c.FaultsLeft())
		}
	})
}

func TestFault_UnknownOperationFailsTheTest(t *testing.T) {
	t.Parallel()
	recorder := &failures{TB: t}
	s := NewServer(recorder, Options{})
	s.Inject("POST /accounts/42/transfer", CommitThenDrop())
	require.Len(t, recorder.messages, 1)
	require.Contains(t, recorder.messages[0], "Inject")
	require.Zero(t, s.FaultsLeft())
	s.Balance("nobody")
	s.SetStatus("nobody", "gone")
	s.AddAccount(SeedAccount{CompanyID: 9})
	s.AddAccount(SeedAccount{Balance: "ten"})
	s.OTP("nothing")
	require.Len(t, recorder.messages, 6)
}

// failures keeps the messages that a server would report to its test.
type failures struct {
	testing.TB
	messages []string
}

// Errorf keeps the message.
func (f *failures) Errorf(format string, args ...any) {
	f.messages = append(f.messages, fmt.Sprintf(format, args...))
}

func TestRequestsAreLoggedWithoutSecrets(t *testing.T) {
	t.Parallel()
	c := start(t, Options{RequestLog: 3})
	r := newReceiver(t)
	c.post("hooks", hookText(t, r.URL, map[string]any{"enabled": false}))
	c.get("accounts/company/42?first_name=Ada&mobile=0400")
	c.send("GET", "nowhere", "", http.Header{})
	requests := c.Requests()
	require.Len(t, requests, 3, "the oldest went")
	require.Equal(t, "/hooks", requests[0].Template)
	require.Equal(t, "POST", requests[0].Method)
	require.Equal(t, 201, requests[0].Status)
	require.Contains(t, requests[0].Body, `"hmac_key_secret":"[REDACTED]"`)
	require.Contains(t, requests[0].Body, r.URL)
	require.Equal(t, "", requests[2].Template)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		line := fmt.Sprintf(verb, requests)
		require.NotContains(t, line, "Ada")
		require.NotContains(t, line, r.URL)
		require.Contains(t, line, "GET /3.0/accounts/company/42 204")
	}
	c.newToken()
	last := c.Requests()[2]
	require.Equal(t, "Basic "+requestlog.Masked, last.Header.Get("Authorization"))
	require.Equal(t, "grant_type=client_credentials", last.Body)

	c.post("hooks", `{"hmac_key_secret":"`+hookSecret+`",`)
	require.Equal(t, requestlog.Masked, c.Requests()[2].Body, "what cannot be read is masked whole")
}

func TestFault_TimesAndAlways(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	endlessly := Respond(503, "").Times(9).Always()
	c.Inject(codesOperation, Respond(500, "").Always().Times(3), endlessly)
	c.Inject(AnyOperation, Delay(0))
	require.Equal(t, 5, c.FaultsLeft())
	for range 2 {
		c.get("policy/mccodes").refused(500, "server_error")
	}
	require.Equal(t, []ArmedFault{
		{codesOperation, Respond(500, "").Times(3), 2, 1}, {codesOperation, endlessly, 0, -1}, {AnyOperation, Delay(0), 0, 1},
	}, c.Faults())
	c.get("policy/mccodes").refused(500, "server_error")
	for range 5 {
		c.get("policy/mccodes").refused(503, "server_error")
	}
	require.Equal(t, ArmedFault{codesOperation, endlessly, 5, -1}, c.Faults()[0])
	c.RemoveFaults(codesOperation)
	require.Len(t, c.Faults(), 1)
	c.get("policy/mccodes").ok()
	require.Empty(t, c.Faults())
	c.Inject(codesOperation, Respond(500, ""), Respond(500, ""))
	c.ClearFaults()
	c.get("policy/mccodes").ok()
}

func TestFault_ProbabilityIsSeeded(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) (statuses []int) {
		c := start(t, Options{InMemory: true, RandomSeed: &seed, RateLimit: -1})
		c.Inject(codesOperation, Respond(500, "").WithProbability(0.25), Respond(429, "").WithProbability(0.5).Times(3))
		for range 200 {
			statuses = append(statuses, c.get("policy/mccodes?page_size=1").status)
		}
		require.Len(t, c.Faults(), 1, "the one with Times is used up")
		return statuses
	}
	count := make(map[int]int)
	first := draw(7)
	for _, status := range first {
		count[status]++
	}
	require.Equal(t, 3, count[429])
	require.InDelta(t, 50, count[500], 25)
	require.Equal(t, 200, count[200]+count[429]+count[500])
	require.Equal(t, first, draw(7))
	require.NotEqual(t, first, draw(8))

	plain, faulty := start(t, Options{RandomSeed: new(uint64(7))}), start(t, Options{RandomSeed: new(uint64(7))})
	faulty.Inject(codesOperation, Respond(500, "").WithProbability(0.5))
	faulty.get("policy/mccodes")
	require.Equal(t, plain.newToken(), faulty.newToken(), "draws do not change the ids")
}

func TestFault_BadNumbersFailTheTest(t *testing.T) {
	t.Parallel()
	for rule, fault := range map[string]Fault{
		"times must":       Truncate().Times(0),
		"probability must": Truncate().WithProbability(0),
		"at most 1":        Truncate().WithProbability(1.01),
		"above 0":          Truncate().WithProbability(math.NaN()),
		"status must":      Respond(199, ""),
		"200 to 999":       RespondBody(1000, "", ""),
		"the status":       ProxyPage(0),
		"duration must":    Delay(-1),
		"not be negative":  TooManyRequests(-1),
	} {
		recorder := &failures{TB: t}
		s := NewServer(recorder, Options{})
		s.Inject(codesOperation, CommitThenDrop(), fault)
		require.Len(t, recorder.messages, 1, rule)
		require.Contains(t, recorder.messages[0], rule)
		require.Zero(t, s.FaultsLeft(), "nothing is armed")
	}
	recorder := &failures{TB: t}
	NewServer(recorder, Options{}).Inject("POST /token", ExpireToken())
	require.Len(t, recorder.messages, 1)
	require.Contains(t, recorder.messages[0], "token endpoint")
}
