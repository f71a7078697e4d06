package liveness

import (
	"context"
	"errors"
	"math/rand/v2"
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
	trip    = 20 * time.Millisecond // of a read
)

var errDown = errors.New("down")

// service is a service that can be down, and counts reads.
type service struct {
	*Tracker

	mu      sync.Mutex
	downFor time.Time // until then
	reads   []time.Time
}

// failFor makes the service fail from now on for the duration d.
func (s *service) failFor(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.downFor = time.Now().Add(d)
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
	time.Sleep(trip)
	s.Responded(sent, time.Now())
	return false, nil
}

// sent returns a request that was sent at the time at.
func sent(at time.Time) Request {
	return Request{First: at, Last: at, NotBefore: at.Add(attempt + wait)}
}

// await is Await with a reader of the service.
func (s *service) await(ctx context.Context, r Request) error {
	return s.Await(ctx, r, limit, Reader{Read: s.read})
}

func clocked(t *testing.T, test func(t *testing.T, s *service)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, &service{Tracker: New(attempt, wait)}) })
}

// Without other calls, two reads admit a repeat as soon as the service has had its time after the attempt.
func TestTwoReads(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		require.NoError(t, s.await(t.Context(), sent(began)))
		require.Equal(t, attempt+wait+trip, time.Since(began))
		require.Equal(t, []time.Time{began.Add(attempt / 3), began.Add(attempt)}, s.reads)
		require.True(t, s.Admitted(sent(began), time.Now()))
		require.False(t, s.Admitted(sent(began), time.Now().Add(-1)))
		require.False(t, s.Admitted(sent(began.Add(1)), time.Now()))

		time.Sleep(time.Hour)
		again := time.Now()
		require.NoError(t, s.await(t.Context(), sent(began)), "known")
		require.Zero(t, time.Since(again))
		require.Len(t, s.reads, 2)
	})
}

// The first read takes place during the attempt if the attempt is watched.
func TestSign(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		time.Sleep(attempt / 3)
		s.Sign(t.Context(), time.Now(), attempt, Reader{Read: s.read})
		require.Len(t, s.reads, 1)
		time.Sleep(attempt)
		require.NoError(t, s.await(t.Context(), sent(began)))
		require.Equal(t, attempt*4/3+wait+2*trip, time.Since(began))
		require.Len(t, s.reads, 2)
	})
}

// A kernel sends a request again after 0.2 s, 0.4 s and so on, up to 2 minutes, and first after as long as a second. Whenever the
// network fails, and for however long: no repeat is admitted before the request has arrived and the service has had its time.
func TestOutages(t *testing.T) {
	t.Parallel()
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			s := &service{Tracker: New(attempt, wait)}
			busy := rand.N(2) == 0
			others, stop := context.WithCancel(t.Context())
			var calls sync.WaitGroup
			if busy {
				calls.Go(func() {
					for ; others.Err() == nil; time.Sleep(rand.N(time.Second)) {
						_, _ = s.read(others)
					}
				})
				time.Sleep(time.Minute)
			}
			began := time.Now()
			down := rand.N(20*time.Second) * time.Duration(rand.N(20)) // more short than long ones
			up := began.Add(down)
			s.failFor(down)
			arrives, pause := began.Add(rand.N(time.Second)), 200*time.Millisecond+rand.N(800*time.Millisecond)
			for arrives.Before(up) {
				arrives, pause = arrives.Add(pause), min(2*pause, longestPause)
			}
			err := s.Await(t.Context(), sent(began), time.Hour, Reader{Read: s.read})
			took := time.Since(began)
			stop()
			calls.Wait()
			require.NoError(t, err)
			require.GreaterOrEqual(t, took, arrives.Sub(began)+wait, "down for %v", down)
			if down < attempt/3 {
				require.LessOrEqual(t, took, attempt+wait+wait/8)
			}
			require.LessOrEqual(t, took, max(2*down, attempt)+4*wait)
		})
	}
}

// After 46 s of silence a repeat waits for 105 s, after long silence 2 minutes longer than today, and after 20 minutes no longer.
func TestSilenceLengthensTheWait(t *testing.T) {
	for _, c := range []struct{ silence, want time.Duration }{
		{0, attempt + wait}, {13 * time.Second, attempt + wait}, {46 * time.Second, 2*46*time.Second + attempt/12 + wait},
		{5 * time.Minute, 7*time.Minute + wait}, {19 * time.Minute, 20*time.Minute + wait}, {25 * time.Minute, 25*time.Minute + wait},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{Tracker: New(attempt, wait)}
			began := time.Now()
			time.Sleep(c.silence)
			require.NoError(t, s.await(t.Context(), sent(began)))
			require.InDelta(t, c.want, time.Since(began), float64(4*trip), "%v", c.silence)
		})
	}
}

