package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The user's environment must not send the tests to a real service.
func TestMain(m *testing.M) {
	_ = os.Unsetenv("PREPAID_BASE_URL")
	goleak.VerifyTestMain(m)
}

// compared runs the program, and returns the lines of its output and its messages.
func compared(t *testing.T, code int, args ...string) (lines [][]string, messages string) {
	t.Helper()
	var out, errOut bytes.Buffer
	require.Equal(t, code, run(t.Context(), args, &out, &errOut), out.String()+errOut.String())
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	return lines, errOut.String()
}

func TestDemonstration(t *testing.T) {
	lines, messages := compared(t, exitEqual)
	require.Empty(t, messages)
	require.Equal(t, columns(), lines[0])
	kinds := map[string]int{}
	for _, line := range lines[1:] {
		kinds[line[1]+" "+line[3]]++
	}
	require.Equal(t, map[string]int{
		"books only books": 3, "service only service": 3, "amount differs books": 3, "amount differs service": 3, "twice books": 6,
		"twice service": 3, "ambiguous books": 3, "ambiguous service": 6, "too early books": 3, "matched ": 1, "books only ": 1,
		"service only ": 1, "amount differs ": 1, "twice ": 1, "ambiguous ": 1, "too early ": 1,
	}, kinds)
}

// service replaces the real service by an emulator.
func service(t *testing.T, options prepaidtest.Options) *prepaidtest.Server {
	t.Helper()
	srv := prepaidtest.NewServer(t, options)
	config := srv.Config()
	t.Setenv("PREPAID_BASE_URL", srv.URL)
	t.Setenv("PREPAID_VENDOR", config.Vendor)
	t.Setenv("PREPAID_ENVIRONMENT", "test")
	t.Setenv("PREPAID_CLIENT_ID", config.ClientID)
	t.Setenv("PREPAID_CLIENT_SECRET", config.ClientSecret.Reveal())
	return srv
}

// Each run of disburse has its own journal: all are compared together, and without one of them its payments are differences.
func TestJournals(t *testing.T) {
	srv := service(t, prepaidtest.Options{StartAt: time.Now().AddDate(0, 0, -3)})
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100"}), srv.AddAccount(prepaidtest.SeedAccount{})
	var paths []string
	for n, name := range []string{"first", "second"} {
		paths = append(paths, filepath.Join(t.TempDir(), name))
		j, err := journalfile.Open(paths[n], journalfile.Options{})
		require.NoError(t, err)
		_, err = j.Transfer(t.Context(), srv.Client().Accounts, from, prepaid.TransferParams{
			RequestID: prepaid.RequestID(name), Amount: prepaid.Cents(500), DestinationAccountID: to, SourceReference: "S", DestinationReference: "D",
		})
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
	for range 2 { // no run depends on another
		lines, messages := compared(t, exitEqual, paths...)
		require.Equal(t, []string{"total", "matched", "2"}, lines[1][:3])
		require.Empty(t, messages)
		lines, messages = compared(t, exitDiffers, paths[1])
		require.Equal(t, []string{"1", "service only", string(from), "service", "", lines[1][5], "-5.00", lines[1][7], ""}, lines[1])
		require.Equal(t, []string{"total", "matched", "1"}, lines[2][:3])
		require.Contains(t, messages, "differences: 1. None is a reason to send a payment")
	}
	lines, _ := compared(t, exitEqual, "-days", "2", paths[1])
	require.Equal(t, []string{"1", "too early"}, lines[1][:2], "the transfer of three days ago is not read")

	srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(404, "account_not_found"))
	_, messages := compared(t, exitIncomplete, paths...)
	require.Contains(t, messages, "not read, and without findings: account "+string(from)+": prepaid: Accounts.Transactions: rejected")
	_, messages = compared(t, exitIncomplete, paths[0], paths[0])
	require.Contains(t, messages, "locked")
	require.NoError(t, os.WriteFile(paths[0], []byte("damaged"), 0o600))
	_, messages = compared(t, exitIncomplete, paths...)
	require.Contains(t, messages, "journal")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, exitInterrupted, run(canceled, paths[1:], io.Discard, io.Discard))
	closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.Equal(t, exitIncomplete, run(t.Context(), paths[1:], closed, io.Discard))
}

func TestCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		base string
		code int
		want string
	}{
		"help":              {args: []string{"-h"}, want: "PREPAID_CLIENT_SECRET_FILE"},
		"unknown flag":      {args: []string{"-nonsense"}, code: 2, want: "not defined"},
		"no days":           {args: []string{"-days", "0"}, code: 2, want: "at least 1"},
		"emulator, journal": {args: []string{"file"}, code: 2, want: "journals need PREPAID_BASE_URL"},
		"no journal":        {base: "https://service.example.com/3.0/", code: 2, want: "PREPAID_BASE_URL needs journals"},
		"missing journal":   {args: []string{"file", "other"}, base: "https://service.example.com/3.0/", code: 2, want: "no such file"},
		"incomplete":        {args: []string{"file"}, base: "https://service.example.com/3.0/", code: 2, want: "PREPAID_VENDOR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PREPAID_BASE_URL", c.base)
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("file", nil, 0o600))
			var out, errOut bytes.Buffer
			require.Equal(t, c.code, run(t.Context(), c.args, &out, &errOut), errOut.String())
			require.Contains(t, errOut.String(), c.want)
			require.True(t, c.code == 0 || strings.Count(errOut.String(), "\n") == 1, errOut.String())
			require.Empty(t, out.String())
		})
	}
}
