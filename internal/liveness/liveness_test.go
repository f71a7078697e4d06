package liveness

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

const (
	wait    = 10 * time.Second
	attempt = 30 * time.Second
	limit   = 80 * time.Second
)

var errDown = errors.New("down")

// service is a service that can be down, and counts reads.
type service struct {
	*Tracker

	mu      sync.Mutex
	downFor time.Time // until then
	reads   []time.Time
}

func (s *service) read(context.Context) (bool, error) {
	sent := time.Now()
	s.mu.Lock()
	s.reads = append(s.reads, sent)
	down := time.Now().Before(s.downFor)
	s.mu.Unlock()
	if down {
		return false, errDown
	}
	time.Sleep(20 * time.Millisecond)
	s.Responded(sent)
	return false, nil
}

func clocked(t *testing.T, test func(t *testing.T, s *service)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, &service{Tracker: New(wait)}) })
}

// The repeat waits for a response to a request that was sent after the first one had ended, and then for the service's time.
func TestOneRead(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		sent := time.Now()
		notBefore := sent.Add(attempt + wait)
		require.NoError(t, s.Await(t.Context(), notBefore, limit, s.read))
		require.Equal(t, attempt+wait+20*time.Millisecond, time.Since(sent))
		require.Equal(t, []time.Time{sent.Add(attempt)}, s.reads)

		require.NoError(t, s.Await(t.Context(), notBefore, limit, s.read), "known")
		require.Equal(t, attempt+wait+20*time.Millisecond, time.Since(sent))
		require.False(t, s.Admitted(time.Now()).Before(notBefore))
		require.True(t, s.Admitted(time.Now()).Before(time.Now()))
	})
}

// A response to a request that was sent before the end of the first one proves nothing, however late it arrives.
func TestEarlierRequestsDoNotCount(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		sent := time.Now()
		time.Sleep(attempt + time.Second)
		s.Responded(sent.Add(attempt - 1))
		require.True(t, s.Admitted(time.Now().Add(wait)).Before(sent.Add(attempt+wait)))
		require.NoError(t, s.Await(t.Context(), sent.Add(attempt+wait), limit, s.read))
		require.Len(t, s.reads, 1)
		require.Equal(t, time.Second+wait/perWait+wait+20*time.Millisecond, time.Since(sent)-attempt)
	})
}

// Other calls make the read unnecessary, and a busy client repeats soon after notBefore, also if it asks late.
func TestOtherCallsCount(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		sent := time.Now()
		for range 4000 {
			time.Sleep(10 * time.Millisecond)
			s.Responded(time.Now().Add(-5 * time.Millisecond))
		}
		require.False(t, s.Admitted(time.Now()).Before(time.Now().Add(-time.Second)))
		require.NoError(t, s.Await(t.Context(), sent.Add(attempt+wait), limit, s.read))
		require.Empty(t, s.reads)
		require.LessOrEqual(t, time.Since(sent), attempt+wait+wait/8)
		began := time.Now()
		require.NoError(t, s.Await(t.Context(), sent.Add(-time.Hour), limit, s.read), "long over")
		require.Zero(t, time.Since(began))
	})
}

// A clock that is set back does not make earlier responses seem to be later than the request. Times of synctest have no monotonic
// reading, so this uses the system clock, and does not wait for it.
func TestClockIsSetBack(t *testing.T) {
	t.Parallel()
	back := func(t time.Time) time.Time { // its value if the clock is set back by an hour now
		*(*uint64)(unsafe.Pointer(&t)) += uint64(time.Hour/time.Second) << 30 //nolint:gosec // seconds of the wall clock
		return t
	}
	now, s := time.Now(), New(wait)
	require.True(t, back(now).Equal(now), "the monotonic reading is the same")
	require.Greater(t, back(now).Round(0).Sub(now.Round(0)), time.Minute)
	responded := back(now.Add(-3 * wait))
	s.seen[0] = response{first: responded, at: responded, sent: responded}
	s.admitted = back(now.Add(-2 * wait))
	require.Equal(t, now.Add(-2*wait).Round(0), s.Admitted(now).Round(0))

	errRead := errors.New("read")
	notBefore := now.Add(-wait / 4) // the request ended after the response
	for _, notBefore := range []time.Time{notBefore, notBefore.Round(0)} {
		err := s.Await(t.Context(), notBefore, limit, func(context.Context) (bool, error) { return true, errRead })
		require.Equal(t, errRead, err, "the response proves nothing")
	}
	earlier := now.Add(-2*wait - time.Second).Round(0)
	require.NoError(t, s.Await(t.Context(), earlier, limit, nil), "admitted before")
	s.admitted = time.Time{}
	require.NoError(t, s.Await(t.Context(), earlier, limit, nil), "the response proves that")
}

// While the service does not respond, reads become rarer, and the wait ends.
func TestSilence(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		sent := time.Now()
		s.downFor = sent.Add(time.Hour)
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				err := s.Await(t.Context(), sent.Add(attempt+wait), limit, s.read)
				if _, ok := errors.AsType[*SilentError](err); !ok {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		require.Less(t, time.Since(sent), attempt+limit+wait)
		require.Less(t, len(s.reads), 25)
		require.Equal(t, wait/2, s.reads[len(s.reads)-1].Sub(s.reads[len(s.reads)-2]))

		s.downFor = time.Now().Add(20 * time.Second)
		back := s.downFor
		require.NoError(t, s.Await(t.Context(), sent.Add(attempt+wait), limit, s.read))
		require.WithinRange(t, time.Now(), back.Add(wait), back.Add(wait+wait/2+20*time.Millisecond))
	})
}

// The reads of a client that waits only briefly do not become a hot loop.
func TestSilenceWithAShortWait(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{1, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{Tracker: New(wait), downFor: time.Now().Add(time.Hour)}
			err := s.Await(t.Context(), time.Now(), limit, s.read)
			require.ErrorIs(t, err, errDown)
			require.Less(t, len(s.reads), 25)
		})
	}
}

func TestContextEndsTheWait(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		notBefore := began.Add(attempt + wait)
		short, cancel := context.WithTimeout(t.Context(), attempt+wait)
		defer cancel()
		require.ErrorIs(t, s.Await(short, notBefore, limit, s.read), context.DeadlineExceeded)
		require.Zero(t, time.Since(began), "in vain")
		for _, pause := range []time.Duration{time.Second, attempt + time.Second} {
			s.downFor = began.Add(time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(pause, cancel)
			begin := time.Now()
			require.ErrorIs(t, s.Await(ctx, notBefore, limit, s.read), context.Canceled)
			require.Equal(t, pause, time.Since(begin))
		}
		over := errors.New("over")
		require.ErrorIs(t, s.Await(t.Context(), notBefore, limit, func(context.Context) (bool, error) { return true, over }), over)
		s.Responded(time.Now().Add(-time.Hour))
		err := s.Await(t.Context(), notBefore, time.Second, func(context.Context) (bool, error) { return false, nil })
		require.ErrorContains(t, err, "own form")
	})
}
