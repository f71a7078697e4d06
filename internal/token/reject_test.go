package token

import (
	"context"
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
		first := await(t, m, nil)
		var callers sync.WaitGroup
		for i := range 1000 {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // before, during and after the renewal
				token, err := m.Token(t.Context(), first)
				if err != nil || token.AccessToken != "secret-2" {
					t.Error(token, err)
				}
			})
		}
		callers.Wait()
		require.EqualValues(t, 2, e.count.Load())
	})
}

// A service may issue the same text again. The token is new if its exchange began after the refusal; if it began before,
// another one follows. Late reports of the old token do not count against the new one.
func TestSameTextAfterARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		count, delay := 0, time.Duration(0)
		m := NewManager(func(context.Context) (*oauth2.Token, error) {
			count++
			time.Sleep(delay)
			return &oauth2.Token{AccessToken: "same", Expiry: time.Now().Add(time.Hour)}, nil
		}, Options{})
		defer m.Close()
		first := mustToken(t, m, nil)
		second := mustToken(t, m, first)
		require.NotSame(t, first, second)
		require.Same(t, second, mustToken(t, m, first))
		require.Equal(t, 2, count)

		delay = time.Second
		time.Sleep(55 * time.Minute)
		require.Same(t, second, mustToken(t, m, nil), "an early renewal begins")
		time.Sleep(delay / 2)
		began := time.Now()
		third := await(t, m, second)
		require.NotSame(t, second, third)
		require.Equal(t, delay/2+delay, time.Since(began))
		require.Equal(t, 4, count)
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
		token := await(t, m, first)
		require.Equal(t, 600*time.Millisecond, time.Since(began))
		require.Equal(t, "secret-2", token.AccessToken)
		require.EqualValues(t, 2, e.count.Load())
		next := await(t, m, token)
		require.NotSame(t, token, next)
		require.Equal(t, 600*time.Millisecond+e.delay, time.Since(began))
		began = time.Now()
		await(t, m, next)
		require.Equal(t, DefaultHold+e.delay, time.Since(began), "it counted as fetched for a 401")
	})
}

// Token after token is revoked within a second of its arrival: the first replacement is fetched at once, and each other
// one a second after the last. All calls wait for them, even those without a 401.
func TestRevokedAgainWithinASecond(t *testing.T) {
	e := &endpoint{life: 24 * time.Hour, delay: 100 * time.Millisecond}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := await(t, m, nil)
		token := await(t, m, first)
		for round := range int64(5) {
			var callers sync.WaitGroup
			began, next := time.Now(), make([]*oauth2.Token, 500)
			for i := range next {
				callers.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond / 10)
					var rejected *oauth2.Token
					if i%2 == 0 {
						rejected = token
					}
					var err error
					if next[i], err = m.Token(t.Context(), rejected); err != nil {
						t.Error(err)
					}
				})
			}
			callers.Wait()
			hold := DefaultHold
			if round == 0 {
				hold = 0
			}
			require.Equal(t, hold+e.delay, time.Since(began))
			require.NotSame(t, token, next[0])
			for _, token := range next {
				require.Same(t, next[0], token)
			}
			require.Equal(t, round+3, e.count.Load())
			token = next[0]
		}
	})
}

// A caller whose deadline is before the next exchange gets an error at once, never the refused token.
func TestRevokedAgainWithANearDeadline(t *testing.T) {
	e := &endpoint{life: 24 * time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		token := mustToken(t, m, mustToken(t, m, mustToken(t, m, nil)))
		time.Sleep(DefaultHold / 2)
		ctx, cancel := context.WithTimeout(t.Context(), DefaultHold/2)
		defer cancel()
		began := time.Now()
		for _, rejected := range []*oauth2.Token{token, nil} {
			mustFail(ctx, t, m, rejected, ErrRefused)
		}
		require.Nil(t, m.Current(token))
		require.Zero(t, time.Since(began))
		require.Nil(t, m.pending, "and starts nothing")
		time.Sleep(DefaultHold / 2)
		next := mustToken(t, m, nil)
		require.NotSame(t, token, next)
		require.Same(t, next, m.Current(token))
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
