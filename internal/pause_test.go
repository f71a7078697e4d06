package internal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/pause"
)

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
