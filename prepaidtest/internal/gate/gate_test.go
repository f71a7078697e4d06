package gate

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
)

func TestTheFirstRequestOpensTheWindow(t *testing.T) {
	t.Parallel()
	limiter := NewRateLimiter(2, 10*time.Second)
	began := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Zero(t, limiter.Exceeded("a", began))
	require.Zero(t, limiter.Exceeded("a", began.Add(9*time.Second)))
	require.Equal(t, time.Second, limiter.Exceeded("a", began.Add(9*time.Second)))
	require.Zero(t, limiter.Exceeded("b", began.Add(9*time.Second)), "each address has its own")
	require.Zero(t, limiter.Exceeded("a", began.Add(10*time.Second)))
	off := NewRateLimiter(0, time.Second)
	for range 5 {
		require.Zero(t, off.Exceeded("a", began))
	}
}

func TestWhitelist(t *testing.T) {
	t.Parallel()
	require.True(t, Whitelist(nil).Admits("anything"))
	list := Whitelist{netip.MustParsePrefix("192.0.2.8/29"), netip.MustParsePrefix("::ffff:198.51.100.4/126")}
	for address, admitted := range map[string]bool{
		"192.0.2.9": true, "192.0.2.16": false, "::ffff:192.0.2.9": true, "198.51.100.5": true, "198.51.100.9": false, "no address": false,
	} {
		require.Equal(t, admitted, list.Admits(address), address)
	}
	for prefix, wide := range map[string]bool{"192.0.2.0/29": false, "192.0.2.0/28": true, "::ffff:192.0.2.0/124": true, "2001:db8::/32": false} {
		require.Equal(t, wide, TooWide(netip.MustParsePrefix(prefix)), prefix)
	}
	require.True(t, TooWide(netip.Prefix{}))
}

func TestTokensExpireAndAreRevoked(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	tokens := NewTokens(ids.New(nil), TokenOptions{ClientID: "id", ClientSecret: "secret", Lifetime: time.Hour, BadOnReport: 400})
	call := func(authorization string, at time.Time) *exchange.Call {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/3.0/token", http.NoBody)
		request.Header.Set("Authorization", authorization)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return &exchange.Call{
			Form: new(exchange.Form), Request: request, Route: new(exchange.Route), At: at, Body: []byte("grant_type=client_credentials"),
		}
	}
	basic := func(credentials string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
	}
	require.Equal(t, http.StatusUnauthorized, tokens.IssueToken(call(basic("id:wrong"), now)).Status)
	require.Equal(t, http.StatusBadRequest, tokens.IssueToken(call(basic("id"), now)).Status)
	require.Equal(t, http.StatusBadRequest, tokens.IssueToken(call("Basic !", now)).Status)
	issue := func() string {
		require.Equal(t, http.StatusOK, tokens.IssueToken(call(basic("id:secret"), now)).Status)
		for token := range tokens.Save() {
			return "Bearer " + token
		}
		return ""
	}
	token := issue()
	changes := tokens.Changes()
	require.Nil(t, tokens.Authorise(call(token, now.Add(time.Hour-1))))
	require.Equal(t, http.StatusUnauthorized, tokens.Authorise(call(token, now.Add(time.Hour))).Status)
	require.Equal(t, http.StatusUnauthorized, tokens.Authorise(call("Basic x", now)).Status)
	require.Equal(t, changes, tokens.Changes(), "to look changes nothing")
	require.Equal(t, http.StatusUnauthorized, tokens.Expire(call(token, now)).Status)
	require.NotNil(t, tokens.Authorise(call(token, now)))
	token = issue()
	tokens.Revoke()
	require.NotNil(t, tokens.Authorise(call(token, now)))
	require.Greater(t, tokens.Changes(), changes)
	tokens.Put("saved", now.Add(time.Hour))
	require.Nil(t, tokens.Authorise(call("Bearer saved", now)))
}
