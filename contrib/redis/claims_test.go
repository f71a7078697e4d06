package prepaidredis

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
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
		s, options := startServer(t), webhook.ClaimOptions{Keep: keep, Timeout: time.Minute}
		return newClaimStore(t, s, options), newClaimStore(t, s, options)
	})
}

// Redis removes an ID at the end of its lease or, once it is handled, after Keep; claimtest waits for both.
func TestClaimsAreKept(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	store := newClaimStore(t, s, webhook.ClaimOptions{Keep: 3 * time.Hour})
	left := func() time.Duration {
		left, err := s.client().PTTL(t.Context(), "x:h/1").Result()
		require.NoError(t, err)
		return left
	}
	claim := claimed(t, store, "h/1", time.Hour, webhook.ClaimWon)
	require.Greater(t, left(), time.Minute)
	require.NoError(t, claim.Done(t.Context()))
	require.Greater(t, left(), 2*time.Hour)
	require.LessOrEqual(t, left(), 3*time.Hour)
	claimed(t, store, "h/1", time.Minute, webhook.ClaimDone)
	keys, err := s.client().Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Equal(t, []string{"x:h/1"}, keys)
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
	store, err := NewClaims(client, "", webhook.ClaimOptions{Timeout: time.Minute})
	require.NoError(t, err)
	require.NoError(t, claimed(t, store, "h/1", time.Minute, webhook.ClaimWon).Done(t.Context()))
	claimed(t, store, "h/1", time.Minute, webhook.ClaimDone)
}

// brief returns a context that ends soon.
func brief(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func TestClaimsRedisAway(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	store := newClaimStore(t, s, webhook.ClaimOptions{Timeout: time.Minute})
	c := claimed(t, store, "h/1", time.Minute, webhook.ClaimWon)
	s.kill()
	_, err := store.Claim(brief(t), "h/2", time.Minute)
	require.Error(t, err)
	err = c.Done(brief(t))
	require.Error(t, err)
	require.NotErrorIs(t, err, webhook.ErrClaimLost)
	s.start() // it has lost the lease
	require.ErrorIs(t, c.Done(t.Context()), webhook.ErrClaimLost)
}

func TestClaimsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	store := newClaimStore(t, s, webhook.ClaimOptions{Timeout: time.Hour})
	c := claimed(t, store, "h/1", time.Hour, webhook.ClaimWon)
	s.freeze()
	_, err := store.Claim(brief(t), "h/2", time.Minute)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, c.Release(brief(t)), context.DeadlineExceeded)
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

// claimVariable makes the test binary a program that claims an ID in the Redis at that address, and holds it.
const claimVariable = "PREPAID_TEST_CLAIM"

const (
	heldID    = "h/1"
	heldLease = 400 * time.Millisecond
)

func holdClaim(address string) int {
	store, err := NewClaims(newClient(address), "x:", webhook.ClaimOptions{})
	if err != nil {
		return 2
	}
	claim, err := store.Claim(context.Background(), heldID, heldLease)
	if err != nil {
		return 2
	}
	fmt.Println(claim.State())
	time.Sleep(time.Minute)
	return 0
}

// If a replica is killed at work, another gets its message after the lease.
func TestClaimOfAKilledReplica(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	program, err := os.Executable()
	require.NoError(t, err)
	holder := exec.Command(program)
	holder.Env = append(os.Environ(), claimVariable+"="+s.address)
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, holder.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "won\n", line)
	require.NoError(t, holder.Process.Kill())
	require.Error(t, holder.Wait())
	store := newClaimStore(t, s, webhook.ClaimOptions{Timeout: time.Minute})
	for waited := false; ; waited = true {
		claim, err := store.Claim(t.Context(), heldID, time.Minute)
		require.NoError(t, err)
		if claim.State() == webhook.ClaimWon {
			require.GreaterOrEqual(t, time.Since(began), heldLease)
			require.NoError(t, claim.Done(t.Context()))
			if !waited {
				t.Skip("too slow to tell: the lease was over before the replica was killed")
			}
			return
		}
		require.Equal(t, webhook.ClaimInFlight, claim.State())
		require.Less(t, time.Since(began), time.Minute)
		time.Sleep(10 * time.Millisecond)
	}
}
