package main

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const another = `the service returned transaction [0-9]+, an earlier payment under this key with another amount or account\n$`

// With a new journal the response comes from the service's cache and no money moves: the row is not paid.
func TestAnsweredWithAnEarlierPayment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, amount := range []string{"99.00", "1.25"} { // also of the same amount, to another payee
			s := newStage(t, 2, prepaidtest.Options{InMemory: true})
			s.write(row("emp-1", s.accounts[0], "1.25"))
			s.exits(exitPaid)
			s.write(row("emp-1", s.accounts[1], amount), row("emp-2", s.accounts[1], "7.00"))
			require.NoError(t, os.Remove(s.journal()))
			for range 2 { // even if it is not sent again
				out, errOut := s.exits(exitRefused)
				require.Regexp(t, "^line 2: "+another, errOut)
				require.Equal(t, "1", count(out, statePaid))
				require.Equal(t, "1", count(out, stateEarlier))
			}
			require.Equal(t, "7.00", s.srv.Balance(s.accounts[1]))
		}
	})
}

// A journal is lost after a crash. Earlier payments have arrived, and are distinguished from later edits.
func TestJournalLostAfterACrash(t *testing.T) {
	t.Parallel()
	inBubble(t, 20, func(t *testing.T, s *stage) {
		ctx, interrupt := context.WithCancel(t.Context())
		paid := atomic.Int32{}
		s.onPaid = func() {
			if paid.Add(1) == 10 {
				interrupt()
			}
		}
		s.workers = 2
		code, _, _ := s.runUntil(ctx)
		require.Equal(t, exitUnfinished, code)
		s.onPaid = nil
		require.NoError(t, os.Remove(s.journal()))
		s.exits(exitPaid)
		s.requirePaidOnce()

		require.NoError(t, os.Remove(s.journal()))
		rows := s.rows()
		rows[0] = strings.Replace(rows[0], "100.00", "990.00", 1)
		s.write(rows...)
		out, errOut := s.exits(exitRefused)
		require.Regexp(t, "^line 2: "+another, errOut)
		require.Equal(t, "19", count(out, statePaid))
		require.Equal(t, []string{"2", "emp-0", "990.00", stateEarlier}, s.summary()[0][:4])
	})
}

// A payment without a comparison is not reported as proven.
func TestHistoryCannotBeRead(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		s.srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(500, "").Always())
		out, errOut := s.exits(exitUnfinished)
		require.Contains(t, errOut, "the paid rows are not proven")
		require.Contains(t, out, "not proven  the history of the float account: ")
		s.srv.ClearFaults()
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}

// With any clocks, one pass through the history of the float account is enough.
func TestProofIsOnePass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, offset := range []time.Duration{-3 * time.Hour, 0, 3 * time.Hour} {
			s := newStage(t, 30, prepaidtest.Options{InMemory: true, StartAt: time.Now().Add(offset)})
			out, errOut := s.exits(exitPaid)
			require.Equal(t, "30", count(out, statePaid))
			require.Empty(t, errOut)
			looks := 0
			for _, r := range s.srv.Requests() {
				if r.Template == "/accounts/{id}/transactions" {
					looks++
				}
			}
			require.Equal(t, 1, looks)
		}
	})
}

// A row whose reference alone was edited while the journal was lost has been paid.
func TestJournalLostAndReferenceEdited(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		s.exits(exitPaid)
		require.NoError(t, os.Remove(s.journal()))
		s.write(strings.ReplaceAll(strings.Join(s.rows(), "\n"), "SALARY", "WAGES"))
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}

// A payment missing from the history is neither paid nor unpaid. A later run finds it.
func TestHistoryIsLate(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, s *stage) {
		s.srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(204, "").Always())
		out, _ := s.exits(exitUnfinished)
		require.Equal(t, "3", count(out, stateUnseen))
		require.Equal(t, "0", count(out, statePaid))
		require.Contains(t, out, "not proven  payments reported as made, but not in the history yet: this does not prove that no money moved\n")
		require.Contains(t, out, "run the same command again")
		s.srv.ClearFaults()
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}

