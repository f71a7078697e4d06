package main

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const another = `the service returned transaction [0-9]+, an earlier payment under this key with another amount or account\n$`

// A corrected file under another name meets what was paid from the first one.
func TestCorrectedFileOfAnotherName(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	s.write(row("emp-1", s.accounts[0], "1.25"))
	code, _, errOut := s.run()
	require.Equal(t, exitPaid, code, errOut)
	s.file = strings.Replace(s.file, ".csv", "-corrected.csv", 1)
	s.write(row("emp-1", s.accounts[1], "99.00"))
	code, out, errOut := s.run()
	require.Equal(t, exitWrong, code, out)
	require.Contains(t, errOut, "line 2: amount differs from what was first sent under this key\n")
	require.Equal(t, 1, s.transfers())
}

// With a new journal the response comes from the service's cache, and no money moves: that is not paid.
func TestAnsweredWithAnEarlierPayment(t *testing.T) {
	t.Parallel()
	for _, amount := range []string{"99.00", "1.25"} { // also of the same amount, to somebody else
		s := newStage(t, 2)
		s.write(row("emp-1", s.accounts[0], "1.25"))
		code, _, errOut := s.run()
		require.Equal(t, exitPaid, code, errOut)
		s.write(row("emp-1", s.accounts[1], amount), row("emp-2", s.accounts[1], "7.00"))
		args := []string{"-journal", filepath.Join(t.TempDir(), "fresh"), "-summary", filepath.Join(t.TempDir(), "summary.csv")}
		for range 2 { // also when it is not sent again
			code, out, errOut := s.run(args...)
			require.Equal(t, exitRefused, code, out+errOut)
			require.Regexp(t, "^line 2: "+another, errOut)
			require.Equal(t, "1", count(out, statePaid))
			require.Equal(t, "1", count(out, stateEarlier))
		}
		require.Equal(t, "7.00", s.srv.Balance(s.accounts[1]))
	}
}

// A journal is lost after a crash. What was paid before has arrived, and is distinguished from what was edited since.
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
	require.Regexp(t, "^line 2: "+another, errOut)
	require.Equal(t, "19", count(out, statePaid))
	require.Equal(t, []string{"2", "emp-0", "990.00", stateEarlier}, s.summary()[0][:4])
}

// What cannot be compared is not said to be paid for good.
func TestHistoryCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newStage(t, 3)
	s.srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(500, "").Always())
	code, out, errOut := s.run()
	require.Equal(t, exitUnfinished, code, out+errOut)
	require.Contains(t, errOut, "the paid rows are not proven")
	require.Contains(t, out, "not proven  not all paid rows were compared with the histories of the accounts: the history of the float account: ")
	s.srv.ClearFaults()
	code, out, errOut = s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	s.requirePaidOnce()
}

// Whatever the clocks say, one pass through the history of the float account is enough.
func TestProofIsOnePass(t *testing.T) {
	t.Parallel()
	for _, offset := range []time.Duration{-3 * time.Hour, 0, 3 * time.Hour} {
		s := newStage(t, 30, prepaidtest.StartAt(time.Now().Add(offset)))
		code, out, errOut := s.run()
		require.Equal(t, exitPaid, code, out+errOut)
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
}

// A row whose reference alone was edited while the journal was lost has been paid.
func TestJournalLostAndReferenceEdited(t *testing.T) {
	t.Parallel()
	s := newStage(t, 3)
	code, _, errOut := s.run()
	require.Equal(t, exitPaid, code, errOut)
	require.NoError(t, os.Remove(s.journal()))
	s.write(strings.ReplaceAll(strings.Join(s.rows(), "\n"), "SALARY", "WAGES"))
	code, out, errOut := s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	s.requirePaidOnce()
}

// What no history shows is neither called paid nor called unpaid, and a later run finds it.
func TestHistoryIsLate(t *testing.T) {
	t.Parallel()
	s := newStage(t, 3)
	s.srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(204, "").Always())
	code, out, errOut := s.run()
	require.Equal(t, exitUnfinished, code, out+errOut)
	require.Equal(t, "3", count(out, stateUnseen))
	require.Equal(t, "0", count(out, statePaid))
	require.Contains(t, out, "not proven  3 payments reported as made, but in no history yet: this does not prove that no money moved\n")
	require.Contains(t, out, "run the same command again")
	s.srv.ClearFaults()
	code, out, errOut = s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	s.requirePaidOnce()
}

