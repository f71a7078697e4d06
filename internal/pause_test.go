package internal_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/pause"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, pause.For(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(began))

		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, pause.For(short, time.Minute), context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(began), "it does not sleep into the deadline")
		require.NoError(t, pause.For(short, time.Second))

		ended, end := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, end)
		require.ErrorIs(t, pause.For(ended, time.Hour), context.Canceled)
		require.Equal(t, time.Minute+2*time.Second, time.Since(began))
	})
}

func TestCause(t *testing.T) {
	t.Parallel()
	limit, failure := errors.New("the limit is over"), errors.New("failure")
	ctx, cancel := context.WithCancelCause(t.Context())
	require.Equal(t, failure, pause.Cause(ctx, failure), "ctx has not ended")
	cancel(limit)
	require.EqualError(t, pause.Cause(ctx, failure), "the limit is over: failure")
	require.ErrorIs(t, pause.Cause(ctx, failure), failure)
	require.ErrorIs(t, pause.Cause(ctx, failure), limit)
	require.NoError(t, pause.Cause(ctx, nil))
	plain, end := context.WithCancel(t.Context())
	end()
	require.Equal(t, failure, pause.Cause(plain, failure), "without a cause of its own")
}