// Only another reference with the row's key shows an earlier payment. A truncated or rewritten reference proves nothing.
func TestCompare(t *testing.T) {
	t.Parallel()
	j := &job{run: "run"}
	paid := payment{line: 2, key: "emp-1", account: "EA1", amount: prepaid.MustAmount("5.00")}
	edited := paid
	edited.amount = prepaid.MustAmount("6.00")
	other := paid
	other.key = "emp-10"
	for name, c := range map[string]struct {
		reference, amount string
		found             bool
		mark              string
	}{
		"the payment":         {j.sourceReference(paid), "-5.00", true, ""},
		"another amount":      {j.sourceReference(paid), "-6.00", false, ""},
		"an earlier payment":  {j.sourceReference(edited), "-6.00", true, stateEarlier},
		"of another key":      {j.sourceReference(other), "-5.00", false, ""},
		"of another run":      {"o" + j.sourceReference(edited), "-5.00", false, ""},
		"without a reference": {"", "-5.00", false, ""},
		"truncated":           {j.sourceReference(paid)[:len(j.sourceReference(paid))-3], "-5.00", false, ""},
		"rewritten":           {j.ownReferences(paid) + "0123ABCD", "-5.00", false, ""},
		"upper case":          {strings.ToUpper(j.sourceReference(paid)), "-5.00", false, ""},
	} {
		d := &disbursement{job: j, errOut: io.Discard, marks: make(map[prepaid.RequestID]string)}
		open := map[string]payment{j.sourceReference(paid): paid}
		d.compare(&prepaid.Transaction{ID: "7", Reference: c.reference, Amount: prepaid.MustAmount(c.amount)}, open, paid)
		require.Equal(t, c.found, len(open) == 0, name)
		require.Equal(t, c.mark, d.marks[j.requestID(paid)], name)
	}
}

// A person's resolution of a payment is neither proof nor the service's word.
func TestResolvedIsNotProven(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, s *stage) {
		s.srv.Inject(transferOperation, prepaidtest.Respond(500, "").Always())
		out, _ := s.exits(exitUnfinished)
		require.Equal(t, "2", count(out, stateUnknown))
		resolve := func(i int, resolution journal.Resolution) {
			j, err := journalfile.Open(s.journal(), journalfile.Options{})
			require.NoError(t, err)
			defer j.Close()
			require.NoError(t, j.Resolve(s.requestID(i), resolution))
		}
		resolve(0, journal.Moved("1234"))
		s.srv.ClearFaults()
		out, _ = s.exits(exitPaid)
		require.Contains(t, out, "proven      the history of the float account contains all paid rows but those that a person resolved\n")
		require.Equal(t, []string{statePaid, "1234", "resolved"}, s.summary()[0][3:6])
		require.Equal(t, []string{statePaid, ""}, []string{s.summary()[1][3], s.summary()[1][5]})
	})
}

// A transaction reported for two rows proves at most one of them.
func TestReportedForTwoRows(t *testing.T) {
	t.Parallel()
	inBubble(t, 1, func(t *testing.T, s *stage) {
		s.write(row("emp-0", s.accounts[0], "5.00"))
		s.exits(exitPaid)
		s.srv.Inject(transferOperation, prepaidtest.RespondBody(200, "application/vnd.vendor+json",
			`{"transaction_id":`+s.summary()[0][4]+`,"correlation_id":"c"}`))
		s.write(row("emp-0", s.accounts[0], "5.00"), row("emp-1", s.accounts[0], "5.00"))
		out, _ := s.exits(exitUnfinished)
		require.Equal(t, "1", count(out, statePaid))
		require.Equal(t, "1", count(out, stateUnseen))
	})
}
