package prepaidpg

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pace measures how long a test takes, and whether the machine is slow.
type pace struct {
	*testing.T
	began time.Time
	late  atomic.Int64 // the longest delay of a timer so far, in nanoseconds
}

// startPace measures from now until the end of the test.
func startPace(t *testing.T) *pace {
	t.Helper()
	p, ended := &pace{T: t, began: time.Now()}, make(chan struct{})
	go func() {
		defer close(ended)
		const pause = 10 * time.Millisecond
		for t.Context().Err() == nil {
			began := time.Now()
			time.Sleep(pause)
			p.late.Store(max(p.late.Load(), int64(time.Since(began)-pause)))
		}
	}()
	t.Cleanup(func() { <-ended })
	return p
}

// slow reports whether timers were so late that what a test did cannot have been done within limit.
func (p *pace) slow(limit time.Duration) bool { return time.Duration(p.late.Load()) > limit/20 }

// within requires that less than limit has passed.
func (p *pace) within(limit time.Duration) {
	p.Helper()
	p.took(time.Since(p.began), limit)
}

// took requires that something took less than limit. On a slow machine it ends the test.
func (p *pace) took(took, limit time.Duration) {
	p.Helper()
	if took >= limit && p.slow(limit) {
		p.Skipf("too slow to tell: it took %v, and a timer was %v late", took, time.Duration(p.late.Load()))
	}
	require.Less(p, took, limit)
}