// A service whose history shows no source reference is asked for the accounts that were to be paid.
func TestHistoryWithoutReferences(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	code, _, errOut := s.run()
	require.Equal(t, exitPaid, code, errOut)
	p, errs := s.proving(s.srv.Client().Accounts, func(item *prepaid.Transaction) { item.Reference = "" })
	require.Empty(t, errs)
	require.Empty(t, p.unseen)
	require.Empty(t, p.elsewhere)
}

// proving proves what the journal has, with histories whose items were changed, and returns what was reported.
func (s *stage) proving(client historian, change func(*prepaid.Transaction)) (*payer, []string) {
	s.t.Helper()
	l, _, err := openList(s.job(), func(err error) { s.t.Error(err) })
	require.NoError(s.t, err)
	defer l.file.Close()
	j, err := journal.Open(s.journal(), journal.Options{})
	require.NoError(s.t, err)
	defer j.Close()
	var reported []string
	p := &payer{
		job: l.job, list: l, journal: j, onRead: func() {}, report: func(err error) { reported = append(reported, err.Error()) },
		elsewhere: make(map[prepaid.RequestID]bool), unseen: make(map[prepaid.RequestID]bool),
	}
	require.NoError(s.t, p.prove(s.t.Context(), altered{client, change}))
	return p, reported
}

// A service may rewrite references, number histories otherwise than responses, and book fees next to a payment. None of that
// is another payment.
func TestHistoryOfAnotherForm(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *stage, item *prepaid.Transaction){
		"cut": func(_ *stage, item *prepaid.Transaction) {
			item.Reference = item.Reference[:max(0, len(item.Reference)-3)]
		},
		"upper case": func(_ *stage, item *prepaid.Transaction) { item.Reference = strings.ToUpper(item.Reference) },
		"other ids": func(_ *stage, item *prepaid.Transaction) {
			item.ID, item.ParentID = "9"+item.ID, ""
		},
		"ids of other movements": func(s *stage, item *prepaid.Transaction) { // the opening, which is first, has that of a payment
			if item.AccountID != s.float {
				return
			}
			if n, _ := strconv.Atoi(string(item.ID)); item.Reference == "" || item.Amount.Sign() > 0 {
				item.ID = prepaid.TransactionID(strconv.Itoa(n + 1))
			} else {
				item.ID = "9" + item.ID
			}
		},
		"ids of others": func(s *stage, item *prepaid.Transaction) { // each has that of the payment before it
			if item.AccountID == s.float {
				n, _ := strconv.Atoi(string(item.ID))
				item.ID = prepaid.TransactionID(strconv.Itoa(n + 2))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, 3)
			s.runName = "2026" // without letters, upper case is no other run
			code, _, errOut := s.run()
			require.Equal(t, exitPaid, code, errOut)
			p, errs := s.proving(s.srv.Client().Accounts, func(item *prepaid.Transaction) { change(s, item) })
			require.Empty(t, errs)
			require.Empty(t, p.unseen)
			require.Empty(t, p.elsewhere)
		})
	}
}

// altered is a history whose items were changed.
type altered struct {
	historian

	change func(*prepaid.Transaction)
}

