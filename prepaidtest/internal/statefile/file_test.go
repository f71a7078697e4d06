package statefile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestItRestsAfterALongWrite(t *testing.T) {
	t.Parallel()
	require.Equal(t, Every, rest(0))
	require.Equal(t, Every, rest(Every/share))
	require.Equal(t, 20*time.Second, rest(2*time.Second))
}
