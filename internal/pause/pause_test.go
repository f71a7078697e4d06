package pause

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, For(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(began))

		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, For(short, time.Minute), context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(began), "it does not sleep into the deadline")
		require.NoError(t, For(short, time.Second))

		ended, end := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, end)
		require.ErrorIs(t, For(ended, time.Hour), context.Canceled)
		require.Equal(t, time.Minute+2*time.Second, time.Since(began))
	})
}