func (a altered) Transactions(ctx context.Context, id prepaid.AccountID, params prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error] {
	return func(yield func(*prepaid.Transaction, error) bool) {
		for item, err := range a.historian.Transactions(ctx, id, params) {
			if item != nil {
				a.change(item)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// One item of a payee's history proves one row, one from before this journal none, and a fee next to it disproves none.
func TestPayeeHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*prepaid.Transaction)
		items  int // of the payee's history that are left
		unseen int
	}{
		{"both", func(item *prepaid.Transaction) { item.ID, item.ParentID = "9"+item.ID, "" }, 2, 0},
		{"one", func(item *prepaid.Transaction) { item.ID, item.ParentID = "9"+item.ID, "" }, 1, 1},
		{"earlier", func(item *prepaid.Transaction) {
			item.ID, item.ParentID, item.OccurredAt = "9"+item.ID, "", item.OccurredAt.Add(-7*24*time.Hour)
		}, 2, 2},
		{"only a fee", func(item *prepaid.Transaction) { item.Amount = prepaid.MustAmount("0.50") }, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, 1)
			s.write(row("emp-0", s.accounts[0], "5.00"), row("emp-1", s.accounts[0], "5.00"))
			code, _, errOut := s.run()
			require.Equal(t, exitPaid, code, errOut)
			p, errs := s.proving(payeeOnly{s.srv.Client().Accounts, s.accounts[0], c.items}, c.change)
			require.Empty(t, errs)
			require.Len(t, p.unseen, c.unseen)
			require.Empty(t, p.elsewhere)
		})
	}
}

// payeeOnly shows the first items of one account, and no others.
type payeeOnly struct {
	historian

	account prepaid.AccountID
	items   int
}

func (o payeeOnly) Transactions(ctx context.Context, id prepaid.AccountID, params prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error] {
	return func(yield func(*prepaid.Transaction, error) bool) {
		left := o.items
		for item, err := range o.historian.Transactions(ctx, id, params) {
			if id != o.account || left == 0 || !yield(item, err) {
				return
			}
			left--
		}
	}
}

// A proof that breaks off says so, whatever it has marked before.
func TestProofBreaksOff(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	const history = "GET /accounts/{id}/transactions"
	s.srv.Inject(history, prepaidtest.Respond(204, "").Times(4)) // three of the float account, one of a payee
	s.srv.Inject(history, prepaidtest.Respond(500, "").Always())
	code, out, errOut := s.run("-workers", "1")
	require.Equal(t, exitUnfinished, code, out+errOut)
	require.Equal(t, "1", count(out, stateUnseen))
	require.Equal(t, "1", count(out, statePaid))
	require.Contains(t, out, "not proven  1 payment reported as made, but in no history yet")
	require.Contains(t, out, "not proven  not all paid rows were compared with the histories of the accounts: line 3: ")
}

// What a person said of a payment is neither proven nor the service's word.
func TestResolvedIsNotProven(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	s.srv.Inject(transferOperation, prepaidtest.Respond(500, "").Always())
	code, out, _ := s.run()
	require.Equal(t, exitUnfinished, code)
	require.Equal(t, "2", count(out, stateUnknown))
	resolve := func(i int, resolution journal.Resolution) {
		j, err := journal.Open(s.journal(), journal.Options{})
		require.NoError(t, err)
		defer j.Close()
		require.NoError(t, j.Resolve(s.requestID(i), resolution))
	}
	resolve(0, journal.Moved("1234"))
	s.srv.ClearFaults()
	code, out, errOut := s.run()
	require.Equal(t, exitPaid, code, out+errOut)
	require.Contains(t, out, "proven      the histories of the accounts contain all paid rows, except 1 payment that a person resolved\n")
	require.Equal(t, []string{statePaid, "1234", codeResolved}, s.summary()[0][3:6])
	require.Equal(t, []string{statePaid, ""}, []string{s.summary()[1][3], s.summary()[1][5]})
}

// One transaction that was reported for two rows proves one of them at most.
func TestReportedForTwoRows(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.write(row("emp-0", s.accounts[0], "5.00"))
	code, _, errOut := s.run()
	require.Equal(t, exitPaid, code, errOut)
	s.srv.Inject(transferOperation, prepaidtest.RespondBody(200, "application/vnd.vendor+json",
		`{"transaction_id":`+s.summary()[0][4]+`,"correlation_id":"c"}`))
	s.write(row("emp-0", s.accounts[0], "5.00"), row("emp-1", s.accounts[0], "5.00"))
	code, out, errOut := s.run()
	require.Equal(t, exitUnfinished, code, out+errOut)
	require.Equal(t, "1", count(out, statePaid))
	require.Equal(t, "1", count(out, stateUnseen))
}
