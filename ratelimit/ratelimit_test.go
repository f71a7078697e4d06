package ratelimit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLaneString(t *testing.T) {
	t.Parallel()
	require.Equal(t, "lane(0) money call bulk lane(9)", fmt.Sprintf("%v %v %v %v %v", Lane(0), Money, Call, Bulk, Lane(9)))
}

func TestNone(t *testing.T) {
	t.Parallel()
	slot, err := None{}.Acquire(t.Context(), Bulk)
	require.NoError(t, err)
	require.Nil(t, slot)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = None{}.Acquire(ctx, Call)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRefusedError(t *testing.T) {
	t.Parallel()
	err := &RefusedError{Wait: 3 * time.Second}
	require.ErrorIs(t, err, ErrRateLimited)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "prepaid: throttled locally: a slot needs 3s, longer than the deadline")
}
