package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const transferOperation = "POST /accounts/{id}/transfer"

// stage is an emulator with a float account, and a file that pays accounts of it.
type stage struct {
	*settings

	t        *testing.T
	srv      *prepaidtest.Server
	file     string
	float    prepaid.AccountID
	accounts []prepaid.AccountID
	opening  prepaid.Amount
	date     string
	runName  string
}

func newStage(t *testing.T, payments int, options prepaidtest.Options) *stage {
	t.Helper()
	options.RateLimit = -1
	srv := prepaidtest.NewServer(t, options)
	s := &stage{
		t: t, srv: srv, file: filepath.Join(t.TempDir(), "payments.csv"), opening: prepaid.MustAmount("1000000"),
		settings: new(quick(srv.Config())), date: time.Now().UTC().Format(time.DateOnly), runName: "test",
	}
	s.float = srv.AddAccount(prepaidtest.SeedAccount{Balance: s.opening.String()})
	for range payments {
		s.accounts = append(s.accounts, srv.AddAccount(prepaidtest.SeedAccount{}))
	}
	s.write(s.rows()...)
	return s
}

// inBubble runs a test in virtual time, with an emulator in memory.
func inBubble(t *testing.T, payments int, test func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newStage(t, payments, prepaidtest.Options{InMemory: true})) })
}

// rows has a line per account.
func (s *stage) rows() []string {
	rows := make([]string, len(s.accounts))
	for i, account := range s.accounts {
		rows[i] = row(fmt.Sprintf("emp-%d", i), account, amountOf(i).String())
	}
	return rows
}

func row(key string, account prepaid.AccountID, amount string) string {
	return key + "," + string(account) + "," + amount + ",SALARY"
}

func amountOf(i int) prepaid.Amount { return prepaid.Cents(int64(10000 + i)) }

func (s *stage) write(rows ...string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.file, []byte(columns+"\n"+strings.Join(rows, "\n")+"\n"), 0o600))
}

func (s *stage) args(more ...string) []string {
	return append([]string{"-file", s.file, "-run", s.runName, "-date", s.date, "-float", string(s.float)}, more...)
}

func (s *stage) run(more ...string) (code int, out, errOut string) {
	s.t.Helper()
	return s.runUntil(s.t.Context(), more...)
}

// exits runs the program and requires an exit status.
func (s *stage) exits(code int, more ...string) (out, errOut string) {
	s.t.Helper()
	got, out, errOut := s.run(more...)
	require.Equal(s.t, code, got, out+errOut)
	return out, errOut
}

func (s *stage) runUntil(ctx context.Context, more ...string) (code int, out, errOut string) {
	s.t.Helper()
	if s.config.Transport != nil { // in a bubble, where a run takes no time
		time.Sleep(time.Millisecond)
	}
	var stdout, stderr bytes.Buffer
	code = s.settings.run(ctx, s.args(more...), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func (s *stage) job() *job {
	day := prepaid.DateOf(time.Now().UTC())
	return &job{file: s.file, run: s.runName, date: day, environment: "test", float: s.float}
}

func (s *stage) requestID(i int) prepaid.RequestID {
	return s.job().requestID(payment{key: fmt.Sprintf("emp-%d", i)})
}

// movements is how often each row was paid, by the emulator.
func (s *stage) movements() []int {
	moved := make([]int, len(s.accounts))
	for i := range moved {
		moved[i] = s.srv.Movements(s.requestID(i))
	}
	return moved
}

// transfers counts the requests for transfers.
func (s *stage) transfers() (n int) {
	for _, r := range s.srv.Requests() {
		if r.Method+" "+r.Template == transferOperation {
			n++
		}
	}
	return n
}

// requirePaidOnce compares the emulator's accounts with the file and with the summary.
func (s *stage) requirePaidOnce() {
	s.t.Helper()
	sum := prepaid.Amount{}
	booked := make(map[string]prepaid.TransactionID)
	for _, item := range s.srv.Transactions(s.float) {
		booked[item.Reference] = item.ID
	}
	summary := s.summary()
	require.Len(s.t, summary, len(s.accounts)+len(states()))
	for i, account := range s.accounts {
		require.Equal(s.t, 1, s.srv.Movements(s.requestID(i)), i)
		require.Equal(s.t, amountOf(i).String(), s.srv.Balance(account), i)
		require.Equal(s.t, []string{
			fmt.Sprint(i + 2), fmt.Sprintf("emp-%d", i), amountOf(i).String(), statePaid, string(booked[s.job().sourceReference(payment{key: fmt.Sprintf("emp-%d", i), account: account, amount: amountOf(i)})]), "",
		}, summary[i][:6])
		sum, _ = sum.Add(amountOf(i))
	}
	require.Equal(s.t, []string{"total", fmt.Sprint(len(s.accounts)), sum.String(), statePaid}, summary[len(s.accounts)][:4])
	left, err := s.opening.Sub(sum)
	require.NoError(s.t, err)
	require.Equal(s.t, left.String(), s.srv.Balance(s.float))
	require.Len(s.t, s.srv.Transactions(s.float), len(s.accounts)+1) // plus the opening one
}

// summary reads the summary, without its first line.
func (s *stage) summary() [][]string {
	s.t.Helper()
	file, err := os.Open(s.file + ".summary.csv")
	require.NoError(s.t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(s.t, err)
	require.Equal(s.t, []string{"line", "key", "amount", "state", "transaction_id", "code", "correlation_id", "request_id"}, lines[0])
	return lines[1:]
}

// count is a line of the printed totals.
func count(out, state string) string {
	for line := range strings.Lines(out[strings.LastIndex(out, "\n\n")+1:]) {
		if rest, ok := strings.CutPrefix(line, state+" "); ok {
			return strings.Fields(rest)[0]
		}
	}
	return "none"
}

// entry is the journal's entry of a row.
func (s *stage) entry(i int) (journal.Entry, bool) {
	s.t.Helper()
	j, err := journalfile.Open(s.journal(), journalfile.Options{})
	require.NoError(s.t, err)
	defer j.Close()
	return j.Get(s.requestID(i))
}

// writing writes a text and ends as set.
func writing(text string, end error) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return errors.Join(err, end)
	}
}

// journal is the journal's default path.
func (s *stage) journal() string {
	return filepath.Join(filepath.Dir(s.file), s.runName+".test.journal")
}
