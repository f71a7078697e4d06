package prepaidtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClockRunsTasksInOrderAtTheirDueTime(t *testing.T) {
	t.Parallel()
	origin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	c := newClock(origin, true)
	defer c.close()
	var ran []time.Duration
	for _, d := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
		c.after(d, func(at time.Time) { ran = append(ran, at.Sub(origin)) })
	}
	c.settle()
	require.Empty(t, ran)
	c.advance(2 * time.Hour)
	require.Equal(t, []time.Duration{time.Hour, 2 * time.Hour}, ran)
	c.advance(-time.Hour)
	require.Equal(t, origin.Add(2*time.Hour), c.now(), "the clock never runs back")
	c.advance(time.Hour)
	require.Equal(t, origin.Add(3*time.Hour), c.now())
	require.Len(t, ran, 3)
}

func TestClockRunsTasksByItselfInRealTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClock(time.Time{}, false)
		defer c.close()
		began := time.Now()
		done := make(chan time.Duration, 2)
		c.after(time.Minute, func(time.Time) {
			c.after(time.Minute, func(time.Time) { done <- time.Since(began) })
			done <- time.Since(began)
		})
		require.Equal(t, time.Minute, <-done)
		require.Equal(t, 2*time.Minute, <-done)
	})
}

func TestClockAdvanceAddsToRealTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClock(time.Time{}, false)
		defer c.close()
		began := c.now()
		time.Sleep(time.Second)
		c.advance(time.Hour)
		require.Equal(t, time.Hour+time.Second, c.now().Sub(began))
	})
}

func TestClockForgetsTasksWhenClosed(t *testing.T) {
	t.Parallel()
	c := newClock(time.Now(), true)
	c.after(time.Second, func(time.Time) { t.Error("ran after close") })
	c.close()
	c.after(time.Second, func(time.Time) { t.Error("ran after close") })
	c.advance(time.Hour)
}
