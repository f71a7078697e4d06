package prepaidtest

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClockRunsTasksInOrderAtTheirDueTime(t *testing.T) {
	t.Parallel()
	origin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	var ran []time.Duration
	c := newClock(origin, true, func(_ job, due time.Time) { ran = append(ran, due.Sub(origin)) })
	defer c.close()
	for _, d := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
		c.after(d, job{})
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
		var c *clock
		began := time.Now()
		done := make(chan time.Duration, 2)
		c = newClock(time.Time{}, false, func(j job, _ time.Time) {
			if j.kind == jobClear {
				c.after(time.Minute, job{kind: jobAlert})
			}
			done <- time.Since(began)
		})
		defer c.close()
		c.after(time.Minute, job{kind: jobClear})
		require.Equal(t, time.Minute, <-done)
		require.Equal(t, 2*time.Minute, <-done)
	})
}

func TestClockAdvanceAddsToRealTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClock(time.Time{}, false, nil)
		defer c.close()
		began := c.now()
		time.Sleep(time.Second)
		c.advance(time.Hour)
		require.Equal(t, time.Hour+time.Second, c.now().Sub(began))
	})
}

func TestClockRunsNothingWhenClosed(t *testing.T) {
	t.Parallel()
	c := newClock(time.Now(), true, func(job, time.Time) { t.Error("ran after close") })
	c.after(time.Minute, job{kind: jobClear})
	c.close()
	c.after(time.Second, job{kind: jobAlert})
	c.advance(time.Hour)
	waiting := c.waiting()
	require.Len(t, waiting, 2, "kept for Save")
	require.Equal(t, jobAlert, waiting[0].job.kind, "the first first")
}

// The Date header follows the server's clock, in every form of response.
func TestClock_DateHeader(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	c := start(t, StartAt(at), FrozenClock(), ReportDelay(time.Hour))
	run := string(c.get(settlement + "?include_column_headers=false").ok().body)
	for range 2 {
		now := c.Now().UTC().Format(http.TimeFormat)
		for path, status := range map[string]int{
			"policy/mccodes": 200, "accounts/nobody": 404, "nowhere": 404, settlement + "/reports/" + run: 204,
		} {
			got := c.get(path)
			require.Equal(t, status, got.status)
			require.Equal(t, []string{now}, got.header["Date"], path)
		}
		c.Advance(30 * time.Minute)
	}
}
