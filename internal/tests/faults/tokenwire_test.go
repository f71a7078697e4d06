package faults

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The credentials go plain into Base64: x/oauth2 would escape them first. The body is a form.
func TestTokenRequest(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"s3cret", "a%41+b c&d=e", "pa:ss:word", "p\u00e4ss\u4e16", "/\\\"'"} {
		server := harness.NewServer(t, func(_ int, p *harness.Peer) {
			if p.Request.Target == harness.TokenPath {
				p.Respond(200, harness.VendorJSON, `{"access_token":"issued-1","token_type":"Bearer","expires_in":3600,"scope":"x"}`)
				return
			}
			p.Succeed(harness.OpGet())
		})
		config := harness.Config(server.Address)
		config.Token = nil
		config.ClientID, config.ClientSecret = "part%ner +1", prepaid.NewSecret(secret)
		client := harness.NewClient(t, config)
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.NoError(t, harness.OpGet().Call(t.Context(), client))

		seen := server.Seen()
		require.Len(t, seen, 3, "one token for two calls")
		request := seen[0]
		require.Equal(t, http.MethodPost, request.Method)
		require.Equal(t, harness.TokenPath, request.Target)
		require.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte("part%ner +1:"+secret)), request.Header.Get("Authorization"))
		require.Equal(t, []string{"application/x-www-form-urlencoded"}, request.Header["Content-Type"])
		require.Equal(t, []string{harness.VendorJSON}, request.Header["Accept"])
		require.Equal(t, "grant_type=client_credentials", request.Body)
		for _, call := range seen[1:] {
			require.Equal(t, "Bearer issued-1", call.Header.Get("Authorization"))
		}
	}
}

// A response that is no token with a lifetime is a DecodeError, and nothing is sent with it.
func TestTokenResponses(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{
		`{"access_token":"issued-1","token_type":"bearer","expires_in":60}`:     true,
		`{"access_token":"issued-1","token_type":"BEARER","expires_in":"60"}`:   true,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":6e1}`:    true,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":1e15}`:   true,
		`{"access_token":1,"token_type":"bearer","expires_in":60}`:              true,
		`{"access_token":"issued-1","token_type":"bearer"}`:                     false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":null}`:   false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":0}`:      false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":-60}`:    false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":"soon"}`: false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":"NaN"}`:  false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":"-Inf"}`: false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":"0x3c"}`: false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":""}`:     false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":true}`:   false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":[60]}`:   false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":1e-400}`: false,
		`{"access_token":"issued-1","token_type":"bearer","expires_in":-1e300}`: false,
		`{"access_token":"issued-1","token_type":"mac","expires_in":60}`:        false,
		`{"access_token":"issued-1","expires_in":60}`:                           false,
		`{"access_token":"","token_type":"bearer","expires_in":60}`:             false,
		`{"access_token":null,"token_type":"bearer","expires_in":60}`:           false,
		`{"access_token":"a\r\nHost: x","token_type":"bearer","expires_in":60}`: false,
		`{"token_type":"bearer","expires_in":60}`:                               false,
		`{}`:            false,
		`null`:          false,
		`[]`:            false,
		``:              false,
		`<html></html>`: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			service := harness.Split{Tokens: harness.NewScript(harness.Respond(200, harness.VendorJSON, body)), Calls: harness.NewScript(harness.Succeed(harness.OpCreate()))}
			client := harness.NewClient(t, harness.CredentialsConfig(service))
			err := harness.OpCreate().Call(t.Context(), client)
			if ok {
				require.NoError(t, err, body)
				return
			}
			failure := harness.CallError(t, err)
			require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome, body)
			_, isToken := errors.AsType[*prepaid.TokenError](err)
			require.True(t, isToken, body)
			_, isDecode := errors.AsType[*prepaid.DecodeError](err)
			require.True(t, isDecode, body)
			require.NotErrorIs(t, err, prepaid.ErrUnauthorized)
			require.NotContains(t, err.Error(), "issued")
			require.Empty(t, service.Calls.Requests())
			require.Len(t, service.Tokens.Requests(), 1, "an undecodable response is not asked for again at once")
		})
	}
}

// A lifetime is a number of any form and size, and no token lives for more than a year.
func TestTokenLifetimes(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * 60 * 60
	for text, seconds := range map[string]float64{
		`3600`: 3600, `3599.5`: 3599.5, `"3599.5"`: 3599.5, `0.4`: 0.4, `1.5`: 1.5, `36e2`: 3600, `0.36e4`: 3600,
		`31535999`: year - 1, `31536001`: year, `9223372036854775807`: year, `9223372036854775808`: year, `1e300`: year, `1e400`: year,
		`"1e300"`: year, `12345678901234567890.5`: year, `3600.00000000000000000000000001`: 3600,
	} {
		synctest.Test(t, func(t *testing.T) {
			service := harness.Split{Tokens: harness.NewScript(harness.Grant(1, text), harness.Grant(2, "60")), Calls: harness.NewScript(harness.Succeed(harness.OpCreate()))}
			client := harness.NewClient(t, harness.CredentialsConfig(service))
			token, err := client.Token(t.Context())
			require.NoError(t, err, text)
			require.Equal(t, int64(seconds), token.ExpiresIn, text)
			require.Equal(t, time.Now().Add(time.Duration(seconds*float64(time.Second))), token.Expiry, text)
			require.NoError(t, harness.OpCreate().Call(t.Context(), client))
			require.Len(t, service.Tokens.Requests(), 1, text)
		})
	}
}

// Wrong credentials are remembered for a while: repeating them can lock the client out.
func TestWrongCredentialsAreRemembered(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]harness.Step{
		"401":            harness.ServiceError(401, "invalid_client"),
		"400":            harness.ServiceError(400, "invalid_client"),
		"401 of a proxy": harness.Respond(401, "text/html", harness.HTMLPage),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.Split{Tokens: harness.NewScript(refusal), Calls: harness.NewScript(harness.Succeed(harness.OpTransfer()))}
				client := harness.NewClient(t, harness.CredentialsConfig(service))
				for range 5 {
					err := harness.OpTransfer().Call(t.Context(), client)
					require.ErrorIs(t, err, prepaid.ErrUnauthorized)
					require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
					require.Zero(t, harness.CallError(t, err).Attempts)
					require.ErrorAs(t, err, new(*prepaid.TokenError))
					require.NotContains(t, fmt.Sprintf("%+v %#v", err, harness.CallError(t, err).Err), "s3cret")
				}
				require.Len(t, service.Tokens.Requests(), 1)
				time.Sleep(time.Second)
				require.Error(t, harness.OpTransfer().Call(t.Context(), client))
				require.Len(t, service.Tokens.Requests(), 2)
				require.Empty(t, service.Calls.Requests())
			})
		})
	}
}
