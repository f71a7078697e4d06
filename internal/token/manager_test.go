package token

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/oauth2"
)

// endpoint stands in for POST /token. Its fields are set before use, or between calls.
type endpoint struct {
	life  time.Duration
	delay time.Duration
	fail  func(n int64) error // n counts from 1; nil never fails
	count atomic.Int64

	mu    sync.Mutex
	times []time.Time // when each exchange began
}

func (e *endpoint) fetch(ctx context.Context) (*oauth2.Token, error) {
	n := e.count.Add(1)
	e.mu.Lock()
	e.times = append(e.times, time.Now())
	e.mu.Unlock()
	if e.delay > 0 {
		delay, cancel := context.WithTimeout(ctx, e.delay)
		defer cancel()
		if <-delay.Done(); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if e.fail != nil {
		if err := e.fail(n); err != nil {
			return nil, err
		}
	}
	return &oauth2.Token{AccessToken: fmt.Sprintf("secret-%d", n), TokenType: "bearer", Expiry: time.Now().Add(e.life)}, nil
}

// gaps returns the times between exchanges.
func (e *endpoint) gaps() []time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	var gaps []time.Duration
	for i := 1; i < len(e.times); i++ {
		gaps = append(gaps, e.times[i].Sub(e.times[i-1]))
	}
	return gaps
}

// withManager runs test in a bubble with a manager on e that is closed at the end. The bubble fails when a
// goroutine is left.
func withManager(t *testing.T, e *endpoint, opts Options, test func(t *testing.T, m *Manager)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(e.fetch, opts)
		defer m.Close()
		test(t, m)
	})
}

// await returns the manager's token, for which it may have to wait.
func await(t *testing.T, m *Manager, rejected *oauth2.Token) *oauth2.Token {
	t.Helper()
	token, err := m.Token(t.Context(), rejected)
	require.NoError(t, err)
	return token
}

// mustFail fails the test unless Token returns the error want.
func mustFail(ctx context.Context, t *testing.T, m *Manager, rejected *oauth2.Token, want error, about ...any) {
	t.Helper()
	_, err := m.Token(ctx, rejected)
	require.ErrorIs(t, err, want, about...)
}

// mustToken returns the manager's token, which must need no waiting.
func mustToken(t *testing.T, m *Manager, rejected *oauth2.Token) *oauth2.Token {
	t.Helper()
	began := time.Now()
	token := await(t, m, rejected)
	require.Zero(t, time.Since(began), "waited")
	return token
}

func TestTokenRenewalStartsAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ life, at time.Duration }{
		{24 * time.Hour, 23*time.Hour + 50*time.Minute},
		{time.Hour, 50 * time.Minute},
		{20 * time.Minute, 10 * time.Minute},
		{12 * time.Minute, 2 * time.Minute},
		{10*time.Minute + time.Second, time.Minute}, // not with nearly every call
		{10 * time.Minute, 5 * time.Minute},
		{5 * time.Second, 2500 * time.Millisecond},
		{1500 * time.Millisecond, time.Second}, // never sooner than the least gap
		{1 << 62, MaxLife - renewBefore},
	} {
		t.Run(c.life.String(), func(t *testing.T) {
			e := &endpoint{life: c.life}
			withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
				first := mustToken(t, m, nil)
				time.Sleep(c.at - 1)
				require.Same(t, first, mustToken(t, m, nil))
				synctest.Wait()
				require.EqualValues(t, 1, e.count.Load(), "renewed too soon")
				time.Sleep(1)
				require.Same(t, first, mustToken(t, m, nil), "the call that starts the renewal goes on with its token")
				synctest.Wait()
				require.EqualValues(t, 2, e.count.Load())
				require.NotSame(t, first, mustToken(t, m, nil))
			})
		})
	}
}

func TestTokenExpiryWithoutMonotonicReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		m := NewManager(func(context.Context) (*oauth2.Token, error) {
			count.Add(1)
			return &oauth2.Token{AccessToken: "a", Expiry: time.Now().Add(time.Hour).Round(0).UTC()}, nil
		}, Options{})
		defer m.Close()
		mustToken(t, m, nil)
		time.Sleep(50*time.Minute - 1)
		mustToken(t, m, nil)
		synctest.Wait()
		require.EqualValues(t, 1, count.Load())
		time.Sleep(1)
		mustToken(t, m, nil)
		synctest.Wait()
		require.EqualValues(t, 2, count.Load())
	})
}

