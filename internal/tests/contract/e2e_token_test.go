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
