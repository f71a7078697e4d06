package internal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
)

func TestNothingBeginsAfterClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := activity.New()
		require.True(t, a.Enter())
		require.True(t, a.Begin(3))
		paused := make(chan bool)
		a.Run(func() { paused <- a.Pause(time.Hour, nil) })
		require.True(t, a.Close())
		require.False(t, a.Close(), "again")
		require.False(t, a.Enter())
		require.False(t, a.Begin(1))
		require.False(t, a.Start(func() { t.Error("ran after Close") }))
		a.Stop()
		require.False(t, <-paused, "Stop ends pauses")
		a.Leave()
		a.Wait()
		require.NoError(t, a.WaitIdle(t.Context()), "what is left is kept for later")
	})
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := activity.New()
		began := time.Now()
		require.True(t, a.Pause(time.Minute, nil))
		require.Equal(t, time.Minute, time.Since(began))
		done := make(chan struct{})
		close(done)
		require.False(t, a.Pause(time.Minute, done))
	})
}
