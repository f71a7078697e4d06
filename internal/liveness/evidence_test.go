package liveness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// lives are processes, one after the other, each with the evidence of the one before.
type lives struct {
	*service

	evidence []byte
	ahead    time.Duration // of the store's clock
	signs    []sign        // all real responses
}

// clock is the store's clock.
func (l *lives) clock() time.Time { return time.Now().Add(l.ahead) }

// live begins a process that dies after the duration d. If it calls Await, for the request that the store's clock saw at the time at, the
// result is whether that admits a repeat. during is called after half of the time.
func (l *lives) live(await bool, at time.Time, d time.Duration, during func()) (admitted bool) {
	l.service = &service{Tracker: New(attempt, wait), downFor: l.downFor}
	l.Use("a", l.clock(), l.evidence)
	l.evidence = l.Evidence("a", l.clock())
	ctx, die := context.WithTimeout(context.Background(), time.Hour)
	result := make(chan bool, 1)
	go func() {
		if !await {
			_, _ = l.read(ctx)
			<-ctx.Done()
		}
		now := time.Now()
		err := l.Await(ctx, sent(now.Add(at.Sub(l.clock()))), time.Hour, Reader{Read: func(ctx context.Context) (bool, error) {
			defer time.Sleep(time.Millisecond) // the call ends after the response
			return l.read(ctx)
		}})
		result <- err == nil
	}()
	end := time.Now().Add(d)
	for middle := end.Add(-d / 2); time.Now().Before(end) && len(result) == 0; {
		time.Sleep(min(keepEvery, time.Until(end)))
		if during != nil && time.Now().After(middle) {
			during()
			during = nil
		}
		l.evidence = l.Evidence("a", l.clock())
		synctest.Wait()
	}
	die()
	admitted = <-result
	for _, sent := range l.reads {
		if at := sent.Add(trip); !sent.Before(l.downFor) && !at.After(time.Now()) {
			l.signs = append(l.signs, sign{sent, at})
		}
	}
	return admitted
}

// The wait for a repeat goes on in the next process, whatever happens to clocks and to the network, and never ends too early.
func TestWaitGoesOnInTheNextProcess(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
				l := &lives{service: &service{}, ahead: upTo(time.Hour)}
				var began, at time.Time
				var outages []time.Time
				n := 0
				step := func() {
					if seed%3 == 0 && n < 40 && random.IntN(6) == 0 {
						l.ahead += upTo(2*time.Hour) - time.Hour
						if !began.IsZero() && at.After(l.clock()) { // stores correct a time that lies ahead
							began, at = time.Now(), l.clock()
						}
					}
				}
				unsent := random.IntN(4) // processes before the request
				var known time.Time      // when it was sent, as far as the last process knows
				for ; ; n++ {
					known = began
					if l.live(n > unsent, at, 3*time.Second+upTo(4*time.Second), func() {
						step()
						if n == unsent {
							began, at = time.Now(), l.clock()
						}
						step()
					}) {
						break
					}
					require.Less(t, n, 150)
					if seed%4 > 1 && len(outages) < 3 && random.IntN(6) == 0 && time.Now().After(l.downFor) {
						outages = append(outages, time.Now())
						l.downFor = time.Now().Add(30*time.Second + upTo(time.Minute))
					}
					time.Sleep(upTo(2 * time.Second))
					l.ahead += upTo(100 * time.Millisecond)
				}
				t.Logf("%d responses later: %v", len(l.signs), time.Since(known))
				require.True(t, slices.ContainsFunc(l.signs, func(first sign) bool {
					gone := first.at.Add(min(first.at.Sub(known)+firstPause, longestPause))
					return first.sent.Sub(known) >= attempt/3 && slices.ContainsFunc(l.signs, func(second sign) bool {
						again := slices.ContainsFunc(outages, func(from time.Time) bool { return from.After(first.at) && from.Before(second.sent) })
						return !again && !second.sent.Before(gone) && second.sent.Sub(known) >= attempt && time.Since(second.at) >= wait
					})
				}))
			})
		})
	}
}

// Times of a store's clock keep no monotonic reading: it would hide a step.
func TestEvidenceReadsTheWallClock(t *testing.T) {
	t.Parallel()
	tracker := New(attempt, wait)
	tracker.Evidence("a", time.Now())
	require.Equal(t, tracker.record.clock, tracker.record.clock.Round(0))
	require.NotEqual(t, time.Now(), time.Now().Round(0))
}

// Evidence has a bounded length, however long a process lives.
func TestEvidenceIsBounded(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		for range 500 {
			s.Use("a", time.Now(), s.Evidence("a", time.Now()))
			_, _ = s.read(t.Context())
			evidence := s.Evidence("a", time.Now().Add(time.Duration(rand.Int64N(int64(time.Hour)))))
			require.Less(t, len(evidence), 16<<10)
			time.Sleep(time.Second)
			s.Tracker = New(attempt, wait)
			s.Use("a", time.Now(), evidence)
		}
	})
}

// Evidence of another service, and other text, proves nothing.
func TestForeignEvidence(t *testing.T) {
	clocked(t, func(t *testing.T, s *service) {
		began := time.Now()
		s.Evidence("a", began)
		for time.Since(began) < 2*time.Minute {
			_, _ = s.read(t.Context())
			time.Sleep(time.Second)
		}
		good := string(s.Evidence("a", time.Now()))
		for text, want := range map[string]bool{good: true, strings.Replace(good, `"a"`, `"b"`, 1): false, good[:len(good)-1]: false, "{}": false, "null": false} {
			next := New(attempt, wait)
			next.Use("a", time.Now(), []byte(text))
			_, proved := next.proved(sent(began))
			require.Equal(t, want, proved, text)
		}
	})
}
