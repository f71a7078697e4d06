package prepaidredis

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
	"github.com/cardprograms/prepaid/webhook/claimtest"
)

// newClaimStore is one replica's store; each has its own connection.
func newClaimStore(t *testing.T, s *server, options webhook.ClaimOptions) webhook.ClaimStore {
	t.Helper()
	store, err := NewClaims(s.client(), "x:", options)
	require.NoError(t, err)
	return store
}

func claimed(t *testing.T, store webhook.ClaimStore, id string, lease time.Duration, want webhook.ClaimState) webhook.Claim {
	t.Helper()
	c, err := store.Claim(t.Context(), id, lease)
	require.NoError(t, err)
	require.Equal(t, want, c.State())
	return c
}

func TestClaims(t *testing.T) {
	t.Parallel()
	claimtest.Run(t, func(t *testing.T, keep time.Duration) (one, two webhook.ClaimStore) {
		s := startServer(t)
		return newClaimStore(t, s, webhook.ClaimOptions{Keep: keep}), newClaimStore(t, s, webhook.ClaimOptions{Keep: keep})
	})
}

func TestClaimsAreKept(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	store := newClaimStore(t, s, webhook.ClaimOptions{Keep: 2 * time.Second})
	require.NoError(t, claimed(t, store, "h/1", time.Minute, webhook.ClaimWon).Done(t.Context()))
	claimed(t, store, "h/1", time.Minute, webhook.ClaimDone)
	time.Sleep(2100 * time.Millisecond)
	claimed(t, store, "h/1", time.Minute, webhook.ClaimWon)

	keys, err := s.client().Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Equal(t, []string{"x:h/1"}, keys)
	left, err := s.client().PTTL(t.Context(), "x:h/1").Result()
	require.NoError(t, err)
	require.InDelta(t, 60, left.Seconds(), 2)
}

// lossy loses the response to the first command and sends it again, as go-redis does after a cut connection.
type lossy struct{}

func (lossy) DialHook(next redis.DialHook) redis.DialHook { return next }

func (lossy) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (lossy) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

func TestClaimsRepeatedCommands(t *testing.T) {
	t.Parallel()
	client := startServer(t).client()
	client.AddHook(lossy{})
	store, err := NewClaims(client, "", webhook.ClaimOptions{})
	require.NoError(t, err)
	require.NoError(t, claimed(t, store, "h/1", time.Minute, webhook.ClaimWon).Done(t.Context()))
	claimed(t, store, "h/1", time.Minute, webhook.ClaimDone)
}

func TestClaimsRedisAway(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	store := newClaimStore(t, s, webhook.ClaimOptions{Timeout: 2 * time.Second})
	c := claimed(t, store, "h/1", time.Minute, webhook.ClaimWon)
	s.kill()
	began := time.Now()
	_, err := store.Claim(t.Context(), "h/2", time.Minute)
	require.Error(t, err)
	err = c.Done(t.Context())
	require.Error(t, err)
	require.NotErrorIs(t, err, webhook.ErrClaimLost)
	require.Less(t, time.Since(began), time.Minute)
	s.start() // it has lost the lease
	require.ErrorIs(t, c.Done(t.Context()), webhook.ErrClaimLost)
}

func TestClaimsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	store := newClaimStore(t, s, webhook.ClaimOptions{})
	c := claimed(t, store, "h/1", time.Minute, webhook.ClaimWon)
	s.freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := store.Claim(ctx, "h/2", time.Minute)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, c.Release(ctx), context.DeadlineExceeded)
	require.Less(t, time.Since(began), 2*time.Second)
	s.thaw()
	require.NoError(t, c.Release(t.Context())) // it can be retried
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = store.Claim(cancelled, "h/2", time.Minute)
	require.ErrorIs(t, err, context.Canceled)
}

func TestClaimsRefuse(t *testing.T) {
	t.Parallel()
	_, err := NewClaims(nil, "a b", webhook.ClaimOptions{Keep: -1, Timeout: -1})
	invalid, ok := err.(*prepaid.ValidationError)
	require.True(t, ok)
	require.Len(t, invalid.Faults, 4)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer client.Close()
	_, err = NewClaims(client, "", webhook.ClaimOptions{})
	require.ErrorContains(t, err, "ContextTimeoutEnabled")

	ready := newClient("127.0.0.1:1")
	defer ready.Close()
	store, err := NewClaims(ready, "", webhook.ClaimOptions{})
	require.NoError(t, err)
	for _, c := range []struct {
		id    string
		lease time.Duration
	}{{"", time.Second}, {strings.Repeat("x", 129), time.Second}, {"a b", time.Second}, {"SECRET\x00", 1}} {
		_, err := store.Claim(t.Context(), c.id, c.lease)
		invalid, ok := err.(*prepaid.ValidationError)
		require.True(t, ok, "%v", err)
		require.NotContains(t, invalid.Error(), "SECRET")
	}
}
