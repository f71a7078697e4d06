package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// However many rows stay refused, an unknown row after them is settled.
func TestRefusedRowsDoNotStarveDoubt(t *testing.T) {
	t.Parallel()
	inBubble(t, 12, func(t *testing.T, s *stage) {
		s.config.Retry.MaxAttempts = 1
		for i := range 11 {
			s.srv.SetStatus(s.accounts[i], "closed")
		}
		rows := s.rows()
		s.write(rows[11:]...)
		s.srv.Inject(transferOperation, prepaidtest.DropBeforeCommit().Always())
		s.exits(exitUnfinished)
		s.srv.ClearFaults()
		s.write(rows...)
		s.workers, s.stopAfter = 1, 5
		code, out, errOut := s.run() // five refusals stop it before the unknown row
		require.Equal(t, exitUnfinished, code, out)
		require.Contains(t, errOut, errTooMany.Error())
		for range 2 {
			s.run()
		}
		s.workers, s.stopAfter = 1, 5
		out, _ = s.exits(exitRefused, "-retry-refused")
		require.Equal(t, "1", count(out, statePaid))
		require.Equal(t, "11", count(out, stateRejected))
	})
}

// A stopped run reports that, even if every row is refused.
func TestStoppedIsNotFinished(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		for _, account := range s.accounts {
			s.srv.SetStatus(account, "closed")
		}
		s.workers, s.stopAfter = 1, 3
		_, errOut := s.exits(exitUnfinished)
		require.Contains(t, errOut, errTooMany.Error())
		s.workers, s.stopAfter = 1, 3
		s.exits(exitRefused)
	})
}

// An unknown payment waits before a repeat. Ctrl+C during the wait sends nothing.
func TestInterruptedWhileDoubtRests(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, s *stage) {
		s.config.Retry.MaxAttempts = 1
		s.srv.Inject(transferOperation, prepaidtest.DropBeforeCommit().Always())
		s.exits(exitUnfinished)
		s.srv.ClearFaults()
		before := s.transfers()
		s.config.Retry.InFlightWait, s.grace = 3*time.Second, time.Minute
		ctx, interrupt := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer interrupt()
		code, out, errOut := s.runUntil(ctx)
		require.Equal(t, exitUnfinished, code, out)
		require.Contains(t, errOut, errInterrupted.Error())
		require.Equal(t, before, s.transfers())
	})
}
