package fleet_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/internal/claims"
	"github.com/cardprograms/prepaid/webhook"
	"github.com/cardprograms/prepaid/webhook/claimtest"
)

var errAway = errors.New("connection refused")

// claimed is an ID until ends.
type claimed struct {
	token   string
	handled bool
	ends    time.Time
}

// newStore returns a store in memory, whose server fails to settle as often as failures says.
func newStore(t *testing.T, keep time.Duration, failures int) *claims.Store {
	t.Helper()
	var mu sync.Mutex
	rows := map[string]claimed{}
	settle := func(_ context.Context, id, token string, keep time.Duration) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if failures > 0 {
			failures--
			return 0, errAway
		}
		if rows[id].token != token || !now.Before(rows[id].ends) {
			return 0, nil
		}
		rows[id] = claimed{token, true, now.Add(keep)}
		return 1, nil
	}
	store, err := claims.New(claims.Store{
		ClaimOptions: webhook.ClaimOptions{Keep: keep},
		Take: func(_ context.Context, id, token string, lease time.Duration) (int64, error) {
			mu.Lock()
			defer mu.Unlock()
			switch now := time.Now(); {
			case !now.Before(rows[id].ends):
				rows[id] = claimed{token, false, now.Add(lease)}
				return int64(webhook.ClaimWon), nil
			case rows[id].handled:
				return int64(webhook.ClaimDone), nil
			}
			return int64(webhook.ClaimInFlight), nil
		},
		Done: settle, Release: settle,
	}, nil)
	require.NoError(t, err)
	return store
}

// The neighbours claims and faults are tested here, because a test binary of their own would cost more than their tests.
func TestStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		claimtest.Run(t, func(t *testing.T, keep time.Duration) (one, two webhook.ClaimStore) {
			store := newStore(t, keep, 0)
			return store, store
		})
	})
}

// After an error of the server, which may have settled the claim, its holder can try again.
func TestSettleAgain(t *testing.T) {
	t.Parallel()
	c, err := newStore(t, 0, 1).Claim(t.Context(), "h/1", time.Minute)
	require.NoError(t, err)
	require.Equal(t, errAway, c.Done(t.Context()))
	require.NoError(t, c.Done(t.Context()))
	require.Equal(t, webhook.ErrClaimLost, c.Done(t.Context()))
}

// A server that does not respond ends a call after Timeout, or with the caller's context.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, err := claims.New(claims.Store{
			ClaimOptions: webhook.ClaimOptions{Timeout: 3 * time.Second},
			Take: func(ctx context.Context, _, _ string, _ time.Duration) (int64, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			},
		}, nil)
		require.NoError(t, err)
		began := time.Now()
		_, err = store.Claim(t.Context(), "h/1", time.Minute)
		require.ErrorContains(t, err, "did not respond within Timeout")
		require.Equal(t, 3*time.Second, time.Since(began))
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = store.Claim(brief, "h/1", time.Minute)
		require.Equal(t, context.DeadlineExceeded, err)
		require.Equal(t, 4*time.Second, time.Since(began))
	})
}
