package prepaid_test

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
)

const oneCategory = `[{"code":5411,"description":"Grocery"}]`

// Check tells the token's life, the clocks' difference, the time of the read and the media type as answered.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		headers []string
		skew    time.Duration
	}{
		"ahead":          {[]string{"Date: Sat, 01 Jan 2000 00:01:02 GMT"}, time.Minute},
		"behind":         {[]string{"Date: Fri, 31 Dec 1999 23:59:02 GMT"}, -time.Minute},
		"within seconds": {[]string{"Date: Sat, 01 Jan 2000 00:00:01 GMT"}, 0},
		"no date":        {nil, 0},
		"a bad date":     {[]string{"Date: today"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := split{
					scripted(after(time.Second, grant(1, "3600"))),
					scripted(after(2*time.Second, answered(200, "application/json; charset=utf-8", oneCategory, tc.headers...))),
				}
				result, err := newCoreClient(t, credentialed(service)).Check(t.Context())
				require.NoError(t, err)
				require.Equal(t, &prepaid.CheckResult{
					TokenLifetime: time.Hour - 2*time.Second, ClockSkew: tc.skew, RoundTrip: 2 * time.Second,
					MediaType: "application/json; charset=utf-8",
				}, result)
				request := service.calls.requests()[0]
				require.Equal(t, "/3.0/policy/mccodes?page_number=1&page_size=1", request.target)
				require.Equal(t, http.MethodGet, request.method)
				require.Len(t, service.calls.requests(), 1)
			})
		})
	}
}

// An empty list is a good answer, and a token of unknown life has none to tell.
func TestCheckWithoutDetails(t *testing.T) {
	t.Parallel()
	config := coreConfig("https://cards.example")
	config.Transport = scripted(answered(204, "", ""))
	result, err := newCoreClient(t, config).Check(t.Context())
	require.NoError(t, err)
	require.Zero(t, result.TokenLifetime)
	require.Zero(t, result.ClockSkew)
	require.Empty(t, result.MediaType)
}

// Each thing that is wrong with a deployment has its own error.
func TestCheckFailures(t *testing.T) {
	t.Parallel()
	granted := scripted(grant(1, "3600"))
	is := func(target error) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, target)
		}
	}
	for name, tc := range map[string]struct {
		service split
		check   func(t *testing.T, err error)
	}{
		"wrong credentials": {split{scripted(serviceError(401, "invalid_client")), scripted(answered(200, vendorJSON, oneCategory))}, func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prepaid.ErrUnauthorized)
			_, ok := errors.AsType[*prepaid.TokenError](err)
			require.True(t, ok)
		}},
		"wrong address": {split{scripted(answered(404, "text/html", htmlPage)), nil}, func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prepaid.ErrNotFound)
			_, ok := errors.AsType[*prepaid.TokenError](err)
			require.True(t, ok)
		}},
		"no way there": {split{scripted(unreachable(syscall.EHOSTUNREACH)), nil}, func(t *testing.T, err error) {
			t.Helper()
			cause, ok := errors.AsType[*prepaid.TransportError](err)
			require.True(t, ok)
			require.False(t, cause.Sent)
		}},
		"not on the whitelist": {split{granted, scripted(serviceError(403, "forbidden"))}, is(prepaid.ErrForbidden)},
		"refused":              {split{granted, scripted(serviceError(401, "unauthorized"))}, is(prepaid.ErrUnauthorized)},
		"something else answers": {split{granted, scripted(answered(200, "text/html", htmlPage))}, func(t *testing.T, err error) {
			t.Helper()
			_, ok := errors.AsType[*prepaid.DecodeError](err)
			require.True(t, ok)
		}},
		"something else gives tokens": {split{scripted(answered(200, "text/html", htmlPage)), nil}, func(t *testing.T, err error) {
			t.Helper()
			_, ok := errors.AsType[*prepaid.DecodeError](err)
			require.True(t, ok)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				result, err := newCoreClient(t, credentialed(tc.service)).Check(t.Context())
				require.Nil(t, result)
				require.NotEqual(t, prepaid.OutcomeUnknown, callError(t, err).Outcome)
				tc.check(t, err)
			})
		})
	}
}

// A source of the caller's that gives nothing fails the check and does not crash it.
func TestCheckWithEmptySource(t *testing.T) {
	t.Parallel()
	config := coreConfig("https://cards.example")
	config.Transport = scripted(answered(200, vendorJSON, oneCategory))
	config.TokenSource = tokenFunc(func(context.Context, *oauth2.Token) (*oauth2.Token, error) { return nil, nil }) //nolint:nilnil // the fault
	_, err := newCoreClient(t, config).Check(t.Context())
	_, ok := errors.AsType[*prepaid.TokenError](err)
	require.True(t, ok)
}
