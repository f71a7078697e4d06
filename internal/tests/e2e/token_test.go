package e2e

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

const tokenOperation = "POST /token"

func TestE2EToken(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{TokenLifetime: 2 * time.Hour})
	token, err := s.client.Token(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Bearer", token.TokenType)
	require.WithinDuration(t, time.Now().Add(2*time.Hour), token.Expiry, time.Minute)
	id := s.seed("0")
	_, err = s.client.Accounts.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []int{200}, s.statuses(tokenOperation), "one token serves every call")
	require.Equal(t, "grant_type=client_credentials", s.sent(tokenOperation))
}

func TestE2ECheck(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{Vendor: "acme", ClientID: "a b", ClientSecret: "c:d%e"})
	result, err := s.client.Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, "application/vnd.acme+json", result.MediaType)
	require.Zero(t, result.ClockSkew)
	require.Positive(t, result.RoundTrip)
	require.InDelta(t, time.Hour, result.TokenLifetime, float64(time.Minute))
}

// An expired or revoked token is renewed once, and the call continues.
func TestE2ETokenNoLongerGood(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*stage){
		"expired": func(s *stage) { s.Advance(time.Hour) },
		"revoked": func(s *stage) { s.RevokeTokens() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			from, to := s.seed("100.00"), s.seed("0")
			_, err := s.client.Accounts.Summary(t.Context(), from)
			require.NoError(t, err)
			spoil(s)
			_, err = s.client.Accounts.Transfer(t.Context(), from, harness.TransferTo(to, "25.50"))
			require.NoError(t, err)
			require.Equal(t, []int{401, 200}, s.statuses(harness.TransferOperation))
			require.Equal(t, []int{200, 200}, s.statuses(tokenOperation))
			s.holds(from, "74.50")
		})
	}
}

// If the new token is refused too, the call ends: nothing was processed.
func TestE2ETokenRefusedTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("0")
	s.Inject("GET /accounts/{id}", prepaidtest.Respond(401, "invalid_token"), prepaidtest.Respond(401, "invalid_token"))
	_, err := s.client.Accounts.Get(t.Context(), id)
	failed(t, err, notProcessed, 401, "invalid_token")
	require.Equal(t, []int{401, 401}, s.statuses("GET /accounts/{id}"))
}

func TestE2EWrongCredentials(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*prepaid.Config){
		"secret": func(c *prepaid.Config) { c.ClientSecret = prepaid.NewSecret("not-the-secret") },
		"id":     func(c *prepaid.Config) { c.ClientID = "somebody-else" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			config := s.Config()
			config.Retry.TokenHold = 0 // the default
			change(&config)
			client := harness.NewClient(t, config)
			id := s.seed("100.00")
			_, err := client.Accounts.Transfer(t.Context(), id, harness.TransferTo("b", "1.00"))
			failed(t, err, notProcessed, 401, "invalid_client")
			refusal := harness.As[*prepaid.TokenError](t, err)
			require.ErrorIs(t, refusal, prepaid.ErrUnauthorized)
			require.NotContains(t, err.Error(), "not-the-secret")
			require.Empty(t, s.statuses(harness.TransferOperation))
			_, err = client.Check(t.Context())
			require.ErrorIs(t, err, prepaid.CodeInvalidClient)
			require.Len(t, s.statuses(tokenOperation), 1, "a refused credential is remembered for a while")
		})
	}
}

// The kit's client remembers no failure: a fault that a test arms for the token counts for the next call only.
func TestE2EFailedTokenIsNotHeld(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]prepaidtest.Fault{
		"refused": prepaidtest.Respond(401, "invalid_client"), "broken": prepaidtest.Respond(400, "invalid_request"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			id := s.seed("1.00")
			began := time.Now()
			for range 5 {
				s.Inject(tokenOperation, response)
				_, err := s.client.Accounts.Get(t.Context(), id)
				require.ErrorAs(t, err, new(*prepaid.TokenError))
			}
			_, err := s.client.Accounts.Get(t.Context(), id)
			require.NoError(t, err)
			require.Less(t, time.Since(began), 5*time.Second, "each failure would hold for a second")
			require.Len(t, s.statuses(tokenOperation), 6)
		})
	}
}

// 300 calls survive two revocations within a second, with one renewal for each revocation.
func TestE2ETokenRevokedTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{RateLimit: -1})
	config := s.Config()
	config.Limiter, config.AttemptTimeout = ratelimit.None{}, time.Minute
	client := harness.NewClient(t, config)
	id := s.seed("1.00")
	for range 3 {
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				if _, err := client.Accounts.Get(t.Context(), id); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		s.RevokeTokens()
	}
	require.Len(t, s.statuses(tokenOperation), 3)
}

// The other responses of POST /token, which a client does not provoke by itself.
func TestE2ETokenCodes(t *testing.T) {
	t.Parallel()
	for _, code := range []prepaid.ErrorCode{prepaid.CodeInvalidRequest, prepaid.CodeUnsupportedGrantType, prepaid.CodeInvalidClient} {
		s := newStage(t, prepaidtest.Options{})
		s.Inject(tokenOperation, prepaidtest.Respond(400, string(code)))
		_, err := s.client.Token(t.Context())
		failed(t, err, notProcessed, 400, string(code))
		require.Equal(t, code == prepaid.CodeInvalidClient, errors.Is(err, prepaid.ErrUnauthorized))
	}
}

func TestE2EClosedClient(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	require.NoError(t, s.client.Close())
	_, err := s.client.Accounts.Get(t.Context(), "a")
	require.ErrorIs(t, err, prepaid.ErrClosed)
	require.Equal(t, notProcessed, prepaid.OutcomeOf(err))
	_, err = s.client.Token(t.Context())
	require.ErrorIs(t, err, prepaid.ErrClosed)
	require.Empty(t, s.Requests())
}
