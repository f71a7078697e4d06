package main

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestDryRunSendsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		s.srv.AllowOnly("GET /accounts/{id}")
		out, _ := s.exits(exitPaid, "-dry-run")
		require.Contains(t, out, "to send         3           300.03\nfloat       1000000.00 on the account\n")
		require.Contains(t, out, "add -rows 3 -sum 300.03 to the run itself")
		require.NoFileExists(t, s.journal())
		require.NoFileExists(t, s.file+".summary.csv")
		s.srv.AllowOnly()
		s.exits(exitPaid, "-rows", "3", "-sum", "300.03")
		s.write(append(s.rows(), row("emp-new", s.accounts[0], "5"))...)
		out, _ = s.exits(exitPaid, "-dry-run")
		require.Contains(t, out, "  paid            3           300.03\n")
		require.Contains(t, out, "  to send         1             5.00\n")
		require.Equal(t, 3, s.transfers())
	})
}

func TestFileChangedBetweenRuns(t *testing.T) {
	t.Parallel()
	inBubble(t, 5, func(t *testing.T, s *stage) {
		s.exits(exitPaid)
		const rule = "journal: params changed under their request id: "
		for _, c := range []struct{ old, changed, want string }{
			{string(s.accounts[1]), string(s.accounts[2]), "line 3: " + rule + "destination "},
			{"100.02", "100.20", "line 4: " + rule + "amount "},
			{"100.03,SALARY", "100.03,SALARY 2", "line 5: " + rule + "params "},
		} {
			changed := strings.Replace(strings.Join(s.rows(), "\n"), c.old, c.changed, 1)
			s.write(changed, row("emp-5", s.accounts[0], "7.00"))
			_, errOut := s.exits(exitWrong)
			require.Contains(t, errOut, c.want)
			require.Contains(t, errOut, "nothing was sent: changed rows: 1; a corrected row needs a new key")
		}
		_, errOut := s.exits(exitWrong, "-float", string(s.accounts[4]))
		require.Contains(t, errOut, "is the float account")

		// Paid rows must stay in the file: without them it is another run's.
		s.write(s.rows()[1:]...)
		for _, args := range [][]string{nil, {"-date", time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)}} {
			_, errOut = s.exits(exitWrong, args...)
			require.Contains(t, errOut, "that may have been made and are not in the file")
		}
		require.Equal(t, 5, s.transfers())

		s.write(append([]string{row("emp-5", s.accounts[0], "7.00")}, s.rows()...)...) // also at the start
		out, _ := s.exits(exitPaid)
		require.Contains(t, out, "this run    payments: 1, in")
		require.Equal(t, "107.00", s.srv.Balance(s.accounts[0]))
		require.Equal(t, 6, s.transfers())
	})
}

// A rehearsal in the test environment does not count as the run.
func TestJournalOfAnotherEnvironment(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, s *stage) {
		s.exits(exitPaid)
		s.config.TestEnvironment = false
		require.NoError(t, os.Rename(s.journal(), strings.Replace(s.journal(), ".test.", ".production.", 1)))
		_, errOut := s.exits(exitWrong)
		require.Contains(t, errOut, "the journal has 2 payments of 200.01 that may have been made and are not in the file")
	})
}

func TestRejectedRows(t *testing.T) {
	t.Parallel()
	inBubble(t, 6, func(t *testing.T, s *stage) {
		s.srv.SetStatus(s.accounts[2], "closed")
		out, _ := s.exits(exitRefused)
		require.Equal(t, "5", count(out, statePaid))
		require.Equal(t, "1", count(out, stateRejected))
		require.Equal(t, []string{"4", "emp-2", "100.02", stateRejected, "", "transfer_failed"}, s.summary()[2][:6])
		require.NotEmpty(t, s.summary()[2][6], "correlation id")

		// The row is retried, once a run, only unchanged.
		s.srv.AddAccount(prepaidtest.SeedAccount{ID: "EA2"})
		s.write(strings.Replace(strings.Join(s.rows(), "\n"), string(s.accounts[2]), "EA2", 1))
		_, errOut := s.exits(exitWrong, "-retry-refused")
		require.Contains(t, errOut, "line 4: journal: params changed under their request id: destination ")
		require.Equal(t, "0.00", s.srv.Balance("EA2"))

		before := s.transfers()
		s.write(s.rows()...)
		s.exits(exitRefused)
		require.Equal(t, before, s.transfers(), "only when it is asked for")
		s.exits(exitRefused, "-retry-refused")
		require.Equal(t, before+1, s.transfers())
		s.srv.SetStatus(s.accounts[2], "active")
		s.exits(exitPaid, "-retry-refused")
		s.requirePaidOnce()
	})
}

