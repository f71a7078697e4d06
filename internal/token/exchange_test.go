package token

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

var (
	errDown    = errors.New("token endpoint down")
	errRefused = errors.New("credential refused")
)

// reports collects the reports of a manager.
type reports struct {
	mu   sync.Mutex
	log  bytes.Buffer
	errs []error
	took []time.Duration
}

func (o *reports) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(p)
}

func (o *reports) options() Options {
	return Options{
		RejectedCredential: func(err error) bool { return errors.Is(err, errRefused) },
		Logger:             slog.New(slog.NewJSONHandler(o, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Renewed: func(took time.Duration, err error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.took, o.errs = append(o.took, took), append(o.errs, err)
		},
	}
}

// failing makes exchanges from through to fail with err.
func failing(from, to int64, err error) func(int64) error {
	return func(n int64) error {
		if n >= from && n <= to {
			return err
		}
		return nil
	}
}

func TestFailedEarlyRenewalFailsNoCall(t *testing.T) {
	var seen reports
	e := &endpoint{life: time.Hour, fail: failing(2, 1<<60, errDown)}
	withManager(t, e, seen.options(), func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		e.delay = 100 * time.Millisecond
		time.Sleep(50 * time.Minute)
		for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			require.Same(t, first, mustToken(t, m, nil))
		}
		// 1, 2, 4, … 60 s after the end of each failure, within one step of the callers.
		want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60, 60}
		gaps := e.gaps()[1:]
		require.Len(t, gaps, len(want))
		for i, gap := range gaps {
			require.InDelta(t, want[i]*time.Second+e.delay, gap, float64(50*time.Millisecond))
		}
		began := time.Now() // expired now: no hold-off from early failures
		mustFail(t.Context(), t, m, nil, errDown)
		require.Equal(t, e.delay, time.Since(began))

		synctest.Wait()
		require.Len(t, seen.errs, len(want)+3)
		require.NoError(t, seen.errs[0])
		require.ErrorIs(t, seen.errs[1], errDown)
		require.Equal(t, e.delay, seen.took[1])
		require.Equal(t, len(want)+1, bytes.Count(seen.log.Bytes(), []byte(`"level":"WARN","msg":"prepaid: early token renewal failed"`)))
		require.Contains(t, seen.log.String(), errDown.Error())
		require.NotContains(t, seen.log.String(), "secret")
	})
}

func TestExpiryEndsTheHoldOffOfAnEarlyRenewal(t *testing.T) {
	e := &endpoint{life: time.Hour, fail: failing(2, 2, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		mustToken(t, m, nil)
		time.Sleep(time.Hour - time.Millisecond)
		mustToken(t, m, nil)
		time.Sleep(time.Millisecond)
		require.Equal(t, "secret-3", mustToken(t, m, nil).AccessToken)
	})
}

func TestCallersAreOnTheFastPathWhileARenewalRunsOrIsHeldOff(t *testing.T) {
	e := &endpoint{life: time.Hour, fail: failing(2, 2, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		mustToken(t, m, nil)
		e.delay = time.Second
		time.Sleep(50 * time.Minute)
		mustToken(t, m, nil)
		require.Equal(t, m.state.Load().expireAt, m.state.Load().renewAt)
		time.Sleep(e.delay)
		synctest.Wait()
		require.Equal(t, m.now()+earlyHold, m.state.Load().renewAt)
	})
}

func TestRefusedCredentialIsRemembered(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: 100 * time.Millisecond, fail: failing(1, 2, errRefused)}
	withManager(t, e, new(reports).options(), func(t *testing.T, m *Manager) {
		for round := range int64(2) {
			mustFail(t.Context(), t, m, nil, errRefused)
			refused := time.Now()
			for time.Since(refused) < DefaultHold {
				began := time.Now()
				mustFail(t.Context(), t, m, nil, errRefused)
				require.Zero(t, time.Since(began))
				time.Sleep(100 * time.Millisecond)
			}
			require.Equal(t, round+1, e.count.Load())
		}
		token := await(t, m, nil)
		require.Equal(t, "secret-3", token.AccessToken)
	})
}

