package prepaidtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// operationPath turns a template of Operations into a path with values that no account, hook or template has.
func operationPath(name string) (method, path string) {
	method, template, _ := strings.Cut(name, " ")
	return method, strings.NewReplacer("/{", "/", "}", "").Replace(template)[1:]
}

func TestSpec_5_Rule1_401OnEachOperation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, TokenLifetime: time.Hour})
	expired := c.token
	c.Advance(time.Hour)
	valid := c.newToken()
	var open []string
	for _, name := range service.Operations() {
		if name == "POST /token" {
			open = append(open, name)
			continue
		}
		method, path := operationPath(name)
		for _, authorization := range []string{"", "Bearer", "Bearer " + expired, "Bearer " + valid[1:], "Bearer " + valid + "0", "Basic " + valid, valid} {
			header := http.Header{"Content-Type": {vendorJSON}}
			if authorization != "" {
				header.Set("Authorization", authorization)
			}
			c.send(method, path, "", header).refused(401, "unauthorized")
		}
		got := c.send(method, path, "", http.Header{"Authorization": {"Bearer " + valid}})
		require.NotEqual(t, 401, got.status, name)
	}
	require.Len(t, open, 1)
}

func TestSpec_5_Rule2_BasicCredentials(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{ClientID: "id ?>", ClientSecret: "se:cret ?>ÿ"})
	const grant = "grant_type=client_credentials"
	good := basic("id ?>", "se:cret ?>ÿ")
	require.Contains(t, good, "/", "a letter that differs between the alphabets, or the test shows nothing")
	for _, authorization := range []string{good, strings.Replace(good, "Basic", "basic", 1), strings.Replace(good, "Basic", "BASIC", 1)} {
		c.tokenRequest(authorization, grant).ok()
	}
	raw := []byte("id ?>:se:cret ?>ÿ")
	for _, encoded := range []string{base64.URLEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(append(raw, 'x')), "", "====", string(raw)} {
		c.tokenRequest("Basic "+encoded, grant).refused(400, "invalid_client")
	}
	for _, pair := range [][2]string{{"id ?>", "se"}, {"id ?>", "cret ?>ÿ"}, {"id%20%3F%3E", "se%3Acret"}, {"ID ?>", "se:cret ?>ÿ"}} {
		c.tokenRequest(basic(pair[0], pair[1]), grant).refused(401, "invalid_client")
	}
}

func TestSpec_5_Rule4_ATokenIsReusedUntilShortlyBeforeExpiry(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true})
	for range 6 {
		c.get("policy/42/policy").ok()
		c.Advance(10*time.Minute - time.Second)
	}
	c.get("policy/42/policy").ok()
	c.Advance(6 * time.Second)
	c.get("policy/42/policy").refused(401, "unauthorized")
	c.token = c.newToken() // after a 401 a new token is available at once
	c.get("policy/42/policy").ok()
}

func TestSpec_5_Rule3_ExpiresInIsTheLifetime(t *testing.T) {
	t.Parallel()
	for _, life := range []time.Duration{time.Second, 20 * time.Minute, 24 * time.Hour} {
		c := start(t, Options{FrozenClock: true, TokenLifetime: life})
		got := c.tokenRequest(basic("emulator-client", "emulator-secret"), "grant_type=client_credentials").ok().object()
		seconds, err := got["expires_in"].(json.Number).Int64()
		require.NoError(t, err)
		c.Advance(time.Duration(seconds)*time.Second - time.Nanosecond)
		c.get("policy/42/policy").ok()
		c.Advance(time.Nanosecond)
		c.get("policy/42/policy").refused(401, "unauthorized")
	}
	// The default.
	got := start(t, Options{}).tokenRequest(basic("emulator-client", "emulator-secret"), "grant_type=client_credentials").ok().object()
	require.Equal(t, json.Number("3600"), got["expires_in"])
}

// The whitelist is not emulated: both environments serve unregistered addresses, and each has its
// own count.
func TestSpec_5_Rule5_AnyAddressIsServed(t *testing.T) {
	t.Parallel()
	for _, production := range []bool{false, true} {
		c := start(t, Options{Production: production, FrozenClock: true, RateLimit: 2})
		ask := func(address string) int {
			recorder := httptest.NewRecorder()
			request := httptest.NewRequest("GET", "/3.0/policy/42/policy", nil)
			request.RemoteAddr = address
			request.Header.Set("Authorization", "Bearer "+c.token)
			c.ServeHTTP(recorder, request)
			return recorder.Code
		}
		for _, address := range []string{"192.0.2.1", "192.0.2.2", "[2001:db8::1]"} {
			require.Equal(t, 200, ask(address+":1000"))
			require.Equal(t, 200, ask(address+":1001"), "another port is the same address")
			require.Equal(t, 429, ask(address+":1002"))
		}
		c.Advance(10 * time.Second)
		require.Equal(t, 200, ask("192.0.2.1:1000"))
	}
}

func TestSpec_8_ExcessRequestsAreRejectedForUpTo10Seconds(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, RateLimit: 3, RateWindow: 10 * time.Second})
	c.Advance(10 * time.Second) // the window of the token request is over
	for range 3 {
		c.get("policy/42/policy").ok()
		c.Advance(3 * time.Second)
	}
	c.get("policy/42/policy").refused(429, "rate_limit_exceeded")
	c.Advance(time.Second - time.Nanosecond)
	c.get("policy/42/policy").refused(429, "rate_limit_exceeded")
	c.Advance(time.Nanosecond)
	for range 3 { // a rejected request does not count in the next window
		c.get("policy/42/policy").ok()
	}
	c.get("policy/42/policy").refused(429, "rate_limit_exceeded")
}

func TestSpec_4_1_TokenFormMediaType(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for media, status := range map[string]int{
		"application/x-www-form-urlencoded": 200, "application/x-www-form-urlencoded; charset=UTF-8": 200, "application/x-www-form-urlencoded;charset=utf-8": 200,
		"": 400, "application/json": 400, vendorJSON: 400, "application/x-www-form-urlencoded; charset=latin1": 400,
	} {
		header := http.Header{"Authorization": {basic("emulator-client", "emulator-secret")}, "Content-Type": {media}}
		got := c.send("POST", "token", "grant_type=client_credentials", header)
		require.Equal(t, status, got.status, media)
		if status == 400 {
			got.refused(400, "invalid_request")
		}
	}
}

func TestSpec_7_500_ServerErrorOnEachOperation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, name := range service.Operations() {
		c.Inject(name, Respond(500, ""))
		method, path := operationPath(name)
		c.do(method, path, "").refused(500, "server_error")
	}
}