func TestThousandCallersAcrossARenewalNeverWait(t *testing.T) {
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		e.delay = 200 * time.Millisecond
		time.Sleep(50*time.Minute - 100*time.Millisecond)
		var callers sync.WaitGroup
		var old, renewed atomic.Int64
		for i := range 1000 {
			callers.Go(func() {
				time.Sleep(time.Duration(i%50) * time.Millisecond)
				for range 8 { // 400 ms, over start and end of the renewal
					began := time.Now()
					token, err := m.Token(t.Context(), nil)
					if err != nil || time.Since(began) != 0 {
						t.Error(err, time.Since(began))
					}
					if token == first {
						old.Add(1)
					} else {
						renewed.Add(1)
					}
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
		callers.Wait()
		require.EqualValues(t, 2, e.count.Load(), "one renewal")
		require.Greater(t, old.Load(), int64(1000))
		require.Greater(t, renewed.Load(), int64(500))
	})
}

func TestShortTokensDoNotStorm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		life     time.Duration
		min, max int64 // exchanges in a minute
	}{
		{5 * time.Second, 23, 25},
		{time.Second, 55, 61},
		{time.Millisecond, 55, 61},
	} {
		t.Run(c.life.String(), func(t *testing.T) {
			e := &endpoint{life: c.life}
			withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
				for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
					await(t, m, nil)
				}
				require.GreaterOrEqual(t, e.count.Load(), c.min)
				require.LessOrEqual(t, e.count.Load(), c.max)
			})
		})
	}
}

func TestExpiredTokenIsFetchedOnceForAll(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: 200 * time.Millisecond}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		await(t, m, nil)
		for round := range int64(3) {
			time.Sleep(time.Hour) // exactly its life
			var callers sync.WaitGroup
			for range 100 {
				callers.Go(func() {
					began := time.Now()
					token, err := m.Token(t.Context(), nil)
					if err != nil || token.AccessToken != fmt.Sprintf("secret-%d", round+2) || time.Since(began) != e.delay {
						t.Error(token, err, time.Since(began))
					}
				})
			}
			callers.Wait()
			require.Equal(t, round+2, e.count.Load())
		}
	})
}

func TestServiceThatRepeatsTheSameTokenDoesNotStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		expiry := time.Now().Add(time.Hour)
		m := NewManager(func(context.Context) (*oauth2.Token, error) {
			count.Add(1)
			return &oauth2.Token{AccessToken: "same", Expiry: expiry}, nil
		}, Options{})
		defer m.Close()
		for time.Now().Before(expiry.Add(-time.Second)) {
			mustToken(t, m, nil)
			time.Sleep(500 * time.Millisecond)
		}
		require.LessOrEqual(t, count.Load(), int64(12)) // each life is half of the last
	})
}

func TestIdleManagerHasNoGoroutine(t *testing.T) { // serial: it counts goroutines
	before := goleak.IgnoreCurrent()
	first := new(oauth2.Token{AccessToken: "a", Expiry: time.Now().Add(time.Hour)})
	m := NewManager(func(context.Context) (*oauth2.Token, error) { // never closed
		if first == nil {
			return nil, errors.New("down")
		}
		token := first
		first = nil
		return token, nil
	}, Options{})
	token := await(t, m, nil)
	_, err := m.Token(t.Context(), token)
	require.Error(t, err)
	goleak.VerifyNone(t, before)
	runtime.KeepAlive(m)
}

func TestTokenManagerPrintsNoToken(t *testing.T) {
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		mustToken(t, m, nil)
		synctest.Wait()
		for _, verb := range []string{"%v", "%+v", "%#v"} {
			require.NotContains(t, fmt.Sprintf(verb, m), "secret")
		}
	})
}

func TestSteadyStateAllocatesNothing(t *testing.T) { // serial: it counts allocations
	m := NewManager(func(context.Context) (*oauth2.Token, error) {
		return &oauth2.Token{AccessToken: "a", Expiry: time.Now().Add(time.Hour)}, nil
	}, Options{})
	defer m.Close()
	ctx := t.Context()
	old, err := m.Token(ctx, nil)
	require.NoError(t, err)
	_, err = m.Token(ctx, old)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = m.Token(ctx, nil) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = m.Token(ctx, old) }))
}

// TestTokenManagerUnderStress is for the race detector: callers reject, leave and come while exchanges fail and the
// manager finally closes.
func TestTokenManagerUnderStress(t *testing.T) {
	e := &endpoint{life: 3 * time.Second, delay: 20 * time.Millisecond, fail: func(n int64) error {
		if n%3 == 0 {
			return errors.New("down")
		}
		return nil
	}}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		var callers sync.WaitGroup
		for i := range 32 {
			callers.Go(func() {
				var rejected *oauth2.Token
				for n := i; ; n++ {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%40)*time.Millisecond)
					token, err := m.Token(ctx, rejected)
					cancel()
					switch {
					case errors.Is(err, ErrClosed):
						return
					case err == nil && (token == nil || token.AccessToken == ""):
						t.Error("no token and no error")
					case err != nil && err.Error() != "down" && !errors.Is(err, ErrRefused) && !errors.Is(err, context.DeadlineExceeded):
						t.Error(err)
					}
					rejected = nil
					if n%7 == 0 {
						rejected = token
					}
					time.Sleep(time.Duration(n%11) * time.Millisecond)
				}
			})
		}
		time.Sleep(5 * time.Second)
		m.Close()
		callers.Wait()
		require.LessOrEqual(t, e.count.Load(), int64(20))
		require.Greater(t, e.count.Load(), int64(3))
	})
}

func TestTokenBackOffIsBounded(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{0: 1, 1: 1, 2: 2, 3: 4, 6: 32, 7: 60, 16: 60, 17: 60, 64: 60, 1 << 30: 60} {
		require.Equal(t, want*time.Second, backOff(time.Second, time.Minute, n), "n=%d", n)
	}
}
