package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	killPayments = 2000
	killTimes    = 20 // while it pays
	earlyKills   = 6  // at any moment from the start of the process on
	summaryKills = 3  // in the middle of the summary
)

// environment points a separate process at the emulator.
func (s *stage) environment() []string {
	config := s.srv.Config()
	return append(os.Environ(), childEnv+"=yes", "PREPAID_BASE_URL="+config.BaseURL, "PREPAID_VENDOR="+config.Vendor,
		"PREPAID_ENVIRONMENT=test", "PREPAID_CLIENT_ID="+config.ClientID,
		"PREPAID_CLIENT_SECRET="+config.ClientSecret.Reveal())
}

// killWhen runs the program as a separate process, and kills it as soon as now returns true. It returns -1, or the exit status
// if the run was faster.
func (s *stage) killWhen(now func() bool) int {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), os.Args[0], s.args()...) //nolint:gosec // this very program
	cmd.Env = s.environment()
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	require.NoError(s.t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit status is below
		close(ended)
	}()
	for {
		select {
		case <-ended:
			status := cmd.ProcessState.ExitCode()
			require.Contains(s.t, []int{exitPaid, exitUnfinished, -1}, status, errOut.String())
			return status
		default:
		}
		if now() {
			_ = cmd.Process.Kill() // it may have ended
			<-ended
			return cmd.ProcessState.ExitCode()
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// 2,000 payments with 29 kills, lost responses and service failures: each is paid once.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	s := newStage(t, killPayments, prepaidtest.Options{RequestLog: 1})
	s.srv.Inject(transferOperation,
		prepaidtest.CommitThenDrop().WithProbability(0.04), prepaidtest.DropBeforeCommit().WithProbability(0.02),
		prepaidtest.Respond(503, "").WithProbability(0.04), prepaidtest.Truncate().WithProbability(0.02),
		// These requests run on after the response is cut: a repeat that does not wait pays twice.
		prepaidtest.DropBeforeCommit().CommitAfter(500*time.Millisecond).WithProbability(0.02),
		prepaidtest.ProxyPage(502).CommitAfter(500*time.Millisecond).WithProbability(0.02),
		prepaidtest.TooManyRequests(0).WithProbability(0.01), prepaidtest.Delay(5*time.Millisecond).WithProbability(0.2))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	paid := func() int { return s.srv.Account(s.float).Transactions - 1 }

	early := 0
	for kill := range earlyKills { // a fast machine still leaves most payments for later kills
		at, most := time.Now().Add(time.Duration(chance.IntN(150))*time.Millisecond), (kill+1)*killPayments/40
		if s.killWhen(func() bool { return !time.Now().Before(at) || paid() >= most }) == -1 {
			early++
		}
	}
	kills, midway := 0, 0
	for run := 0; kills < killTimes; run++ {
		require.Less(t, run, 3*killTimes, "kills %d", kills)
		// Kills happen before, in or after a write, with requests running.
		step := 1 + chance.IntN(max(1, (killPayments-paid())/(killTimes-kills+1)))
		next := min(paid()+step, killPayments)
		if s.killWhen(func() bool { return paid() >= next }) == -1 {
			kills++
			if paid() < killPayments {
				midway++
			}
		}
	}
	require.GreaterOrEqual(t, midway, killTimes/2)
	for run := 0; s.killWhen(func() bool { return false }) != exitPaid; run++ {
		require.Less(t, run, 20)
	}
	s.requirePaidOnce()

	hit := 0
	for run := 0; hit < summaryKills; run++ {
		require.Less(t, run, 200)
		require.NoError(t, os.RemoveAll(s.file+".summary.csv"+temporary))
		half := func() bool {
			info, err := os.Stat(s.file + ".summary.csv" + temporary)
			return err == nil && info.Size() > 0 // opened before the first payment
		}
		if s.killWhen(half) == -1 && half() {
			hit++
		}
		s.requirePaidOnce() // the old summary stays complete
	}
	require.Equal(t, exitPaid, s.killWhen(func() bool { return false }))
	require.NoFileExists(t, s.file+".summary.csv"+temporary)
	s.requirePaidOnce()
	t.Logf("killed %d times early, %d times while paying (%d of them with payments left), %d times in the summary", early, kills, midway, hit)
}
