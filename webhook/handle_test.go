package webhook

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func message(id prepaid.MessageID) *prepaid.Message {
	return &prepaid.Message{ID: id, HookID: "h1", Type: prepaid.MessageTypeTransaction}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen recorder
		release := make(chan struct{})
		handler := newHandler(t, open(func(ctx context.Context, m *prepaid.Message) error {
			<-release
			return seen.take(ctx, m)
		}))
		first := later(t, handler, transaction)
		synctest.Wait()

		w := post(t, handler, transaction)
		require.Equal(t, 503, w.Code, "in flight")
		require.Equal(t, "5", w.Header().Get("Retry-After"))
		require.ErrorIs(t, handler.Handle(t.Context(), message("m1")), ErrInFlight)

		close(release)
		require.Equal(t, 200, <-first)
		require.Equal(t, 200, post(t, handler, transaction).Code, "finished")
		require.NoError(t, handler.Handle(t.Context(), message("m1")))
		require.Equal(t, 1, seen.count())

		time.Sleep(defaultKeep)
		require.Equal(t, 200, post(t, handler, transaction).Code, "forgotten")
		require.Equal(t, 2, seen.count())
	})
}

// The ids of two hooks may be the same, and a message without an id is no duplicate.
func TestWhatIsNoDuplicate(t *testing.T) {
	t.Parallel()
	var seen recorder
	handler := newHandler(t, open(seen.take))
	for i, body := range []string{
		`{"id":"m1","hook_id":"h1","type":"transaction"}`, `{"id":"m1","hook_id":"h2","type":"transaction"}`,
		`{"hook_id":"h1","type":"transaction"}`, `{"hook_id":"h1","type":"transaction"}`,
	} {
		require.Equal(t, 200, post(t, handler, body).Code)
		require.Equal(t, i+1, seen.count())
	}
}

// Whatever goes wrong, the message can be handled again at once.
func TestFailureReleasesTheClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle func(ctx context.Context) error
		check  func(t *testing.T, err error)
	}{
		"error": {
			func(context.Context) error { return errors.New("no") },
			func(t *testing.T, err error) { t.Helper(); require.EqualError(t, err, "no") },
		},
		"panic": {
			func(context.Context) error { panic("SECRET") },
			func(t *testing.T, err error) {
				t.Helper()
				panicked, ok := errors.AsType[*PanicError](err)
				require.True(t, ok)
				require.NotContains(t, err.Error(), "SECRET")
				require.Contains(t, string(panicked.Stack), "TestFailureReleasesTheClaim")
				require.NotContains(t, string(panicked.Stack), "SECRET")
			},
		},
		"end of goroutine": {
			func(context.Context) error { runtime.Goexit(); return nil },
			func(t *testing.T, err error) {
				t.Helper()
				_, ok := errors.AsType[*PanicError](err)
				require.True(t, ok)
			},
		},
		"timeout": {
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, context.DeadlineExceeded) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var seen recorder
				fail := true
				config := open(func(ctx context.Context, m *prepaid.Message) error {
					if fail {
						return c.handle(ctx)
					}
					return seen.take(ctx, m)
				})
				config.OnFailure = seen.fail
				handler := newHandler(t, config)
				began := time.Now()
				w := post(t, handler, transaction)
				require.Equal(t, 500, w.Code)
				require.Equal(t, "Internal Server Error\n", w.Body.String())
				require.LessOrEqual(t, time.Since(began), 20*time.Second)
				require.Len(t, seen.failed(), 1)
				c.check(t, seen.failed()[0].err)
				synctest.Wait()

				fail = false
				require.Equal(t, 200, post(t, handler, transaction).Code)
				require.Equal(t, 1, seen.count())
			})
		})
	}
}

// A function that ignores its context does not delay the response. While it runs, the message is not handled again
// here, even after its lease has ended.
func TestOverrun(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]error{"succeeds late": nil, "fails late": errors.New("late")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var running, most, calls int
				var mu sync.Mutex
				config := open(func(context.Context, *prepaid.Message) error {
					mu.Lock()
					running++
					calls++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(60 * time.Second)
					mu.Lock()
					running--
					mu.Unlock()
					return late
				})
				handler := newHandler(t, config)
				began := time.Now()
				require.Equal(t, 500, post(t, handler, transaction).Code)
				require.Equal(t, 20*time.Second, time.Since(began))
				for range 3 {
					require.Equal(t, 503, post(t, handler, transaction).Code)
					time.Sleep(10 * time.Second)
				}
				mu.Lock()
				require.Equal(t, 1, calls)
				mu.Unlock()

				stop, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				require.ErrorIs(t, handler.Shutdown(stop), context.DeadlineExceeded, "it still runs")
				require.NoError(t, handler.Shutdown(t.Context()))
				require.Equal(t, 60*time.Second, time.Since(began))
				require.Equal(t, 1, most)
			})
		})
	}
}