// Scattered rejected rows do not stop the run.
func TestRejectedRowsHereAndThere(t *testing.T) {
	t.Parallel()
	inBubble(t, 20, func(t *testing.T, s *stage) {
		for i := 0; i < 20; i += 2 {
			s.srv.SetStatus(s.accounts[i], "closed")
		}
		s.workers, s.stopAfter = 1, 2
		out, _ := s.exits(exitRefused)
		require.Equal(t, "10", count(out, statePaid))
		require.Equal(t, "10", count(out, stateRejected))
	})
}

// A rejected row is corrected under a new key. The old row may be removed.
func TestCorrectedRow(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		s.srv.SetStatus(s.accounts[0], "closed")
		s.exits(exitRefused)
		s.write(append(s.rows()[1:], row("emp-0b", s.accounts[1], "100.00"))...)
		s.exits(exitPaid)
		require.Equal(t, "200.01", s.srv.Balance(s.accounts[1]))
	})
}

func TestFloatAccountIsShort(t *testing.T) {
	t.Parallel()
	inBubble(t, 4, func(t *testing.T, s *stage) {
		s.srv.Adjust(s.float, "-999600") // 400.00 of 400.06
		for _, args := range [][]string{{"-dry-run"}, nil} {
			_, errOut := s.exits(exitWrong, args...)
			require.Contains(t, errOut, "nothing was sent: the float account has 400.00, and at least 400.06 is left to pay")
		}
		require.Zero(t, s.transfers())
		s.srv.SetStatus(s.float, "inactive")
		_, errOut := s.exits(exitWrong)
		require.Contains(t, errOut, "the float account is not active")
	})
}

// Another program spends from the float account. After a top-up the run goes on.
func TestFloatAccountRunsDry(t *testing.T) {
	t.Parallel()
	inBubble(t, 40, func(t *testing.T, s *stage) {
		var paid atomic.Int32
		s.onPaid = func() {
			if paid.Add(1) == 10 {
				s.srv.Adjust(s.float, "-"+s.srv.Balance(s.float))
			}
		}
		s.workers, s.stopAfter = 1, 5
		out, errOut := s.exits(exitUnfinished)
		require.Contains(t, errOut, "stopped: too many payments in a row failed (5); last error: prepaid: Accounts.Transfer: rejected: transfer failed")
		counts := []string{count(out, statePaid), count(out, stateRejected), count(out, stateNotSent)}
		require.Contains(t, [][]string{ // one payment may be running at the tenth success, and at the fifth failure
			{"10", "5", "25"}, {"11", "5", "24"}, {"10", "6", "24"}, {"11", "6", "23"},
		}, counts)
		require.Less(t, s.transfers(), 18)

		s.srv.Adjust(s.float, "5000")
		s.onPaid = nil
		s.exits(exitPaid, "-retry-refused")
		for i, n := range s.movements() {
			require.Equal(t, 1, n, i)
		}
	})
}

