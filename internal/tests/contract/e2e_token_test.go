package contract

import (
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
	onStage(t, prepaidtest.Options{TokenLifetime: 2 * time.Hour}, func(t *testing.T, s *stage) {
		token, err := s.client.Token(t.Context())
		require.NoError(t, err)
		require.Equal(t, "Bearer", token.TokenType)
		require.Equal(t, time.Now().Add(2*time.Hour), token.Expiry)
		id := s.seed("0")
		_, err = s.client.Accounts.Get(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []int{200}, s.statuses(tokenOperation), "one token serves every call")
		require.Equal(t, "grant_type=client_credentials", s.sent(tokenOperation))
	})
}

func TestE2ECheck(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{Vendor: "acme", ClientID: "a b", ClientSecret: "c:d%e"}, func(t *testing.T, s *stage) {
		s.Inject("GET /policy/mccodes", prepaidtest.Delay(time.Second))
		result, err := s.client.Check(t.Context())
		require.NoError(t, err)
		require.Equal(t, "application/vnd.acme+json", result.MediaType)
		require.Zero(t, result.ClockSkew)
		require.Equal(t, time.Second, result.RoundTrip)
		require.Equal(t, time.Hour-time.Second, result.TokenLifetime)
	})
}

// The client of an emulator on a port remembers no failure: a fault that a test arms for the token counts for the next call only.
func TestE2EFailedTokenIsNotHeld(t *testing.T) {
	t.Parallel()
	for _, response := range []prepaidtest.Fault{prepaidtest.Respond(401, "invalid_client"), prepaidtest.Respond(400, "invalid_request")} {
		server := prepaidtest.NewServer(t, prepaidtest.Options{})
		client := server.Client()
		for range 3 {
			server.Inject(tokenOperation, response)
			require.ErrorAs(t, done(client.Token(t.Context())), new(*prepaid.TokenError))
			require.Zero(t, server.FaultsLeft(), "the token was requested")
		}
		require.NoError(t, done(client.Token(t.Context())))
	}
}

// 300 calls survive two revocations within a second, with one renewal for each revocation.
func TestE2ETokenRevokedTwice(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{RateLimit: -1}, func(t *testing.T, s *stage) {
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
	})
}
