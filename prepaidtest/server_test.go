package prepaidtest

import (
	"crypto"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// The emulator handles each operation.
func TestSpec_4_Operations(t *testing.T) {
	t.Parallel()
	for _, route := range (&service.Service{}).Routes() {
		require.NotNil(t, route.Handle, route.Name)
	}
}

func TestSpec_4_1_Token(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, TokenLifetime: 20 * time.Minute})
	good, grant := basic("emulator-client", "emulator-secret"), "grant_type=client_credentials"

	got := c.tokenRequest(good, grant).ok().object()
	require.Equal(t, "bearer", got["token_type"])
	require.Equal(t, "1200", got["expires_in"].(fmt.Stringer).String())
	require.Len(t, got, 3)

	for _, test := range []struct {
		name, authorization, body string
		status                    int
		code                      string
	}{
		{"no credentials", "", grant, 400, "invalid_client"},
		{"no secret", basic("emulator-client", ""), grant, 400, "invalid_client"},
		{"no id", basic("", "emulator-secret"), grant, 400, "invalid_client"},
		{"another scheme", "Bearer x", grant, 400, "invalid_client"},
		{"no grant", good, "", 400, "invalid_request"},
		{"two grants", good, grant + "&" + grant, 400, "invalid_request"},
		{"secret in the body", good, grant + "&client_secret=x", 400, "invalid_request"},
		{"another grant", good, "grant_type=password", 400, "unsupported_grant_type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.tokenRequest(test.authorization, test.body).refused(test.status, test.code)
		})
	}
	c.send("POST", "token", grant, http.Header{"Authorization": {good}, "Content-Type": {vendorJSON}}).refused(400, "invalid_request")
}

func TestSpec_5_Rule3_SeveralTokensUntilTheSecondTheyExpire(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, TokenLifetime: time.Hour})
	first := c.token
	c.Advance(30 * time.Minute)
	c.token = c.newToken()
	require.NotEqual(t, first, c.token)

	with := func(authorization string) reply {
		return c.send("GET", "policy/42/policy", "", http.Header{"Authorization": {authorization}})
	}
	with("Bearer " + first).ok() // several at once
	with("bearer " + c.token).ok()
	c.Advance(30*time.Minute - time.Nanosecond)
	with("Bearer " + first).ok()
	c.Advance(time.Nanosecond)
	with("Bearer "+first).refused(401, "unauthorized")
	with("Bearer " + c.token).ok()
	c.RevokeTokens()
	with("Bearer "+c.token).refused(401, "unauthorized")
}

func TestSpec_4_2_BadTokenOnReportStartIsASetting(t *testing.T) {
	t.Parallel()
	for status, options := range map[int]Options{400: {}, 401: {Kind: true}} {
		c := start(t, options)
		path := "reporting/templates/daily_settlement"
		c.send("GET", path+"?include_column_headers=true", "", http.Header{}).refused(status, "unauthorized")
		c.send("GET", path+"/reports/x", "", http.Header{}).refused(401, "unauthorized")
	}
}

func TestSpec_7_UnknownPathAndMethod(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, path := range []string{"", "accounts/", "accounts//status", "nothing", "accounts/a/b/c/d", "policy/42/nothing"} {
		c.get(path).refused(404, "not_found")
	}
	c.do("DELETE", "accounts/a", "").refused(405, "method_not_allowed")
	got, err := http.Get(strings.TrimSuffix(c.URL, "3.0/") + "accounts")
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	require.Equal(t, 404, got.StatusCode)
	http.DefaultClient.CloseIdleConnections()

	id := c.AddAccount(SeedAccount{ID: "a/b c"})
	c.get("accounts/a%2Fb%20c").ok()
	require.Equal(t, "a/b c", id)
}

func TestSpec_8_RateLimitUntilTheWindowEnds(t *testing.T) {
	t.Parallel()
	c := start(t, Options{InMemory: true, FrozenClock: true, RetryAfter: true})
	for range 999 { // the token request was the first
		c.get("policy/42/policy").ok()
	}
	c.Advance(7500 * time.Millisecond)
	got := c.get("policy/42/policy")
	got.refused(429, "rate_limit_exceeded")
	require.Equal(t, "3", got.header.Get("Retry-After"))
	c.Advance(2499 * time.Millisecond)
	c.tokenRequest("", "").refused(429, "rate_limit_exceeded")
	c.Advance(time.Millisecond)
	c.get("policy/42/policy").ok()
}

