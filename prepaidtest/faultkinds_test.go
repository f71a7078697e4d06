package prepaidtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
)

const codesOperation, resultOperation = "GET /policy/mccodes", "GET /reporting/templates/{templatename}/reports/{reportid}"

func TestFault_SubstituteContentType(t *testing.T) {
	t.Parallel()
	c := start(t, Options{ReportDelay: -1})
	id := c.AddAccount(SeedAccount{})
	want := c.get("accounts/" + id).ok().body
	c.Inject("GET /accounts/{id}", SubstituteContentType("application/json"), SubstituteContentType(""))
	got := c.get("accounts/" + id).ok()
	require.Equal(t, []string{"application/json"}, got.header.Values("Content-Type"))
	require.Equal(t, want, got.body)
	got = c.get("accounts/" + id).ok()
	require.Empty(t, got.header.Values("Content-Type"))
	require.Equal(t, want, got.body)

	c.Inject("PUT /accounts/{id}/status", SubstituteContentType("text/plain"))
	c.do("PUT", "accounts/"+id+"/status", `{"status":"closed"}`).empty(200)
	require.Equal(t, "closed", c.Status(id))

	run := string(c.get(settlement + "?include_column_headers=true").ok().body)
	c.Inject(resultOperation, SubstituteContentType("text/plain"), SubstituteContentType(""))
	require.Equal(t, "text/plain", c.get(settlement+"/reports/"+run).ok().header.Get("Content-Type"))
	require.Empty(t, c.get(settlement+"/reports/"+run).ok().header.Values("Content-Type"))
}

func TestFault_ExpireToken(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	other := c.newToken()
	c.Inject(AnyOperation, ExpireToken())
	spare := c.newToken()
	require.Equal(t, 1, c.FaultsLeft(), "the token endpoint takes no token")
	c.get("policy/mccodes").refused(401, "unauthorized")
	require.Zero(t, c.FaultsLeft())
	c.get("policy/mccodes").refused(401, "unauthorized")
	for _, token := range []string{other, spare, c.newToken()} {
		c.token = token
		c.get("policy/mccodes").ok()
	}

	c = start(t, Options{})
	c.Inject("GET /reporting/templates/{templatename}", ExpireToken())
	c.get(settlement+"?include_column_headers=true").refused(400, "unauthorized")
}

func TestFaultTextGoesBothWays(t *testing.T) {
	t.Parallel()
	forms := strings.Join(faults.Forms(), "\n")
	for text, fault := range map[string]Fault{
		"nothing":                      {},
		"commit-then-drop":             CommitThenDrop(),
		"drop-before-commit x3":        DropBeforeCommit().Times(3),
		"respond 503":                  Respond(503, ""),
		"respond 400 invalid_request":  Respond(400, "invalid_request"),
		`respond 400 "always" always`:  Respond(400, "always").Always(),
		`respond 400 "x3"`:             Respond(400, "x3"),
		`respond 400 "two words" p0.1`: Respond(400, "two words").WithProbability(0.1),
		`respond-body 502 "text/html" "<h1>\"no\"</h1>\n"`: RespondBody(502, "text/html", "<h1>\"no\"</h1>\n"),
		`respond-body 200 "" ""`:                           RespondBody(200, "", ""),
		"proxy-page 502":                                   ProxyPage(502),
		"delay 250ms":                                      Delay(250 * time.Millisecond),
		"truncate p1":                                      Truncate().WithProbability(1),
		`content-type "text/plain; charset=utf-8"`:         SubstituteContentType("text/plain; charset=utf-8"),
		`content-type ""`:                                  SubstituteContentType(""),
		"too-many-requests 2s x3 p0.5":                     TooManyRequests(2 * time.Second).Times(3).WithProbability(0.5),
		"too-many-requests x3":                             TooManyRequests(0).Times(3),
		"expire-token":                                     ExpireToken(),
		"drop-before-commit commit-after 12s":              DropBeforeCommit().CommitAfter(12 * time.Second),
		"proxy-page 502 commit-after 1.5s x3 p0.5":         ProxyPage(502).CommitAfter(1500 * time.Millisecond).Times(3).WithProbability(0.5),
		"respond 504 commit-after 1m0s always":             Respond(504, "").CommitAfter(time.Minute).Always(),
		`respond 504 "commit-after" commit-after 1s`:       Respond(504, "commit-after").CommitAfter(time.Second),
	} {
		require.Equal(t, text, fault.String())
		require.True(t, fault == Fault{} || strings.Contains(forms, strings.Fields(text)[0]), text)
		require.Equal(t, text, fmt.Sprint(fault))
		read, err := ParseFault(text)
		require.NoError(t, err, text)
		require.Equal(t, fault, read, text)
	}
	read, err := ParseFault(`  respond  "503"  p0.5   x2 `)
	require.NoError(t, err)
	require.Equal(t, Respond(503, "").Times(2).WithProbability(0.5), read)
}

func TestParseFault_SaysWhatIsWrongWithoutTheText(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]string{
		"": "known are commit-then-drop, ", "hunter2": "known are commit-then-drop, ", "x3": "known are commit-then-drop, ",
		"respond": "the status is missing", "respond hunter2": "the status must be", "respond 99": "200 to 999",
		"respond 400 code hunter2": "a word too many", "delay": "the duration is missing", "delay hunter2": "the duration must be",
		"delay -2s": "must not be negative", `content-type "hunter2`: "does not end",
		"content-type x3": "the type is missing", "respond-body 200 hunter2": "the body is missing",
		"truncate x0": "times must be", "truncate x1.5": "whole number", "truncate p2": "probability must be", "truncate p1-e": "must have a number",
		"truncate x2 x3": "repeated", "truncate always x3": "contradicts", "truncate pings": "is not for this", "truncate x3 hunter2": "too many",
		"truncate commit-after 1s": "does not carry", "proxy-page 502 commit-after": "duration of commit-after is missing",
		"proxy-page 502 commit-after 0s": "above 0", "proxy-page 502 x2 commit-after 1s": "is not for this",
		"proxy-page 502 commit-after 1s commit-after 1s": "repeated",
		"truncate pnan": "too many", "delay 1s 2s": "too many",
	} {
		_, err := ParseFault(text)
		require.ErrorContains(t, err, rule, text)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestDeliveryFaultTextGoesBothWays(t *testing.T) {
	t.Parallel()
	forms := strings.Join(faults.DeliveryForms(), "\n")
	for text, fault := range map[string]DeliveryFault{
		"nothing x2":                   DeliveryFault{}.Times(2),
		"duplicate-message 2":          DuplicateMessage(2),
		"lose-message always":          LoseMessage().Always(),
		"lose-response x2 p0.25 pings": LoseResponse().Times(2).WithProbability(0.25).WithPings(),
		"delay-message 5s":             DelayMessage(5 * time.Second),
	} {
		require.Equal(t, text, fault.String())
		require.True(t, strings.HasPrefix(text, "nothing ") || strings.Contains(forms, strings.Fields(text)[0]), text)
		read, err := ParseDeliveryFault(text)
		require.NoError(t, err, text)
		require.Equal(t, fault, read, text)
	}
	for text, rule := range map[string]string{
		"": "known are duplicate-message, ", "truncate": "known are duplicate-message, ", "duplicate-message": "missing", "duplicate-message 0": "1 or more",
		"delay-message 1s pings": "not for pings", "delay-message -1s": "negative", "lose-response pings pings": "repeated", `"`: "does not end",
	} {
		_, err := ParseDeliveryFault(text)
		require.ErrorContains(t, err, rule, text)
	}
}