func TestRefusedCredentialSparesAValidToken(t *testing.T) {
	e := &endpoint{life: time.Hour, fail: failing(2, 1<<60, errRefused)}
	withManager(t, e, new(reports).options(), func(t *testing.T, m *Manager) {
		first := mustToken(t, m, nil)
		time.Sleep(time.Hour - DefaultHold/2)
		for end := time.Now().Add(DefaultHold / 2); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			require.Same(t, first, mustToken(t, m, nil))
		}
		mustFail(t.Context(), t, m, nil, errRefused, "remembered over the expiry")
		require.EqualValues(t, 2, e.count.Load())
	})
}

func TestFailureIsSharedAndHeldOff(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: 100 * time.Millisecond, fail: failing(1, 7, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		for n, hold := range []time.Duration{0, 250, 500, 1000, 1000, 1000, 1000, 1000} {
			var callers sync.WaitGroup
			for range 100 {
				callers.Go(func() {
					began := time.Now()
					token, err := m.Token(t.Context(), nil)
					if n < 7 && !errors.Is(err, errDown) || n == 7 && (err != nil || token == nil) {
						t.Error(n, err)
					}
					if want := hold*time.Millisecond + e.delay; time.Since(began) != want {
						t.Error(n, time.Since(began), want)
					}
				})
			}
			callers.Wait()
			require.EqualValues(t, n+1, e.count.Load())
		}
		// A success forgets the failures.
		e.fail = failing(9, 9, errDown)
		mustFail(t.Context(), t, m, mustToken(t, m, nil), errDown)
		began := time.Now()
		await(t, m, nil)
		require.Equal(t, failedHold+e.delay, time.Since(began))
	})
}

func TestDeadlineBeforeTheEndOfAHoldOffIsNotWaitedFor(t *testing.T) {
	e := &endpoint{life: time.Hour, fail: failing(1, 3, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		for range 3 {
			mustFail(t.Context(), t, m, nil, errDown)
		}
		hasty := func() {
			ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond) // the hold is 1 s
			defer cancel()
			began := time.Now()
			mustFail(ctx, t, m, nil, errDown)
			require.Zero(t, time.Since(began))
		}
		hasty()
		require.Nil(t, m.pending, "and starts nothing")
		var patient sync.WaitGroup
		patient.Go(func() {
			if _, err := m.Token(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		hasty()
		patient.Wait()
		require.EqualValues(t, 4, e.count.Load())
	})
}

func TestOldFailureIsForgotten(t *testing.T) {
	e := &endpoint{life: time.Millisecond, fail: failing(1, 1, errDown)}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		mustFail(t.Context(), t, m, nil, errDown)
		await(t, m, nil)
		time.Sleep(e.life)
		ctx, cancel := context.WithTimeout(t.Context(), minRenewalGap/2)
		defer cancel()
		mustFail(ctx, t, m, nil, context.DeadlineExceeded)
	})
}

func TestTokenIsKeptWhenAllCallersLeft(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: time.Second}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		ctx, cancel := context.WithCancel(t.Context())
		var caller sync.WaitGroup
		caller.Go(func() {
			if _, err := m.Token(ctx, nil); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		caller.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, "secret-1", mustToken(t, m, nil).AccessToken)
		require.EqualValues(t, 1, e.count.Load())
	})
}

func TestEndedContext(t *testing.T) {
	e := &endpoint{life: time.Hour}
	withManager(t, e, Options{}, func(t *testing.T, m *Manager) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		mustFail(ctx, t, m, nil, context.Canceled)
		synctest.Wait()
		require.Zero(t, e.count.Load(), "starts nothing")
		first := mustToken(t, m, nil)
		token, err := m.Token(ctx, nil)
		require.NoError(t, err)
		require.Same(t, first, token)
	})
}

func TestExchangeHasItsOwnTimeout(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: time.Hour}
	withManager(t, e, Options{Timeout: 3 * time.Second}, func(t *testing.T, m *Manager) {
		began := time.Now()
		mustFail(t.Context(), t, m, nil, context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(began))
		e.delay = 0
		await(t, m, nil)
	})
}

