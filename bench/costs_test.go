package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// cost is that of a call.
type cost struct{ bytes, allocations float64 }

// costOf counts while nothing else runs.
func costOf(t *testing.T, open opener) cost {
	t.Helper()
	const calls = 500
	call, done := openWarm(t, open)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range calls {
		require.NoError(t, call())
	}
	runtime.ReadMemStats(&after)
	require.NoError(t, done())
	return cost{float64(after.TotalAlloc-before.TotalAlloc) / calls, float64(after.Mallocs-before.Mallocs) / calls}
}

// A call needs less memory than the same call without the client.
func TestMemoryOfACall(t *testing.T) {
	for _, c := range []struct {
		name               string
		bytes, allocations float64 // a part of the baseline's; a number
		compare            func(runner)
	}{
		{"account", 0.56, 22, compareAccount},
		{"accounts page", 0.30, 0, compareAccountPage},
		{"transactions page", 0.22, 0, compareTransactionPage},
		{"transfer", 0.78, 23, compareTransfer},
	} {
		t.Run(c.name, func(t *testing.T) {
			costs := map[string]cost{}
			c.compare(func(side string, open opener) { costs[side] = costOf(t, open) })
			t.Log(costs)
			require.LessOrEqual(t, costs["ours"].bytes, c.bytes*costs["baseline"].bytes)
			if c.allocations > 0 {
				require.Less(t, costs["ours"].allocations, c.allocations)
			}
		})
	}
}

// The client adds less than 1.95 MB to a small program, stripped.
func TestSizeOfAProgram(t *testing.T) {
	directory := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", directory+"/", "./small/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	sizeOf := func(name string) int64 {
		info, err := os.Stat(filepath.Join(directory, name))
		require.NoError(t, err)
		return info.Size()
	}
	plain, client := sizeOf("plain"), sizeOf("client")
	t.Logf("%d and %d bytes", plain, client)
	require.Less(t, client-plain, int64(1.95e6))
}
