package slots

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

func TestLaneString(t *testing.T) {
	t.Parallel()
	require.Equal(t, "lane(0) money call bulk lane(9)", fmt.Sprintf("%v %v %v %v %v", ratelimit.Lane(0), ratelimit.Money, ratelimit.Call, ratelimit.Bulk, ratelimit.Lane(9)))
}

func TestNone(t *testing.T) {
	t.Parallel()
	slot, err := ratelimit.None{}.Acquire(t.Context(), ratelimit.Bulk)
	require.NoError(t, err)
	require.Nil(t, slot)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ratelimit.None{}.Acquire(ctx, ratelimit.Call)
	require.ErrorIs(t, err, context.Canceled)
}
