package prepaidredis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

// delivery sends each message like the service, until a 200 acknowledges it.
type delivery struct {
	replicas   []http.Handler
	sent, lost atomic.Int64
	busy       atomic.Int64 // responses with 503
	failed     atomic.Int64 // responses with 500
}

// deliver ends when the sender has seen a 200 after its planned losses of responses.
func (d *delivery) deliver(t *testing.T, id string, lose int) {
	for {
		d.sent.Add(1)
		body := fmt.Sprintf(`{"id":%q,"hook_id":"h","timestamp":"2026-03-01T10:00:00Z","type":"transaction"}`, id)
		w := httptest.NewRecorder()
		d.replicas[rand.N(len(d.replicas))].ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body)))
		switch {
		case w.Code == http.StatusOK && lose > 0:
			lose--
			d.lost.Add(1)
		case w.Code == http.StatusOK:
			return
		case w.Code == http.StatusServiceUnavailable:
			d.busy.Add(1)
			time.Sleep(time.Millisecond)
		case w.Code == http.StatusInternalServerError:
			d.failed.Add(1)
		default:
			t.Errorf("status %d", w.Code)
			return
		}
	}
}

// 3,000 messages, a fifth of them delivered twice, often at once to both replicas; a twentieth of the responses is
// lost, and a hundredth of the messages fails the first time.
func TestMessagesOnTwoReplicas(t *testing.T) {
	t.Parallel()
	const messages = 3_000
	s := startServer(t)
	handled := make([]atomic.Int64, messages)
	tried := make([]atomic.Int64, messages)
	d := &delivery{}
	for range 2 {
		handler, err := webhook.NewHandler(webhook.Config{
			AllowUnverified: true, Claims: newClaimStore(t, s, webhook.ClaimOptions{Timeout: time.Minute}), Timeout: time.Hour,
			OnTransaction: func(_ context.Context, m *prepaid.Message) error {
				var n int
				if _, err := fmt.Sscanf(string(m.ID), "m%d", &n); err != nil {
					return err
				}
				if tried[n].Add(1) == 1 && n%100 == 0 {
					return errors.New("a fault of the partner's own")
				}
				handled[n].Add(1)
				return nil
			},
		})
		require.NoError(t, err)
		d.replicas = append(d.replicas, handler)
	}
	work := make(chan int)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for n := range work {
				var both sync.WaitGroup
				lose := 0
				if n%20 == 3 {
					lose = 1
				}
				both.Go(func() { d.deliver(t, fmt.Sprintf("m%d", n), lose) })
				if n%5 == 4 {
					both.Go(func() { d.deliver(t, fmt.Sprintf("m%d", n), 0) })
				}
				both.Wait()
			}
		})
	}
	began := time.Now()
	for n := range messages {
		work <- n
	}
	close(work)
	group.Wait()
	once, never, more := 0, 0, 0
	for n := range handled {
		switch handled[n].Load() {
		case 0:
			never++
		case 1:
			once++
		default:
			more++
		}
	}
	t.Logf("%d messages in %d deliveries, %d answers lost, %d in flight elsewhere, %d failed: handled once %d, never %d, more than once %d, in %s",
		messages, d.sent.Load(), d.lost.Load(), d.busy.Load(), d.failed.Load(), once, never, more, time.Since(began).Round(time.Millisecond))
	require.Equal(t, messages, once)
	require.EqualValues(t, messages/100, d.failed.Load())
	require.Greater(t, d.sent.Load(), int64(messages*5/4))
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
