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
	jump     time.Duration // of this clock, in the next life
	signs    []sign        // all real responses
}

// clock is the store's clock.
func (l *lives) clock() time.Time { return time.Now().Add(l.ahead).Round(0) }

// live begins a process, which calls Await for the request that the store's clock saw at the time at, and dies after the duration d.
func (l *lives) live(at time.Time, d time.Duration) (admitted bool) {
	l.service = &service{Tracker: New(attempt, wait), downFor: l.downFor}
	l.Use("a", l.clock(), l.evidence)
	ctx, die := context.WithTimeout(context.Background(), time.Hour)
	result := make(chan error, 1)
	go func() {
		now := time.Now()
		result <- l.await(ctx, sent(now.Add(at.Sub(l.clock()))))
	}()
	for end := time.Now().Add(d); time.Now().Before(end); {
		l.evidence = l.Evidence("a", l.clock())
		time.Sleep(min(keepEvery, time.Until(end)))
		l.ahead, l.jump = l.ahead+l.jump, 0
		synctest.Wait()
		if len(result) > 0 {
			break
		}
	}
	die()
	for _, sent := range l.reads {
		if at := sent.Add(trip); !sent.Before(l.downFor) {
			l.signs = append(l.signs, sign{sent, at})
		}
	}
	return <-result == nil
}

// The wait for a repeat goes on in the next process, whatever happens to clocks and to the network, and never ends too early.
func TestWaitGoesOnInTheNextProcess(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same in each run
				upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
				l := &lives{service: &service{}, ahead: upTo(time.Hour)}
				if seed%2 == 0 { // there is a process before
					l.live(l.clock().Add(-time.Hour), upTo(5*time.Second))
				}
				began, at := time.Now(), l.clock()
				time.Sleep(upTo(3 * time.Second))
				var from time.Time // of an outage
				for n := 0; !l.live(at, 3*time.Second+upTo(4*time.Second)); n++ {
					require.Less(t, n, 120)
					if seed%4 > 1 && from.IsZero() && random.IntN(8) == 0 {
						from = time.Now()
						l.downFor = from.Add(30*time.Second + upTo(time.Minute))
					}
					before := time.Now()
					time.Sleep(upTo(2 * time.Second))
					l.ahead += upTo(100 * time.Millisecond)
					if seed%3 == 0 && n < 20 && random.IntN(8) == 0 {
						time.Sleep(upTo(time.Minute))
						l.ahead += upTo(2*time.Hour) - time.Hour
						l.jump = upTo(2*time.Hour) - time.Hour
						if random.IntN(2) == 0 { // the clock hides that no process was running
							l.ahead -= time.Since(before)
						}
						at = earlier(at, l.clock().Add(min(l.jump, 0))) // stores correct a time that lies ahead
					}
				}
				t.Logf("%d responses later: %v", len(l.signs), time.Since(began))
				require.True(t, slices.ContainsFunc(l.signs, func(first sign) bool {
					age := first.at.Sub(began)
					gone := first.at.Add(min(age+firstPause, longestPause))
					return first.sent.Sub(began) >= attempt/3 && slices.ContainsFunc(l.signs, func(second sign) bool {
						again := from.After(first.at) && l.downFor.Before(second.sent)
						return !again && !second.sent.Before(gone) && second.sent.Sub(began) >= attempt && time.Since(second.at) >= wait
					})
				}))
			})
		})
	}
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