func TestHoldOffIsNotPartOfTheTimeout(t *testing.T) {
	e := &endpoint{life: time.Hour, delay: 200 * time.Millisecond, fail: failing(1, 1, errDown)}
	withManager(t, e, Options{Timeout: 201 * time.Millisecond}, func(t *testing.T, m *Manager) {
		mustFail(t.Context(), t, m, nil, errDown)
		await(t, m, nil)
	})
}

func TestCallerValuesDoNotReachTheExchange(t *testing.T) {
	t.Parallel()
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(func(ctx context.Context) (*oauth2.Token, error) {
			if ctx.Value(key{}) != nil {
				return nil, errors.New("saw the caller's value")
			}
			return &oauth2.Token{AccessToken: "a", Expiry: time.Now().Add(time.Hour)}, nil
		}, Options{})
		defer m.Close()
		_, err := m.Token(context.WithValue(t.Context(), key{}, 1), nil)
		require.NoError(t, err)
	})
}

func TestExchangeThatNeverReturns(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){
		"panic":  func() { panic("secret") },
		"goexit": runtime.Goexit,
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen reports
			var count atomic.Int64
			m := NewManager(func(context.Context) (*oauth2.Token, error) {
				if count.Add(1) == 1 {
					end()
				}
				return &oauth2.Token{AccessToken: "a", Expiry: time.Now().Add(time.Hour)}, nil
			}, seen.options())
			defer m.Close()
			mustFail(t.Context(), t, m, nil, errNoResult)
			token := await(t, m, nil)
			require.Equal(t, "a", token.AccessToken)
			synctest.Wait()
			require.NotContains(t, seen.log.String(), "secret")
			require.Equal(t, name == "panic", bytes.Contains(seen.log.Bytes(), []byte(`"msg":"prepaid: token exchange panicked","type":"string","stack":`)))
			require.Len(t, seen.errs, 2)
		})
	}
}

func TestObserverMisbehaves(t *testing.T) {
	t.Parallel()
	for name, misbehaves := range map[string]func(){"panic": func() { panic("secret") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			var seen reports
			opts := seen.options()
			opts.Renewed = func(time.Duration, error) { misbehaves() }
			withManager(t, &endpoint{life: time.Hour}, opts, func(t *testing.T, m *Manager) {
				mustToken(t, m, mustToken(t, m, nil))
				synctest.Wait()
				require.Equal(t, 2, bytes.Count(seen.log.Bytes(), []byte(`"msg":"prepaid: a hook failed","hook":"TokenRenewed"`)))
				require.NotContains(t, seen.log.String(), "secret")
			})
		})
		t.Run("log "+name, func(t *testing.T) {
			opts := Options{Logger: slog.New(rudeHandler(misbehaves))}
			withManager(t, &endpoint{life: time.Hour}, opts, func(t *testing.T, m *Manager) { mustToken(t, m, mustToken(t, m, nil)) })
		})
	}
}

type rudeHandler func()

func (h rudeHandler) Enabled(context.Context, slog.Level) bool { h(); return true }
func (rudeHandler) Handle(context.Context, slog.Record) error  { return nil }
func (h rudeHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h rudeHandler) WithGroup(string) slog.Handler            { return h }

func TestUnusableTokens(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]func() *oauth2.Token{
		"nil":             func() *oauth2.Token { return nil },
		"no access token": func() *oauth2.Token { return &oauth2.Token{Expiry: time.Now().Add(time.Hour)} },
		"no expiry":       func() *oauth2.Token { return &oauth2.Token{AccessToken: "a"} },
		"expired":         func() *oauth2.Token { return &oauth2.Token{AccessToken: "a", Expiry: time.Now()} },
	} {
		synctest.Test(t, func(t *testing.T) {
			m := NewManager(func(context.Context) (*oauth2.Token, error) { return token(), nil }, Options{})
			defer m.Close()
			got, err := m.Token(t.Context(), nil)
			require.Nil(t, got, name)
			require.ErrorIs(t, err, errUnusable, name)
		})
	}
}