// If the service does not respond to the second read either, its first response afterwards counts as the first, also for later calls.
func TestSilenceAfterTheFirstResponse(t *testing.T) {
	for _, deadline := range []time.Duration{time.Hour, attempt + attempt/2, 2 * attempt, 2*attempt + wait} {
		synctest.Test(t, func(t *testing.T) {
			s, began := &service{Tracker: New(attempt, wait)}, time.Now()
			time.AfterFunc(attempt/2, func() { s.failFor(attempt) })
			for {
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				err := s.await(ctx, sent(began))
				cancel()
				if err == nil {
					break
				}
				require.False(t, s.Admitted(sent(began), time.Now()))
				time.Sleep(time.Second)
			}
			require.GreaterOrEqual(t, time.Since(began), attempt*3+wait)
		})
	}
}

// A service that is slow all the time has not failed.
func TestSlowService(t *testing.T) {
	for _, takes := range []time.Duration{9 * time.Second, 11 * time.Second, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s, began := &service{Tracker: New(attempt, wait)}, time.Now()
			require.NoError(t, s.Await(t.Context(), sent(began), limit, Reader{Read: func(context.Context) (bool, error) {
				asked := time.Now()
				time.Sleep(takes)
				s.Responded(asked, time.Now())
				return false, nil
			}}))
			require.Less(t, time.Since(began), 2*(attempt/3+takes)+takes+2*wait)
		})
	}
}

// The age counts from the earliest time at which the request can have been sent, and the end of all retransmissions from the latest.
func TestRequestOfUnknownAge(t *testing.T) {
	for older, want := range map[time.Duration]time.Duration{time.Minute: 2*46*time.Second + time.Minute, 25 * time.Minute: 46*time.Second + longestPause} {
		synctest.Test(t, func(t *testing.T) {
			s, began := &service{Tracker: New(attempt, wait)}, time.Now()
			s.failFor(46 * time.Second)
			r := sent(began)
			r.First = began.Add(-older)
			require.NoError(t, s.await(t.Context(), r))
			require.GreaterOrEqual(t, time.Since(began), want+wait)
			require.Less(t, time.Since(began), want+2*wait)
		})
	}
}

// After a call there is one read at a time, and Close ends it.
func TestLater(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		ended := make(chan time.Time, 9)
		since := time.Now().Add(attempt / 3)
		hangs := Reader{Read: func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			ended <- time.Now()
			return false, ctx.Err()
		}}
		for range 5 {
			s.Later(since, attempt, hangs)
		}
		time.Sleep(attempt / 2)
		require.Empty(t, ended)
		s.Close()
		require.Equal(t, time.Now(), <-ended)
		synctest.Wait()
		require.Empty(t, ended)
		s.Later(time.Now().Add(time.Second), attempt, Reader{Read: s.read})
		time.Sleep(time.Minute)
		_, ok := s.works(since)
		require.True(t, ok)
		s.Later(time.Now().Add(time.Second), attempt, Reader{Read: func(context.Context) (bool, error) { panic("CANARY") }})
		time.Sleep(time.Minute)
	})
}

// Reads of an account that the service refuses, one that is lost and one that is cancelled are no silence.
func TestFailedReadsAreNoSilence(t *testing.T) {
	for name, failure := range map[string]error{"refused": &RefusedError{errDown}, "lost": errDown, "cancelled": context.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			s, began, n := &service{Tracker: New(attempt, wait)}, time.Now(), 0
			require.NoError(t, s.Await(t.Context(), sent(began), limit, Reader{Read: func(ctx context.Context) (bool, error) {
				if n++; n > 1 && (name == "refused" && n < 12 || n == 2) {
					time.Sleep(time.Second)
					return false, failure
				}
				return s.read(ctx)
			}}), name)
			require.Less(t, time.Since(began), attempt+4*wait, name)
		})
	}
}

// A response to a request that was sent before the end of the first one proves nothing, however late it arrives.
func TestEarlierRequestsDoNotCount(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		time.Sleep(attempt / 3)
		s.Responded(time.Now(), time.Now())
		time.Sleep(attempt*2/3 + time.Second)
		s.Responded(began.Add(attempt-1), time.Now())
		require.NoError(t, s.await(t.Context(), sent(began)))
		require.Len(t, s.reads, 1)
		require.Equal(t, time.Second+wait/perWait+wait+trip, time.Since(began)-attempt)
	})
}

// Responses to requests that were sent right after the first one do not show that the network still works.
func TestSignsAtOnceDoNotCount(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		time.Sleep(time.Second)
		s.Responded(time.Now().Add(-trip), time.Now())
		s.failFor(attempt - 2*time.Second) // the second response is not late
		require.NoError(t, s.await(t.Context(), sent(began)))
		require.GreaterOrEqual(t, time.Since(began), 2*(attempt-time.Second)+wait)
	})
}

