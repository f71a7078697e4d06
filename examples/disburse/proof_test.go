package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

const unpaid = "was answered with an earlier payment of this run, date and key, of another amount or to another account; not paid\n"

// A corrected file under another name meets what was paid from the first one.
func TestCorrectedFileOfAnotherName(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	s.write("emp-1," + s.accounts[0] + ",1.25,SALARY")
	code, _, errOut := s.run()
	require.Equal(t, exitPaid, code, errOut)
	s.file = strings.Replace(s.file, ".csv", "-corrected.csv", 1)
	s.write("emp-1," + s.accounts[1] + ",99.00,SALARY")
	code, out, errOut := s.run()
	require.Equal(t, exitWrong, code, out)
	require.Contains(t, errOut, "line 2: amount is not what it was when this key was first sent\n")
	require.Equal(t, 1, s.transfers())
}

// With a journal of its own it is answered from the service's cache, and no money moves: that is not paid.
func TestAnsweredWithAnEarlierPayment(t *testing.T) {
	t.Parallel()
	for _, row := range []string{"99.00,SALARY", "1.25,SALARY"} { // also of the same amount, to somebody else
		s := newStage(t, 2)
		s.write("emp-1," + s.accounts[0] + ",1.25,SALARY")
		code, _, errOut := s.run()
		require.Equal(t, exitPaid, code, errOut)
		s.write("emp-1,"+s.accounts[1]+","+row, "emp-2,"+s.accounts[1]+",7.00,SALARY")
		args := []string{"-journal", filepath.Join(t.TempDir(), "fresh"), "-summary", filepath.Join(t.TempDir(), "summary.csv")}
		for range 2 { // also when it is not sent again
			code, out, errOut := s.run(args...)
			require.Equal(t, exitRefused, code, out+errOut)
			require.Equal(t, "line 2: "+unpaid, errOut)
			require.Equal(t, "1", count(out, statePaid))
			require.Equal(t, "1", count(out, stateEarlier))
		}
		require.Equal(t, "7.00", s.srv.Balance(s.accounts[1]))
	}
}

// A journal is lost after a crash. What was paid before has arrived, and is told from what was edited since.
func TestJournalLostAfterACrash(t *testing.T) {
	t.Parallel()
	s := newStage(t, 20)
	ctx, interrupt := context.WithCancel(t.Context())
	paid := atomic.Int32{}
	s.onPaid = func() {
		if paid.Add(1) == 10 {
			interrupt()
		}
	}
	code, _, _ := s.runUntil(ctx, "-workers", "2")
	require.Equal(t, exitUnfinished, code)
	s.onPaid = nil
	require.NoError(t, os.Remove(s.journal()))
	code, out, errOut := s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	s.requirePaidOnce()

	require.NoError(t, os.Remove(s.journal()))
	rows := s.rows()
	rows[0] = strings.Replace(rows[0], "100.00", "990.00", 1)
	s.write(rows...)
	code, out, errOut = s.run()
	require.Equal(t, exitRefused, code, out)
	require.Equal(t, "line 2: "+unpaid, errOut)
	require.Equal(t, "19", count(out, statePaid))
	require.Equal(t, []string{"2", "emp-0", "990.00", stateEarlier}, s.summary()[0][:4])
}

// What cannot be compared is not said to be paid for good.
func TestHistoryCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newStage(t, 3)
	s.srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Answer(500, "").Always())
	code, out, errOut := s.run()
	require.Equal(t, exitUnfinished, code, out+errOut)
	require.Contains(t, errOut, "what was paid is not proven")
	require.Contains(t, out, "not proven  what is paid was not compared with the histories of the accounts: the history of the float account: ")
	s.srv.ClearFaults()
	code, out, errOut = s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	s.requirePaidOnce()
}

// Payments that left the float account after the journal began need no second look.
func TestProofIsOnePass(t *testing.T) {
	t.Parallel()
	s := newStage(t, 30)
	s.clocks = -time.Hour
	code, out, errOut := s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	looks := 0
	for _, r := range s.srv.Requests() {
		if r.Template == "/accounts/{id}/transactions" {
			looks++
		}
	}
	require.Equal(t, 1, looks)
}
