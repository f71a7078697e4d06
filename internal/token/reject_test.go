package token

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

func TestThousandParallelRejectionsMakeOneRenewal(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: 200 * time.Millisecond}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
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
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		require.NotSame(t, first, mustToken(t, m, first))
	})
}

func TestRejectedTokenIsKnownByItsValue(t *testing.T) {
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		require.NotSame(t, first, mustToken(t, m, &oauth2.Token{AccessToken: first.AccessToken}))
	})
}

func TestCallersDoNotGetARejectedToken(t *testing.T) {
	e := &endpoint{life: time.Hour, fail: func(n int64) error {
		if n == 2 {
			return errors.New("down")
		}
		return nil
	}}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		_, err := m.Token(t.Context(), first)
		require.EqualError(t, err, "down")
		token, err := m.Token(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, "secret-3", token.AccessToken)
	})
}

func TestRejectionOfAnotherTokenIsIgnored(t *testing.T) {
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
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
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
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
		next, err := m.Token(t.Context(), token)
		require.NoError(t, err)
		require.NotSame(t, token, next)
		require.Equal(t, 600*time.Millisecond+DefaultHold+e.delay, time.Since(began), "it counts as fetched for a 401")
	})
}

// A token that replaced a rejected one is revoked too, within the second: all calls wait for one renewal, and only those
// that met a 401.
func TestRevokedAgainWithinASecond(t *testing.T) {
	e := &endpoint{life: 24 * time.Hour, delay: 100 * time.Millisecond}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first, err := m.Token(t.Context(), nil)
		require.NoError(t, err)
		second, err := m.Token(t.Context(), first)
		require.NoError(t, err)
		for round := range int64(5) {
			var callers sync.WaitGroup
			began, third := time.Now(), make([]*oauth2.Token, 500)
			for i := range third {
				callers.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					var err error
					if third[i], err = m.Token(t.Context(), second); err != nil {
						t.Error(err)
					}
				})
			}
			time.Sleep(10 * time.Millisecond)
			require.Same(t, second, mustToken(t, m, nil), "others go on with it")
			callers.Wait()
			require.Equal(t, DefaultHold+e.delay, time.Since(began))
			require.NotSame(t, second, third[0])
			for _, token := range third {
				require.Same(t, third[0], token)
			}
			require.Equal(t, round+3, e.count.Load())
			second = third[0]
		}
	})
}

func TestRevokedAgainWithANearDeadline(t *testing.T) {
	e := &endpoint{life: 24 * time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		token := mustToken(t, m, mustToken(t, m, nil))
		time.Sleep(DefaultHold / 2)
		ctx, cancel := context.WithTimeout(t.Context(), DefaultHold/2)
		defer cancel()
		began := time.Now()
		for range 2 {
			again, err := m.Token(ctx, token)
			require.NoError(t, err)
			require.Same(t, token, again, "its 401 stands")
		}
		require.Zero(t, time.Since(began))
		require.Nil(t, m.pending, "and starts nothing")
		time.Sleep(DefaultHold / 2)
		require.NotSame(t, token, mustToken(t, m, token))
	})
}

// The renewal that reporters of a 401 wait for fails: they are given its error, the others keep the token.
func TestRevokedAgainAndRenewalFails(t *testing.T) {
	e := &endpoint{life: 24 * time.Hour, fail: failing(3, 3, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		token := mustToken(t, m, mustToken(t, m, nil))
		_, err := m.Token(t.Context(), token)
		require.ErrorIs(t, err, errDown)
		require.Same(t, token, mustToken(t, m, nil))
		next, err := m.Token(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, "secret-4", next.AccessToken)
	})
}

func TestEndlessRejectionsAreBounded(t *testing.T) {
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		began := time.Now()
		var callers sync.WaitGroup
		for range 50 {
			callers.Go(func() {
				token := first
				for time.Since(began) < 5*time.Minute {
					asked := time.Now()
					var err error
					if token, err = m.Token(t.Context(), token); err != nil {
						t.Error(err)
					}
					if waited := time.Since(asked); waited > DefaultHold {
						t.Error(waited)
					}
				}
			})
		}
		callers.Wait()
		require.InDelta(t, 5*60, e.count.Load(), 3, "one a second")
	})
}
