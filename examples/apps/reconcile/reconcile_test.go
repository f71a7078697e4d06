package main

import (
	"bytes"
	"encoding/csv"
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

func TestDemonstration(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	for range 2 { // it is a first run each time
		stdout.Reset()
		require.Zero(t, run(t.Context(), []string{"-dir", dir}, &stdout, &stderr), stdout.String()+stderr.String())
		require.Empty(t, stderr.String())
	}
	kinds := map[string]int{}
	for _, line := range findings(t, dir)[1:] {
		kinds[line[1]+" "+line[5]]++
	}
	require.Equal(t, map[string]int{
		"matched books": 3345, "matched service": 3345, "books only books": 3, "service only service": 3, "amount differs books": 3,
		"amount differs service": 3, "twice books": 6, "twice service": 3, "ambiguous books": 3, "ambiguous service": 6, "too early books": 3,
	}, kinds)
	chart, err := os.ReadFile(one(t, dir, "chart-*.html"))
	require.NoError(t, err)
	require.Contains(t, string(chart), `"name":"service only"`)
	require.NotContains(t, string(chart), `"name":"matched"`)
	require.NotContains(t, string(chart), "float-1", "the page loads a script of another site")
}

// one returns the last of the files that match, and checks the modes of all.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
	return paths[len(paths)-1]
}

// findings are the lines of the CSV file. Nothing unfinished is next to it.
func findings(t *testing.T, dir string) [][]string {
	t.Helper()
	text, err := os.ReadFile(one(t, dir, "findings-*.csv"))
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, columns(), lines[0])
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, hidden)
	return lines
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

// A journal is compared with the service, night after night.
func TestService(t *testing.T) {
	srv := service(t, prepaidtest.Options{})
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100"}), srv.AddAccount(prepaidtest.SeedAccount{})
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "payments")
	j, err := journalfile.Open(path, journalfile.Options{})
	require.NoError(t, err)
	client := srv.Client()
	for _, id := range []prepaid.RequestID{"r1", "r2"} {
		_, err := j.Transfer(t.Context(), client.Accounts, from, prepaid.TransferParams{
			RequestID: id, Amount: prepaid.Cents(500), DestinationAccountID: to, SourceReference: "S", DestinationReference: "D",
		})
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
	night := func(code int) (stdout, stderr string) {
		var out, errOut bytes.Buffer
		require.Equal(t, code, run(t.Context(), []string{"-journal", path, "-dir", dir}, &out, &errOut), out.String()+errOut.String())
		return out.String(), errOut.String()
	}
	checkpoint := filepath.Join(dir, "checkpoint.json")

	srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(404, "account_not_found"))
	out, _ := night(1)
	require.Contains(t, out, "Not read, and without findings: account "+string(from)+": prepaid: Accounts.Transactions: rejected")
	require.Len(t, findings(t, dir), 1)
	stored, err := os.ReadFile(checkpoint)
	require.NoError(t, err)
	require.Contains(t, string(stored), `"failed":{"`+string(from)+`":"0001-01-01T00:00:00Z"}`)

	out, errOut := night(0)
	require.Regexp(t, "matched +2\n", out)
	require.Empty(t, errOut)
	for _, line := range findings(t, dir)[1:] {
		require.Equal(t, []string{"matched", "-5.00"}, []string{line[1], line[8]})
	}
	stored, err = os.ReadFile(checkpoint)
	require.NoError(t, err)
	require.NotContains(t, string(stored), "failed")

	require.NoError(t, os.WriteFile(path, []byte("damaged"), 0o600))
	_, errOut = night(1)
	require.Contains(t, errOut, "journal")
	unchanged, err := os.ReadFile(checkpoint)
	require.NoError(t, err)
	require.Equal(t, stored, unchanged)

	require.NoError(t, os.WriteFile(checkpoint, []byte("{"), 0o600))
	require.NoError(t, os.Remove(path))
	_, errOut = night(2)
	require.Contains(t, errOut, "-journal: stat")
}

// Differences of old payments give exit status 1, and the page shows them by day.
func TestDifferences(t *testing.T) {
	srv := service(t, prepaidtest.Options{StartAt: time.Now().AddDate(0, 0, -3)})
	from := srv.AddAccount(prepaidtest.SeedAccount{ID: "float", Balance: "100"})
	srv.Adjust(from, "-5")
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "payments")
	j, err := journalfile.Open(path, journalfile.Options{})
	require.NoError(t, err)
	_, err = j.Transfer(t.Context(), srv.Client().Accounts, from, prepaid.TransferParams{
		RequestID: "r", Amount: prepaid.Cents(500), DestinationAccountID: "missing", SourceReference: "S", DestinationReference: "D",
	})
	require.Error(t, err)
	require.NoError(t, j.Close())
	var out, errOut bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"-journal", path, "-dir", dir}, &out, &errOut), out.String()+errOut.String())
	require.Regexp(t, "service only +1\n", out.String())
	require.Contains(t, out.String(), "Differences: 1. None is a reason to send a payment")
	chart, err := os.ReadFile(one(t, dir, "chart-*.html"))
	require.NoError(t, err)
	require.Contains(t, string(chart), time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly))
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
		"no flag":           {args: []string{"now"}, code: 2, want: "flags only"},
		"emulator, journal": {args: []string{"-journal", "file"}, code: 2, want: "needs PREPAID_BASE_URL"},
		"no journal":        {base: "https://service.example.com/3.0/", code: 2, want: "-journal is required"},
		"missing journal":   {args: []string{"-journal", "other"}, base: "https://service.example.com/3.0/", code: 2, want: "no such file"},
		"incomplete":        {args: []string{"-journal", "file"}, base: "https://service.example.com/3.0/", code: 2, want: "PREPAID_VENDOR"},
		"no directory":      {args: []string{"-dir", filepath.Join("file", "x")}, code: 1, want: "not a directory"},
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
			require.NoDirExists(t, "out")
		})
	}
}
