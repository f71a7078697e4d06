//go:build unix

package hostile_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/hostile"
)

// pidsOf waits for the process IDs of workers and their children.
func pidsOf(t *testing.T, file string, count int) (pids []int) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(file)
		pids = nil
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			pids = append(pids, pid)
			require.NoError(t, err)
		}
		return len(pids) == count
	}, time.Minute, 10*time.Millisecond)
	return pids
}

// ended waits until a process is gone, or is a zombie that its parent has not reaped.
func ended(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		return err == nil && strings.Contains(string(status), "State:\tZ")
	}, time.Minute, 10*time.Millisecond)
}

// When a run ends, no process and no child is left.
func TestNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := calm("")
	o.Copies, o.Env = 2, []string{"SLOPPY_PIDS=" + file}
	done := make(chan *hostile.Report, 1)
	go func() {
		report, _ := hostile.Run(ctx, o)
		done <- report
	}()
	pids := pidsOf(t, file, 4)
	cancel()
	require.Equal(t, "context canceled", (<-done).Unfinished)
	for _, pid := range pids {
		ended(t, pid)
	}
}

// If the harness is killed, the context of its workers ends.
func TestKilledHarnessEndsItsWorker(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	harness := command(t, small("SLOPPY_PIDS="+file)...)
	require.NoError(t, harness.Start())
	pid := pidsOf(t, file, 2)[0]
	require.NoError(t, harness.Process.Kill())
	require.Error(t, harness.Wait())
	ended(t, pid)
}

// A copy is frozen in the middle of a request, beyond its lease. When it continues, another has made the payment.
func TestFrozenBeyondTheLease(t *testing.T) {
	t.Parallel()
	o := only(24)
	o.Copies, o.Freezes, o.Freeze, o.ServiceFreezes = 3, 1, 3*time.Second, 0
	safe, found := compared(t, correct, naiveLease, o, hostile.PaidTwice)
	require.Positive(t, safe.Freezes)
	require.Contains(t, strings.Join(found[0].Timeline, "\n"), "FROZEN for 3s")
}
