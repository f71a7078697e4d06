package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func program(t *testing.T, ctx context.Context, args ...string) (code int, out, errOut string) { //nolint:revive // as exec.CommandContext
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestDemonstrationInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	code, _, errOut := program(t, ctx)
	require.Equal(t, 1, code)
	require.NotEmpty(t, errOut)
}

func TestCommandLine(t *testing.T) {
	code, _, errOut := program(t, t.Context(), "-h")
	require.Zero(t, code)
	require.Contains(t, errOut, "PREPAID_CLIENT_SECRET_FILE")
	require.Contains(t, errOut, "-dry-run")

	today := time.Now().UTC()
	good := []string{"-file", "payments.csv", "-run", "r", "-date", today.Format(time.DateOnly), "-float", "EA1"}
	code, _, errOut = program(t, t.Context(), good...)
	require.Equal(t, exitWrong, code)
	require.Contains(t, errOut, "PREPAID_BASE_URL is required")

	t.Setenv("PREPAID_BASE_URL", "http://127.0.0.1:1/3.0/")
	t.Setenv("PREPAID_VENDOR", "")
	t.Setenv("PREPAID_CLIENT_ID", "id")
	t.Setenv("PREPAID_CLIENT_SECRET", "hush")
	code, _, errOut = program(t, t.Context(), good...)
	require.Equal(t, exitWrong, code)
	require.Contains(t, errOut, "PREPAID_VENDOR is required")
	code, _, errOut = program(t, t.Context())
	require.Equal(t, exitWrong, code)
	require.Contains(t, errOut, "-file is required; -run must be letters")
	require.Contains(t, errOut, "; -date must be at most 7 days ahead and 21 days ago, in UTC: the service forgets request IDs; -float must be")

	t.Setenv("PREPAID_VENDOR", "vendor")
	t.Setenv("PREPAID_FLOAT_ACCOUNT", "EA1")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-nonsense"}, "disburse: flag provided but not defined: -nonsense\n"},
		{[]string{"more"}, "it takes flags only"},
		{[]string{"-date", "30/11/2026"}, "not a calendar day"},
		{[]string{"-date", today.AddDate(0, 0, 8).Format(time.DateOnly)}, "-date must be at most 7 days ahead and 21 days ago"},
		{[]string{"-date", today.AddDate(0, 0, -22).Format(time.DateOnly)}, "-date must be at most 7 days ahead and 21 days ago"},
		{[]string{"-run", "a b"}, "-run must be"},
		{[]string{"-sum", "1e3"}, "not a plain decimal number"},
		{[]string{"-file", "missing.csv"}, "missing.csv"},
	} {
		code, _, errOut := program(t, t.Context(), append(good[:len(good):len(good)], c.args...)...)
		require.Equal(t, exitWrong, code, c.args)
		require.Contains(t, errOut, c.want)
		require.NotContains(t, errOut, "hush")
	}
}

// The program admits a day for as long as the client sends its payments, and its rule counts in whole days.
func TestDate(t *testing.T) {
	t.Parallel()
	j := &job{file: "payments.csv", run: "r", float: "EA1", date: prepaid.Date{Year: 2026, Month: time.November, Day: 30}}
	for ago := -9; ago <= 24; ago++ {
		midnight := j.date.Time(time.UTC).AddDate(0, 0, ago)
		for _, now := range []time.Time{midnight.Add(time.Nanosecond), midnight.AddDate(0, 0, 1).Add(-time.Nanosecond)} {
			require.Equal(t, ago >= -7 && ago <= 21, j.check(now) == nil, now)
			require.Equal(t, j.requestID(payment{key: "k"}).Expired(now), j.check(now) != nil, now)
		}
	}
}
