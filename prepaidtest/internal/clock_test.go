package internal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
)

// jobFunc is a function as a job.
type jobFunc func(due time.Time)

// Do calls the function.
func (f jobFunc) Do(due time.Time) { f(due) }

func TestClockRunsTasksInOrderAtTheirDueTime(t *testing.T) {
	t.Parallel()
	origin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	var ran []time.Duration
	c := clock.New(origin, true)
	note := jobFunc(func(due time.Time) { ran = append(ran, due.Sub(origin)) })
	defer c.Close()
	for _, d := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
		c.After(d, note)
	}
	c.Settle()
	require.Empty(t, ran)
	c.Advance(2 * time.Hour)
	require.Equal(t, []time.Duration{time.Hour, 2 * time.Hour}, ran)
	c.Advance(-time.Hour)
	require.Equal(t, origin.Add(2*time.Hour), c.Now(), "the clock never runs back")
	c.Advance(time.Hour)
	require.Equal(t, origin.Add(3*time.Hour), c.Now())
	require.Len(t, ran, 3)
}

func TestClockRunsTasksByItselfInRealTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c *clock.Clock
		began := time.Now()
		done := make(chan time.Duration, 2)
		c = clock.New(time.Time{}, false)
		defer c.Close()
		second := jobFunc(func(time.Time) { done <- time.Since(began) })
		c.After(time.Minute, jobFunc(func(time.Time) {
			c.After(time.Minute, second)
			done <- time.Since(began)
		}))
		require.Equal(t, time.Minute, <-done)
		require.Equal(t, 2*time.Minute, <-done)
	})
}
