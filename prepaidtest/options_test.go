package prepaidtest

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSpec_4_4_ExpiriesOfANewAccount(t *testing.T) {
	t.Parallel()
	const plastic, gift, old = "2031-02-03T04:05:06Z", "2032-02-03T04:05:06Z", "2033-02-03T04:05:06Z"
	for _, custom := range []bool{false, true} {
		c := start(t, Options{InitialStatus: "active", CustomPlasticExpiry: custom})
		created := c.post("accounts", body(t, creation, map[string]any{
			"plastic_expiry": plastic, "gift_card_expiry": gift, "account_expiry": old, "client_account_key": "both",
		})).object()
		require.Equal(t, custom, created["plastic_expiry"] == plastic)
		require.Equal(t, "active", created["status"])
		require.Equal(t, gift, c.get("accounts?client_id=acme&client_account_key=both").list()[0]["account_expiry"])
		c.post("accounts", body(t, creation, map[string]any{"account_expiry": old, "client_account_key": "one"}))
		require.Equal(t, old, c.get("accounts?client_id=acme&client_account_key=one").list()[0]["account_expiry"])
	}
}

func TestOptions_Logger(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	c := start(t, Options{Logger: slog.New(slog.NewTextHandler(&text, nil))})
	c.get("accounts/company/42?first_name=Ada")
	require.NoError(t, c.Close())
	require.Contains(t, text.String(), "template=/accounts/company/{companyid} status=204")
	require.NotContains(t, text.String(), "Ada")
	require.NotContains(t, text.String(), c.token)
}

func TestOptions_AlertEveryAndOTPLifetime(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	c := start(t, Options{WebhookRoots: r.pool(), FrozenClock: true, AlertEvery: time.Minute, OTPLifetime: time.Second})
	c.addHook(hookText(t, r.URL, nil))
	r.answer(500)
	id := c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	c.Advance(time.Minute)
	c.quiet()
	require.Equal(t, []string{"ping", "transaction", "undeliverable_alert"}, r.types())

	initiate := `{"device_id":"d","ip_address":"i","communication_method":"sms","eaid":"` + id + `"}`
	first := c.post("pin/initiate", initiate).object()["operation_id"].(string)
	require.NotEmpty(t, c.OTP(first))
	c.Advance(time.Second)
	second := c.post("pin/initiate", initiate).object()["operation_id"].(string)
	require.NotEmpty(t, c.OTP(second))
	require.Equal(t, 1, strings.Count(c.text(), `"operation_id"`), "what has expired is forgotten")
}

func TestClearFaults(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.Inject("GET /policy/mccodes", Respond(500, ""), Respond(500, ""))
	require.Equal(t, 2, c.FaultsLeft())
	c.ClearFaults()
	c.get("policy/mccodes").ok()
}

// If a request gets a 204 with a body, the next request already on the connection is not lost.
func TestReport_APipelinedRequestSurvivesThe204(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, ReportDelay: time.Minute})
	run := string(c.get(settlement + "?include_column_headers=true").ok().body)
	connection, err := net.Dial("tcp", strings.Split(c.URL, "/")[2])
	require.NoError(t, err)
	defer func() { _ = connection.Close() }()
	require.NoError(t, connection.SetDeadline(time.Now().Add(10*time.Second)))
	ask := func(path, more string) string {
		return "GET /3.0/" + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + c.token + "\r\n" + more + "\r\n"
	}
	_, err = io.WriteString(connection, ask(settlement+"/reports/"+run, "")+ask("policy/42/policy", "Connection: close\r\n"))
	require.NoError(t, err)
	all, err := io.ReadAll(connection)
	require.NoError(t, err)
	head, second, found := bytes.Cut(all, []byte("please wait\"}"))
	require.True(t, found)
	require.Contains(t, string(head), "204 No Content")
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(second)), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, 200, response.StatusCode)
}
