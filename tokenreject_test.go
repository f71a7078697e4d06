package prepaid

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

func TestThousandParallelRejectionsMakeOneRenewal(t *testing.T) {
	e := &tokenEndpoint{life: time.Hour, delay: 200 * time.Millisecond}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		first, err := m.Token(t.Context(), nil)
		require.NoError(t, err)
		var callers sync.WaitGroup
		for i := range 1000 {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // before, during and after the renewal
				rejected := first
				if i%2 == 1 {
					rejected = &oauth2.Token{AccessToken: first.AccessToken} // known by its value too
				}
				token, err := m.Token(t.Context(), rejected)
				if err != nil || token.AccessToken != "secret-2" {
					t.Error(token, err)
				}
			})
		}
		callers.Wait()
		require.EqualValues(t, 2, e.count.Load())
	})
}

func TestRejectionOfAFreshlyFetchedTokenRenewsAtOnce(t *testing.T) {
	e := &tokenEndpoint{life: time.Hour}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		first := mustToken(t, m, nil)
		require.NotSame(t, first, mustToken(t, m, first))
	})
}

func TestRejectedTokenIsKnownByItsValue(t *testing.T) {
	e := &tokenEndpoint{life: time.Hour}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		first := mustToken(t, m, nil)
		require.NotSame(t, first, mustToken(t, m, &oauth2.Token{AccessToken: first.AccessToken}))
	})
}

func TestCallersDoNotGetARejectedToken(t *testing.T) {
	e := &tokenEndpoint{life: time.Hour, fail: func(n int64) error {
		if n == 2 {
			return errors.New("down")
		}
		return nil
	}}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		first := mustToken(t, m, nil)
		_, err := m.Token(t.Context(), first)
		require.EqualError(t, err, "down")
		token, err := m.Token(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, "secret-3", token.AccessToken)
	})
}

func TestRejectionOfAnotherTokenIsIgnored(t *testing.T) {
	e := &tokenEndpoint{life: time.Hour}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		first := mustToken(t, m, nil)
		second := mustToken(t, m, first)
		for _, stale := range []*oauth2.Token{first, {AccessToken: "foreign"}, {}} {
			require.Same(t, second, mustToken(t, m, stale))
		}
		time.Sleep(55 * time.Minute) // in the renewal window too
		e.delay = time.Second
		require.Same(t, second, mustToken(t, m, first))
		require.Same(t, second, mustToken(t, m, first))
		synctest.Wait()
		require.EqualValues(t, 3, e.count.Load())
	})
}

func TestRejectionDuringAnEarlyRenewalJoinsIt(t *testing.T) {
	e := &tokenEndpoint{life: time.Hour}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		first := mustToken(t, m, nil)
		e.delay = time.Second
		time.Sleep(55 * time.Minute)
		require.Same(t, first, mustToken(t, m, nil))
		time.Sleep(400 * time.Millisecond)
		began := time.Now()
		token, err := m.Token(t.Context(), first)
		require.NoError(t, err)
		require.Equal(t, 600*time.Millisecond, time.Since(began))
		require.Equal(t, "secret-2", token.AccessToken)
		require.EqualValues(t, 2, e.count.Load())
		require.Same(t, token, mustToken(t, m, token), "it counts as fetched for a 401")
	})
}

func TestTokenRejectedAgainIsHeld(t *testing.T) {
	e := &tokenEndpoint{life: 24 * time.Hour}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		token := mustToken(t, m, mustToken(t, m, nil)) // fetched for a 401
		for _, hold := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			hold *= time.Second
			require.Same(t, token, mustToken(t, m, token))
			time.Sleep(hold - 1)
			require.Same(t, token, mustToken(t, m, token), "hold of %v", hold)
			require.Same(t, token, mustToken(t, m, nil), "other callers go on with it")
			time.Sleep(1)
			next := mustToken(t, m, token)
			require.NotSame(t, token, next, "hold of %v", hold)
			token = next
		}
		time.Sleep(tokenRejectedMemory)
		token = mustToken(t, m, token)
		time.Sleep(tokenRejectedHold)
		require.NotSame(t, token, mustToken(t, m, token), "a chain is forgotten")
	})
}

func TestEndlessRejectionsAreBounded(t *testing.T) {
	e := &tokenEndpoint{life: time.Hour}
	withTokens(t, e, tokenOptions{}, func(t *testing.T, m *tokenManager) {
		token := mustToken(t, m, nil)
		for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			token = mustToken(t, m, token)
		}
		require.LessOrEqual(t, e.count.Load(), int64(12))
	})
}