// The lease ends with the time for handling, so after it another replica may try.
func TestOverrunFreesTheLeaseForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mine, theirs recorder
		claims := Memory(0, 0)
		slow := open(func(context.Context, *prepaid.Message) error {
			time.Sleep(30 * time.Second)
			return nil
		})
		slow.Claims, slow.OnFailure = claims, mine.fail
		other := open(theirs.take)
		other.Claims = claims
		here, there := newHandler(t, slow), newHandler(t, other)

		first := later(t, here, transaction)
		time.Sleep(19 * time.Second)
		require.Equal(t, 503, post(t, there, transaction).Code)
		require.Equal(t, 500, <-first)
		require.Equal(t, 200, post(t, there, transaction).Code)
		require.Equal(t, 1, theirs.count())

		time.Sleep(time.Minute)
		require.Len(t, mine.failed(), 2)
		require.Equal(t, 0, mine.failed()[1].status, "the late Done is reported")
		require.ErrorIs(t, mine.failed()[1].err, ErrClaimLost)
		require.Equal(t, 200, post(t, here, transaction).Code, "and has changed nothing")
	})
}

func TestHandleEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := newHandler(t, open(func(ctx context.Context, _ *prepaid.Message) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, handler.Handle(ctx, message("m1")), context.DeadlineExceeded)
		require.ErrorIs(t, handler.Handle(ctx, message("m1")), context.DeadlineExceeded, "not even begun")
		require.Equal(t, []string{"message"}, fields(t, handler.Handle(t.Context(), nil)))
	})
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen recorder
		handler := newHandler(t, open(func(ctx context.Context, m *prepaid.Message) error {
			time.Sleep(5 * time.Second)
			return seen.take(ctx, m)
		}))
		answer := later(t, handler, transaction)
		synctest.Wait()
		began := time.Now()
		stopped := make(chan error)
		go func() { stopped <- handler.Shutdown(t.Context()) }()
		synctest.Wait()

		w := post(t, handler, `{"id":"m2","type":"transaction"}`)
		require.Equal(t, 503, w.Code)
		require.Equal(t, "5", w.Header().Get("Retry-After"))
		require.ErrorIs(t, handler.Handle(t.Context(), message("m3")), ErrShutdown)
		require.Zero(t, time.Since(began), "refused at once")

		require.NoError(t, <-stopped)
		require.Equal(t, 200, <-answer)
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Equal(t, 1, seen.count())

		body := &endless{}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", body)
		require.Equal(t, 503, serve(handler, r).Code)
		require.Zero(t, body.read, "refused before it is read")

		over, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, handler.Shutdown(over), "nothing to wait for")
	})
}

// A message whose body was arriving when Shutdown began is refused, and is not waited for.
func TestShutdownDuringReceipt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen recorder
		handler := newHandler(t, open(seen.take))
		reader, writer := io.Pipe()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", reader)
		answer := make(chan int)
		go func() { answer <- serve(handler, r).Code }()
		_, err := io.WriteString(writer, transaction)
		require.NoError(t, err)
		require.NoError(t, handler.Shutdown(t.Context()))
		require.NoError(t, writer.Close())
		require.Equal(t, 503, <-answer)
		require.Zero(t, seen.count())
	})
}

// Many senders of few messages: each is handled once.
func TestEachMessageOnceUnderConcurrency(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	handled := map[prepaid.MessageID]int{}
	handler := newHandler(t, open(func(_ context.Context, m *prepaid.Message) error {
		mu.Lock()
		defer mu.Unlock()
		handled[m.ID]++
		return nil
	}))
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			body := `{"id":"m` + string(rune('a'+i%10)) + `","type":"transaction"}`
			code := post(t, handler, body).Code
			if code != 200 && code != 503 {
				t.Errorf("status %d", code)
			}
		})
	}
	wg.Wait()
	require.Len(t, handled, 10)
	for _, times := range handled {
		require.Equal(t, 1, times)
	}
	require.NoError(t, handler.Shutdown(t.Context()))
}
