package main

import (
	"bytes"
	"os"
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
		"emp-3", "approved true", "approved false (Declined by policy)", "13 rows read, including the header row; the service counted 12 records",
		"first try: prepaid: Accounts.Transfer: outcome unknown", "search the history: seen",
		"1 movement with request ID", "adds up", "All done.",
	} {
		require.Contains(t, out, want)
	}
	require.Equal(t, 4, strings.Count(out, "  adds up"))
	require.Equal(t, 5, strings.Count(out, "AUD  "), "rows of the report below its header")
	for _, private := range []string{"4821", "Ada", "ada@example.com", "+61400000001", "1990-05-01", "emulator-secret"} {
		require.NotContains(t, out, private)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	code, _, errOut := runWith(t, "-h")
	require.Zero(t, code)
	for _, want := range []string{"PREPAID_CLIENT_SECRET_FILE", "PREPAID_ENVIRONMENT", "a card is loaded once per day"} {
		require.Contains(t, errOut, want)
	}
	for _, args := range [][]string{{"-nonsense"}, {"stray"}, {"-day", "today"}} {
		code, _, errOut := runWith(t, args...)
		require.Equal(t, 2, code, args)
		require.NotEmpty(t, errOut)
	}
}
