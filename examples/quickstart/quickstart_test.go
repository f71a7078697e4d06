package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The environment of whoever runs the tests must not send them to a real service.
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
		"emp-3", "approved", "declined (Declined by policy)", "13 rows read, including the header row, the first 6 shown; the service counted 12 records", "PIN of emp-1 changed",
		"signature valid", "first try: prepaid: Accounts.Transfer: outcome unknown", "search the history: seen",
		"1 movement with request ID", "adds up", "All done.", "PREPAID_ENVIRONMENT=test",
	} {
		require.Contains(t, out, want)
	}
	require.Equal(t, 4, strings.Count(out, "  adds up"))
	require.Equal(t, 5, strings.Count(out, "AUD  "), "rows of the report below its header")
	require.NotContains(t, out, "FAILED")
	for _, private := range []string{"4821", "Ada", "ada@example.com", "+61400000001", "1990-05-01", "emulator-secret"} {
		require.NotContains(t, out, private)
	}
}

func TestBadLinesDoNotStopTheOthers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardholders.csv")
	require.NoError(t, os.WriteFile(file, []byte(columns+`
emp-1,Ada,Example,1990-05-01,ada@example.com,+61400000001,NSW,AU,250.00
emp-2,Ben,Example,31/12/1985,ben@example.com,+61400000002,VIC,AU,120.50
emp-3,Cleo,Example,1999-02-28,cleo@example.com,+61400000003,QLD,AUS,80.00
emp-4,Dan,Example,1999-02-28
emp-5,Eve,Example,1999-02-28,eve@example.com,+61400000005,TAS,AU,ten
emp-6,Fay,Example,1999-02-28,fay@example.com,+61400000006,TAS,AU,-1
emp-7,Gus,Example,1999-02-28,gus@example.com,+61400000007,TAS,AU,60.00
`), 0o600))
	code, out, errOut := runWith(t, "-cardholders", file)
	require.Equal(t, 1, code, out+errOut)
	for _, want := range []string{
		"line 3 emp-2 refused: date_of_birth: ", "line 4 emp-3 refused: prepaid: Accounts.Issue: rejected: ",
		"registration.primary_address.country must be an ISO 3166 alpha-2 code", "line 5  refused: wrong number of fields",
		"line 6 emp-5 refused: load: ", "line 7 emp-6 refused: load: must be above zero",
		"5 lines or steps failed", "    emp-7      ",
	} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "31/12/1985")
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
