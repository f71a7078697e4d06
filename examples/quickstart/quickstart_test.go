package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The user's environment must not send the tests to a real service.
func TestMain(m *testing.M) {
	_ = os.Unsetenv("PREPAID_BASE_URL")
	os.Exit(m.Run())
}

func runWith(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestMainJob(t *testing.T) {
	t.Parallel()
	code, out, errOut := runWith(t)
	require.Zero(t, code, out+errOut)
	require.Empty(t, errOut)
	for _, want := range []string{
		"emp-3", "approved", "declined (Declined by policy)", "13 rows read, including the header row, the first 6 shown; the service counted 12 records",
		"first try: prepaid: Accounts.Transfer: outcome unknown", "search the history: seen",
		"1 movement with request ID", "adds up", "All done.", "PREPAID_ENVIRONMENT=test",
	} {
		require.Contains(t, out, want)
	}
	require.Equal(t, 4, strings.Count(out, "  adds up"))
	require.Equal(t, 5, strings.Count(out, "AUD  "), "rows of the report below its header")
	for _, private := range []string{"4821", "Ada", "ada@example.com", "+61400000001", "1990-05-01", "emulator-secret"} {
		require.NotContains(t, out, private)
	}
}

// An invalid line refuses the file by its number, before anything is sent, and its values are not printed.
func TestInvalidFile(t *testing.T) {
	t.Parallel()
	const line = ",Ada,Example,1990-05-01,ada@example.com,+61400000001,NSW,AU,"
	for text, want := range map[string]string{
		"emp-1,Ben,Example,31/12/1985,ben@example.com,+61400000002,VIC,AU,120.50": "line 2: date_of_birth: ",
		"emp-1,Dan,Example,1999-02-28":                                            "record on line 2: wrong number of fields",
		"emp-1" + line + "ten":                                                    "line 2: load: ",
		"emp-1" + line + "-1":                                                     "line 2: load: must be above zero",
		"emp-1" + line + "1.00\nemp-2" + line + "1.00\nemp-1" + line + "2.00":     "line 4: key: is that of line 2",
	} {
		file := filepath.Join(t.TempDir(), "cardholders.csv")
		require.NoError(t, os.WriteFile(file, []byte(columns+"\n"+text+"\n"), 0o600))
		code, out, errOut := runWith(t, "-cardholders", file)
		require.Equal(t, 2, code, text)
		require.Empty(t, out)
		require.Contains(t, errOut, want)
		require.NotContains(t, errOut, "31/12/1985")
		require.NotContains(t, errOut, "Ada")
	}
}

// A line that the SDK refuses ends the run, with its number.
func TestRefusedLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardholders.csv")
	require.NoError(t, os.WriteFile(file, []byte(columns+"\nemp-3,Cleo,Example,1999-02-28,cleo@example.com,+61400000003,QLD,AUS,80.00\n"), 0o600))
	code, _, errOut := runWith(t, "-cardholders", file)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "quickstart: step 2 failed: line 2: prepaid: Accounts.Issue: rejected: ")
	require.Contains(t, errOut, "registration.primary_address.country must be an ISO 3166 alpha-2 code")
	require.NotContains(t, errOut, "cleo@example.com")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	code, _, errOut := runWith(t, "-h")
	require.Zero(t, code)
	for _, want := range []string{"PREPAID_CLIENT_SECRET_FILE", "PREPAID_ENVIRONMENT", "a card is loaded once per day"} {
		require.Contains(t, errOut, want)
	}
	for _, args := range [][]string{{"-nonsense"}, {"-cardholders", "missing.csv"}, {"-cardholders", "main.go"}, {"stray"}, {"-pause", "-1s"}, {"-day", "today"}} {
		code, _, errOut := runWith(t, args...)
		require.Equal(t, 2, code, args)
		require.NotEmpty(t, errOut)
	}
}
