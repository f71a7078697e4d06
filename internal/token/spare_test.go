package token

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// mustSpare returns a token other than suspect, which must need no waiting.
func mustSpare(t *testing.T, m *Manager, suspect *oauth2.Token) *oauth2.Token {
	t.Helper()
	began := time.Now()
	token, err := m.Spare(t.Context(), suspect)
	require.NoError(t, err)
	require.Zero(t, time.Since(began), "waited")
	return token
}

// One spare token serves all calls that suspect the shared one, which stays until the spare one is adopted.
func TestSpareServesAllForASecond(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: 100 * time.Millisecond}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := await(t, m, nil)
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if spare, err := m.Spare(t.Context(), first); err != nil || spare.AccessToken != "secret-2" {
					t.Error(spare, err)
				}
			})
		}
		callers.Wait()
		e.delay = 0
		require.Same(t, first, mustToken(t, m, nil), "the suspect is still shared")
		time.Sleep(spareLife - 1)
		require.Equal(t, "secret-2", mustSpare(t, m, first).AccessToken)
		time.Sleep(1)
		third := mustSpare(t, m, first)
		require.Equal(t, "secret-3", third.AccessToken)
		m.Refuse(third)
		third = mustSpare(t, m, first)
		require.Equal(t, "secret-4", third.AccessToken, "a spare token that was refused is given to nobody")

		m.Adopt(&oauth2.Token{AccessToken: "foreign"}, first)
		m.Adopt(third, third)
		require.Same(t, first, mustToken(t, m, nil), "only a spare token is adopted, and only for the shared one")
		m.Adopt(third, first)
		require.Same(t, third, mustToken(t, m, nil))
		require.Same(t, third, mustSpare(t, m, first), "the shared token is another one now")
		require.EqualValues(t, 4, e.count.Load())
	})
}

// Without a valid token a spare one becomes the shared one. The call waits for an early renewal in progress.
func TestSpareJoinsTheRenewal(t *testing.T) {
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		time.Sleep(time.Hour)
		second := mustSpare(t, m, first)
		require.Same(t, second, mustToken(t, m, nil))

		time.Sleep(55 * time.Minute)
		e.delay = time.Second
		require.Same(t, second, mustToken(t, m, nil))
		third, err := m.Spare(t.Context(), second)
		require.NoError(t, err)
		require.Equal(t, "secret-3", third.AccessToken)
		require.Same(t, third, mustToken(t, m, nil))
		require.EqualValues(t, 3, e.count.Load())
	})
}

// A failed exchange delays the next one, and the shared token stays valid. The wait ends with the context.
func TestSpareFails(t *testing.T) {
	e := &endpoint{life: time.Hour, fail: failing(2, 2, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		for range 2 {
			_, err := m.Spare(t.Context(), first)
			require.ErrorIs(t, err, errDown)
		}
		require.EqualValues(t, 2, e.count.Load())
		require.Same(t, first, mustToken(t, m, nil))
		time.Sleep(failedHold)

		e.delay = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.Spare(ctx, first)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		m.Close()
		_, err = m.Spare(t.Context(), first)
		require.ErrorIs(t, err, ErrClosed)
		m.Adopt(first, first)
		mustFail(t.Context(), t, m, nil, ErrClosed)
	})
}