// Other calls make reads unnecessary, and a busy client repeats soon after notBefore, also if it asks late.
func TestOtherCallsCount(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		for range 4000 {
			time.Sleep(10 * time.Millisecond)
			s.Responded(time.Now().Add(-5*time.Millisecond), time.Now())
		}
		require.NoError(t, s.await(t.Context(), sent(began)))
		require.Empty(t, s.reads)
		require.LessOrEqual(t, time.Since(began), attempt+wait+wait/8)
		require.False(t, s.Admitted(sent(began), began.Add(attempt+wait-1)))
		require.True(t, s.Admitted(sent(began), time.Now().Add(4*time.Second)))
		again := time.Now()
		require.NoError(t, s.await(t.Context(), sent(began.Add(-time.Hour))), "long over")
		require.Zero(t, time.Since(again))
		for range 2000 { // slow responses, for longer than the short spans are remembered
			time.Sleep(100 * time.Millisecond)
			s.Responded(time.Now().Add(-3*time.Second), time.Now())
		}
		again = time.Now()
		require.NoError(t, s.await(t.Context(), sent(began.Add(attempt))), "minutes ago")
		require.Zero(t, time.Since(again))
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
	now, s := time.Now(), New(attempt, wait)
	require.True(t, back(now).Equal(now), "the monotonic reading is the same")
	require.Greater(t, back(now).Round(0).Sub(now.Round(0)), time.Minute)
	responded := back(now.Add(-3 * wait))
	s.seen[0] = response{first: responded, at: responded, sent: responded}
	s.made = responded.Add(-attempt)
	s.signs[0].ring[32].first = sign{responded, responded}

	errRead := errors.New("read")
	last := now.Add(-wait / 4) // the request ended after the response
	for _, last := range []time.Time{last, last.Round(0)} {
		r := sent(last.Add(-attempt))
		err := s.Await(t.Context(), r, limit, Reader{Read: func(context.Context) (bool, error) { return true, errRead }})
		require.Equal(t, errRead, err, "the response proves nothing")
	}
	earlier := now.Add(-3*wait - attempt - time.Second - retransmitted)
	for _, earlier := range []time.Time{earlier, earlier.Round(0)} {
		require.NoError(t, s.Await(t.Context(), sent(earlier), limit, Reader{}), "the response proves that")
	}
}

// While the service does not respond, reads become rarer, and the wait ends.
func TestSilence(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		s.failFor(time.Hour)
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				err := s.await(t.Context(), sent(began))
				if _, ok := errors.AsType[*SilentError](err); !ok {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		require.Less(t, time.Since(began), attempt+limit+wait)
		require.Less(t, len(s.reads), 40)
		require.Equal(t, wait/4, s.reads[len(s.reads)-1].Sub(s.reads[len(s.reads)-2]))
	})
}

// Callers whose reads all fail do not stop the others: a response to one counts for all.
func TestBrokenSubjectStopsNoOther(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		broken := func(context.Context) (bool, error) { return false, errDown }
		var calls sync.WaitGroup
		for n := range 200 {
			reader := Reader{Subject: "broken", Read: broken}
			if n == 150 {
				reader = Reader{Subject: "well", Read: s.read}
			}
			calls.Go(func() {
				if err := s.Await(t.Context(), sent(began), limit, reader); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		require.Less(t, time.Since(began), attempt+wait+wait/4)
	})
}

// The reads of a client that waits only briefly do not become a hot loop.
func TestSilenceWithAShortWait(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{1, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{Tracker: New(attempt, wait), downFor: time.Now().Add(time.Hour)}
			now := time.Now()
			err := s.await(t.Context(), Request{First: now, Last: now, NotBefore: now.Add(wait)})
			require.ErrorIs(t, err, errDown)
			require.Less(t, len(s.reads), 40)
		})
	}
}

func TestContextEndsTheWait(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		last := sent(began)
		short, cancel := context.WithTimeout(t.Context(), attempt+wait)
		defer cancel()
		require.ErrorIs(t, s.await(short, last), context.DeadlineExceeded)
		require.Zero(t, time.Since(began), "in vain")
		for _, pause := range []time.Duration{time.Second, attempt + time.Second} {
			s.failFor(time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(pause, cancel)
			begin := time.Now()
			require.ErrorIs(t, s.await(ctx, last), context.Canceled)
			require.Equal(t, pause, time.Since(begin))
		}
		over := errors.New("over")
		require.ErrorIs(t, s.Await(t.Context(), last, limit, Reader{Read: func(context.Context) (bool, error) { return true, over }}), over)
		s.Responded(time.Now().Add(-time.Hour), time.Now())
		err := s.Await(t.Context(), last, time.Second, Reader{Read: func(context.Context) (bool, error) { return false, nil }})
		require.ErrorContains(t, err, "own form")
	})
}

// A deadline that is too early for the wait after a long silence costs one read, which counts for the next call.
func TestShortDeadlinesMakeProgress(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		last := sent(time.Now())
		time.Sleep(5 * time.Minute)
		again := time.Now()
		for time.Since(again) < longestPause+2*wait {
			ctx, cancel := context.WithTimeout(t.Context(), attempt)
			begun := time.Now()
			err := s.await(ctx, last)
			cancel()
			if err == nil {
				require.Len(t, s.reads, 2)
				return
			}
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.LessOrEqual(t, time.Since(begun), trip)
			time.Sleep(time.Second)
		}
		t.Fatal("never")
	})
}
