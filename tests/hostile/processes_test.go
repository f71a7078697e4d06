//go:build unix

package hostile_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/hostile"
)

// No process and no child is left.
func TestNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var lines []string
	var started bool
	var wait sync.WaitGroup
	wait.Go(func() {
		defer cancel()
		started = assert.Eventually(t, func() bool {
			text, _ := os.ReadFile(pids)
			lines = strings.Fields(string(text))
			return len(lines) == 4
		}, time.Minute, 10*time.Millisecond)
	})
	o := calm("")
	o.Copies, o.Env = 2, []string{"SLOPPY_PIDS=" + pids}
	report, err := hostile.Run(ctx, o)
	wait.Wait()
	require.NoError(t, err)
	require.True(t, started)
	require.Equal(t, "context canceled, and no worker has requested a token", report.Unfinished)
	for _, line := range lines {
		pid, err := strconv.Atoi(line)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return ended(pid) }, time.Minute, 10*time.Millisecond)
	}
}

// ended reports that a process is gone, or is a zombie that its parent has not reaped.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err == nil && strings.Contains(string(status), "State:\tZ")
}

// A copy is frozen in the middle of a request, beyond its lease. When it continues, another has made the payment.
func TestFrozenBeyondTheLease(t *testing.T) {
	t.Parallel()
	o := hostile.Options{Seed: 2, Payments: 24, Copies: 3, Faults: -1, Kills: -1, Freezes: 1, Freeze: 3 * time.Second, NetworkCuts: -1, Refused: -1}
	safe, naive := compared(t, naiveLease, o)
	require.Positive(t, safe.Freezes)
	require.Contains(t, strings.Join(naive.Double[0].Timeline, "\n"), "FROZEN for 3s")
}