func TestStrictness(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	plastic := "accounts/" + id + "/plastic"
	for _, test := range []struct{ name, body, field string }{
		{"unknown member", `{"plastic_enabled":true,"colour":"red"}`, "colour"},
		{"missing member", `{}`, "plastic_enabled"},
		{"wrong type", `{"plastic_enabled":"true"}`, "plastic_enabled"},
		{"null", `{"plastic_enabled":null}`, "plastic_enabled"},
		{"twice", `{"plastic_enabled":true,"plastic_enabled":false}`, "twice"},
		{"not an object", `[true]`, "object"},
		{"not JSON", `{"plastic_enabled":tru}`, "object"},
		{"text behind", `{"plastic_enabled":true} x`, "after"},
		{"other case", `{"Plastic_Enabled":true}`, "plastic_enabled"},
		{"bad UTF-8", "{\"plastic_enabled\":true,\"initiating_user_id\":\"\xff\"}", "UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Contains(t, c.do("PUT", plastic, test.body).refused(400, "invalid_request"), test.field)
		})
	}
	require.Contains(t, c.get("accounts/"+id+"?with_everything=1").refused(400, "invalid_request"), "with_everything")
	require.Contains(t, c.get("accounts/"+id+"?with_bpay=1&with_bpay=1").refused(400, "invalid_request"), "with_bpay")
	c.get("accounts/"+id+"/status?with_personal=1").refused(400, "invalid_request")
	c.get("hooks/"+id+"?with_personal=1").refused(400, "invalid_request")
	c.get("policy/mccodes?page_number=one").refused(400, "invalid_request")
}

func TestLenient(t *testing.T) {
	t.Parallel()
	c := start(t, Options{Lenient: true})
	from, to := c.AddAccount(SeedAccount{Balance: "10"}), c.AddAccount(SeedAccount{})
	header := c.header("")
	header.Set("Content-Type", "text/plain")
	got := c.send("POST", "accounts/"+from+"/transfer", `{"amount":"2.50","source_reference":"`+strings.Repeat("x", 80)+`","destination_reference":"",
		"destination_account_id":"`+to+`","transaction_type":1,"request_id":null,"more":1}`, header).ok().object()
	require.NotEmpty(t, got["transaction_id"])
	require.Equal(t, "7.50", c.Balance(from))
	c.get("accounts/" + from + "/transactions?start_date=2000-01-01T10:00:00.5%2B10:00&x=1").ok()
	c.post("policy/42/categories", `{"require_approval":true}`).ok()
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]Options{
		"Vendor": {Vendor: "a b"}, "ClientID": {ClientID: "a:b"}, "PageSizes": {PageSizes: PageSizes{Least: 5, Normal: 2, Most: 10}}, "TokenLifetime": {TokenLifetime: -1},
		"RateWindow": {RateWindow: -1}, "InitialStatus": {InitialStatus: "new"},
		"PINMGF1": {PINMGF1: crypto.MD5},
	} {
		_, err := Start(option)
		require.ErrorContains(t, err, name)
	}
}

func TestStartForAProgram(t *testing.T) {
	t.Parallel()
	s, err := Start(Options{RandomSeed: new(uint64(7))})
	require.NoError(t, err)
	other, err := Start(Options{RandomSeed: new(uint64(7))})
	require.NoError(t, err)
	require.Equal(t, s.AddAccount(SeedAccount{}), other.AddAccount(SeedAccount{}), "the same seed gives the same ids")
	require.NotEqual(t, s.URL, other.URL)
	require.Equal(t, "", s.Balance("unknown"), "no test to fail, no panic")
	_, err = Start(Options{ListenOn: strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/3.0/")})
	require.Error(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.NoError(t, other.Close())
}

func TestMountedElsewhere(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Options{})
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, httptest.NewRequest("GET", "/3.0/policy/mccodes", nil))
	require.Equal(t, 401, recorder.Code)
	require.NoError(t, s.Close())
	recorder = httptest.NewRecorder()
	s.ServeHTTP(recorder, httptest.NewRequest("GET", "/3.0/policy/mccodes", nil))
	require.Equal(t, 503, recorder.Code)
}

func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{InMemory: true})
		c.Inject("GET /policy/mccodes", Delay(time.Hour))
		var ended sync.WaitGroup
		ended.Go(func() { _, _ = c.try("GET", "policy/mccodes", "", c.header("")) })
		synctest.Wait()
		require.Zero(t, c.FaultsLeft())
		require.Len(t, c.Requests(), 1, "the log has the token request, not the one that the fault holds")
		require.NoError(t, c.Close())
		ended.Wait()
		require.Len(t, c.Requests(), 2)
	})
}

func TestTooLargeABody(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.post("accounts", strings.Repeat(" ", exchange.MaxBody+1)).refused(413, "invalid_request")
	c.post("accounts", strings.Repeat(" ", exchange.MaxBody)).refused(400, "invalid_request")
}

func TestKindIsEachKindReading(t *testing.T) {
	t.Parallel()
	kind, err := newSettings(Options{Kind: true})
	require.NoError(t, err)
	each, err := newSettings(Options{
		KeepOmittedMembers: true, OldestTransactionsFirst: true, CompanySearchPaging: true, RefuseFailedDirectEntry: true,
		UnauthorizedReportStart: true, MatchedReversalsOnly: true, MatchByAuthorizationID: true,
	})
	require.NoError(t, err)
	require.Equal(t, each.service, kind.service)
}