func TestDoubtThatRemains(t *testing.T) {
	t.Parallel()
	inBubble(t, 6, func(t *testing.T, s *stage) {
		s.config.Retry.MaxAttempts = 1
		s.srv.Inject(transferOperation, prepaidtest.CommitThenDrop().Times(2), prepaidtest.DropBeforeCommit().Times(16))
		out, errOut := s.exits(exitUnfinished)
		require.Contains(t, errOut, "not all payments are final and proven; last error: prepaid: Accounts.Transfer: outcome unknown")
		require.Equal(t, 3*6, s.transfers())
		require.Equal(t, "6", count(out, stateUnknown))
		require.Contains(t, out, "run the same command again")
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	inBubble(t, 100, func(t *testing.T, s *stage) {
		s.srv.Inject(transferOperation, prepaidtest.Delay(20*time.Millisecond).Always())
		ctx, interrupt := context.WithCancel(t.Context())
		s.onPaid = interrupt
		s.workers = 8
		code, out, errOut := s.runUntil(ctx)
		require.Equal(t, exitUnfinished, code)
		require.Contains(t, errOut, errInterrupted.Error())
		require.Equal(t, "0", count(out, stateUnknown), "those under way are waited for")
		require.Less(t, s.transfers(), 50)
		require.Len(t, s.summary(), 100+len(states()))
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}

// A call that outlasts the grace is cut off; its outcome is unknown.
func TestInterruptedForGood(t *testing.T) {
	t.Parallel()
	inBubble(t, 20, func(t *testing.T, s *stage) {
		s.grace = time.Millisecond
		s.srv.Inject(transferOperation, prepaidtest.Delay(200*time.Millisecond), prepaidtest.Delay(time.Hour).Times(3)) // the others are sent meanwhile
		ctx, interrupt := context.WithCancel(t.Context())
		s.onPaid = interrupt
		s.workers = 4
		code, out, _ := s.runUntil(ctx)
		require.Equal(t, exitUnfinished, code)
		require.NotEqual(t, "0", count(out, stateUnknown))
		s.srv.ClearFaults()
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}

// An absent service does not get a request for each row.
func TestServiceGone(t *testing.T) {
	t.Parallel()
	inBubble(t, 300, func(t *testing.T, s *stage) {
		s.srv.Inject(transferOperation, prepaidtest.DropBeforeCommit().Always())
		s.workers, s.stopAfter = 4, 10
		out, errOut := s.exits(exitUnfinished)
		require.Contains(t, errOut, errTooMany.Error())
		require.Less(t, s.transfers(), 60)
		require.NotEqual(t, "0", count(out, stateNotSent))
		s.srv.ClearFaults()
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}

func TestNothingToTalkTo(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2, prepaidtest.Options{})
	_, errOut := s.exits(exitWrong, "-float", "EA-unknown")
	require.Contains(t, errOut, "the float account cannot be read: prepaid: Accounts.Get: rejected")

	secret := s.config.ClientSecret
	s.config.ClientSecret = prepaid.NewSecret("wrong")
	_, errOut = s.exits(exitWrong)
	require.Contains(t, errOut, "no access token")
	s.config.ClientSecret = secret

	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	s.config.BaseURL = "http://" + nobody.Addr().String() + "/3.0/"
	_, errOut = s.exits(exitUnfinished)
	require.Contains(t, errOut, "nothing was sent: the float account cannot be read now")
	require.Zero(t, s.transfers())
}

func TestJournalInUseOrDamaged(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, s *stage) {
		j, err := journalfile.Open(s.journal(), journalfile.Options{})
		require.NoError(t, err)
		_, errOut := s.exits(exitWrong)
		require.Contains(t, errOut, "nothing was sent: journalfile: locked, the file is already open")
		require.NoError(t, j.Close())
		require.NoError(t, os.WriteFile(s.journal(), []byte("prepaid-journal 1\nbroken\n"), 0o600))
		_, errOut = s.exits(exitWrong)
		require.Contains(t, errOut, "nothing was sent: journalfile: corrupt at line 2")
		require.Zero(t, s.transfers())
	})
}

// The service may still count requests of an earlier run, which was alive until the lock was free.
func TestRestsAfterARunBefore(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, s *stage) {
		s.srv.SetStatus(s.accounts[1], "closed")
		out, _ := s.exits(exitRefused)
		require.NotContains(t, out, "wait")
		s.rateWindow = 300 * time.Millisecond
		time.Sleep(2 * s.rateWindow) // no record since
		began := time.Now()
		out, _ = s.exits(exitRefused, "-retry-refused")
		require.Contains(t, out, "the service may still count the requests of an earlier run")
		again, _ := s.entry(1)
		require.GreaterOrEqual(t, again.Changed.Sub(began), s.rateWindow)

		s.rateWindow = time.Hour
		ctx, interrupt := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer interrupt()
		code, _, errOut := s.runUntil(ctx, "-retry-refused")
		require.Equal(t, exitUnfinished, code)
		require.Contains(t, errOut, "interrupted")
	})
}
