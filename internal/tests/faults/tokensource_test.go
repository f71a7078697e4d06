package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

func withSource(service http.RoundTripper, source func() (*oauth2.Token, error)) prepaid.Config {
	config := harness.ClockConfig(service)
	config.TokenSource = harness.TokenFunc(func(context.Context, *oauth2.Token) (*oauth2.Token, error) { return source() })
	return config
}

// After a 401 a foreign source is asked once more. The same token again ends the call with that 401.
func TestForeignSourceIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fresh bool
		sent  int
		ok    bool
	}{
		"another token":  {fresh: true, sent: 2, ok: true},
		"the same again": {fresh: false, sent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				service := harness.NewScript(harness.ServiceError(401, "invalid_token"), harness.Succeed(harness.OpCreate()))
				var done []prepaid.Attempt
				config := withSource(service, func() (*oauth2.Token, error) {
					asked++
					if tc.fresh {
						return &oauth2.Token{AccessToken: fmt.Sprint("theirs-", asked)}, nil
					}
					return &oauth2.Token{AccessToken: "theirs"}, nil
				})
				config.Trace = &prepaid.Trace{AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
					done = append(done, a)
				}}
				err := harness.OpCreate().Call(t.Context(), harness.NewClient(t, config))
				require.Equal(t, 2, asked)
				require.Len(t, service.Requests(), tc.sent)
				require.Len(t, done, tc.sent, "each request is reported once")
				if tc.ok {
					require.NoError(t, err)
					return
				}
				failure := harness.CallError(t, err)
				require.ErrorIs(t, err, prepaid.ErrUnauthorized)
				require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
				require.Equal(t, 1, failure.Attempts)
				cause := harness.As[*prepaid.APIError](t, err)
				require.EqualValues(t, "invalid_token", cause.Code)
			})
		})
	}
}

// A source that fails is a TokenError, without the parts of x/oauth2's own errors that hold credentials.
func TestSourceErrors(t *testing.T) {
	t.Parallel()
	errVault := errors.New("the vault is sealed")
	for name, tc := range map[string]struct {
		source       func() (*oauth2.Token, error)
		is           error
		unauthorized bool
	}{
		"error":     {func() (*oauth2.Token, error) { return nil, errVault }, errVault, false},
		"no token":  {func() (*oauth2.Token, error) { return nil, nil }, nil, false},
		"no access": {func() (*oauth2.Token, error) { return &oauth2.Token{RefreshToken: "CANARY"}, nil }, nil, false},
		"x/oauth2": {func() (*oauth2.Token, error) {
			return nil, &oauth2.RetrieveError{
				Response: &http.Response{StatusCode: 401}, Body: []byte("CANARY"), ErrorCode: "invalid_client", ErrorDescription: "CANARY",
			}
		}, prepaid.CodeInvalidClient, true},
		"x/oauth2 without a response": {func() (*oauth2.Token, error) {
			return nil, &oauth2.RetrieveError{ErrorCode: "invalid_client"}
		}, prepaid.CodeInvalidClient, true},
		"a call of another client": {func() (*oauth2.Token, error) {
			return nil, &prepaid.CallError{Operation: "Token", Err: errVault}
		}, errVault, false},
		"a token error": {func() (*oauth2.Token, error) { return nil, &prepaid.TokenError{Err: errVault} }, errVault, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
			client := harness.NewClient(t, withSource(service, tc.source))
			_, tokenErr := client.Token(t.Context())
			for _, err := range []error{harness.OpTransfer().Call(t.Context(), client), tokenErr} {
				require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
				require.ErrorAs(t, err, new(*prepaid.TokenError))
				if tc.is != nil {
					require.ErrorIs(t, err, tc.is)
				}
				require.Equal(t, tc.unauthorized, errors.Is(err, prepaid.ErrUnauthorized))
				require.NotContains(t, fmt.Sprintf("%v %+v", err, harness.CallError(t, err).Err), "CANARY")
				require.LessOrEqual(t, strings.Count(err.Error(), "no access token"), 1, err.Error())
			}
			require.Empty(t, service.Requests())
		})
	}
}

// Waiting for a token takes no slot of the limiter.
func TestTokenBeforeSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var slots atomic.Int32
		config := withSource(harness.NewScript(harness.Succeed(harness.OpGet())), func() (*oauth2.Token, error) {
			require.Zero(t, slots.Load())
			time.Sleep(time.Minute)
			return &oauth2.Token{AccessToken: "theirs"}, nil
		})
		config.Limiter = harness.LimiterFunc(func(context.Context) error {
			slots.Add(1)
			return nil
		})
		require.NoError(t, harness.OpGet().Call(t.Context(), harness.NewClient(t, config)))
		require.EqualValues(t, 1, slots.Load())
	})
}
