package prepaidtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// The log has the subject of a request with any result, and marks repeats of a request id.
func TestRequest_SubjectAndRepeats(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "10"}), c.AddAccount(SeedAccount{})
	body := func(amount, id string) string {
		return fmt.Sprintf(`{"amount":%s,"request_id":%q,"source_reference":"s","destination_reference":"d","destination_account_id":%q,"transaction_type":1}`, amount, id, to)
	}
	c.Inject("POST /accounts/{id}/transfer", Respond(503, "").Times(1).WithProbability(1))
	c.post("accounts/"+string(from)+"/transfer", body("2.50", "r-1")).refused(503, "server_error")
	c.post("accounts/"+string(from)+"/transfer", body("2.50", "r-1")).ok()
	c.post("accounts/"+string(from)+"/transfer", body("2.50", "r-1")).ok()
	c.post("accounts/"+string(from)+"/transfer", body("1", "r-2")).ok()
	c.send("POST", "accounts/"+string(from)+"/transfer", body("1", "r-2"), http.Header{"Authorization": {"Bearer none"}})

	requests := c.Requests()[1:] // the first is for the token
	refused, moved, again, other, stranger := requests[0], requests[1], requests[2], requests[3], requests[4]
	require.Equal(t, []any{prepaid.AccountID(from), "2.50", prepaid.RequestID("r-1"), "active", "10.00"}, []any{refused.AccountID, refused.Amount, refused.RequestID, refused.AccountStatus, refused.AccountBalance})
	require.Equal(t, "respond 503", refused.FaultForm)
	require.Equal(t, []int64{0, refused.Number, refused.Number, 0, other.Number}, []int64{refused.RepeatOf, moved.RepeatOf, again.RepeatOf, other.RepeatOf, stranger.RepeatOf})
	require.Equal(t, []bool{false, false, true, false}, []bool{refused.Replayed, moved.Replayed, again.Replayed, other.Replayed})
	require.Equal(t, "7.50", again.AccountBalance)
	require.Empty(t, moved.FaultForm)
	require.Equal(t, []string{"1", "r-2"}, []string{stranger.Amount, string(stranger.RequestID)}, "it was refused before anybody read it")

	c.post("pin/initiate", `{"eaid":"`+string(from)+`"}`)
	require.EqualValues(t, from, c.lastRequest().AccountID)
	c.get("accounts/EA404")
	require.EqualValues(t, "EA404", c.lastRequest().AccountID)
	require.Empty(t, c.lastRequest().AccountStatus)
	c.post("accounts", `{"initial_load_amount":0x1f,"request_id":["r-1"]}`)
	require.Equal(t, []string{"0x1f", ""}, []string{c.lastRequest().Amount, string(c.lastRequest().RequestID)})
}

func TestRequest_SubjectsHideSecrets(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, text := range []string{`{"request_id":"pin=hunter2"}`, `{"account_id":"https://hunter2@a.example/"}`, `{"amount":"{\"otp\":\"hunter2\"}"}`, `{"eaid":{"pin":"hunter2"}}`} {
		c.post("simulation/transact", text)
	}
	c.Inject("POST /simulation/transact", RespondBody(200, "text/html", "access_token=hunter2"))
	c.post("simulation/transact", `{}`)
	require.Equal(t, `respond-body 200 "text/html" "[REDACTED]"`, c.lastRequest().FaultForm)
	c.post("simulation/transact", `{"request_id":"`+strings.Repeat("é", 300)+`"}`)
	require.EqualValues(t, strings.Repeat("é", 100), c.lastRequest().RequestID)
	require.NotContains(t, c.logText(), canary)
}

func TestRequest_ResponseHeaderAndDuration(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddAccount(SeedAccount{})
	c.get("accounts/company/42?page_size=1").ok()
	got := c.lastRequest()
	require.Equal(t, []string{vendorJSON, "1", fmt.Sprint(len(got.ResponseBody))},
		[]string{got.ResponseHeader.Get("Content-Type"), got.ResponseHeader.Get("X-TotalItems"), got.ResponseHeader.Get("Content-Length")})
	require.Positive(t, got.Duration)

	c.Inject("GET /policy/mccodes", SlowBody(10*time.Millisecond), TooManyRequests(3*time.Second))
	c.get("policy/mccodes?page_size=3").ok()
	require.NoError(t, c.WaitIdle(t.Context()))
	c.get("policy/mccodes")
	require.Equal(t, "3", c.lastRequest().ResponseHeader.Get("Retry-After"))
	require.NoError(t, c.Close()) // the time of a slow response is in the log when the handler is done
	requests := c.Requests()
	require.Greater(t, requests[len(requests)-2].Duration, 10*time.Millisecond)
}

// The log has a bound for bodies of any size.
func TestRequest_LogIsBoundedInMemory(t *testing.T) {
	t.Parallel()
	weight := Request{Body: strings.Repeat("b", 16<<10), ResponseBody: strings.Repeat("a", 16<<10)}.weight()
	s := NewServer(t, Options{})
	for i := range logMemory/weight + 5 {
		s.requests.Add(Request{Number: int64(i + 1), Body: strings.Repeat("b", 16<<10), ResponseBody: strings.Repeat("a", 16<<10)})
	}
	kept := s.Requests()
	require.Len(t, kept, logMemory/weight)
	require.Equal(t, int64(6), kept[0].Number)
}
