package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/tests/built"
)

// program returns a command that runs a built program in a new directory. It sees only the given PREPAID_ variables.
func program(t *testing.T, environment []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	command := built.Command(t, environment, name, args...)
	command.Dir = t.TempDir()
	return command
}

// run runs a program to its end.
func run(t *testing.T, environment []string, name string, args ...string) (code int, out, errOut string) {
	t.Helper()
	return built.Run(t, program(t, environment, name, args...))
}

// environmentOf returns the variables of a client of srv.
func environmentOf(srv *prepaidtest.Server) []string {
	config := srv.Config()
	return []string{
		"PREPAID_BASE_URL=" + config.BaseURL, "PREPAID_VENDOR=" + config.Vendor, "PREPAID_ENVIRONMENT=test",
		"PREPAID_CLIENT_ID=" + config.ClientID, "PREPAID_CLIENT_SECRET=" + config.ClientSecret.Reveal(),
	}
}

// Every program in examples/ succeeds without arguments. Each line of its expect.txt is a regular expression for a line of its output.
func TestExamples(t *testing.T) {
	t.Parallel()
	atRoot(t)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^go run \./examples/quickstart( |$)`, string(readme))
	var names []string
	for _, pattern := range []string{"examples/*/main.go", "examples/apps/*/main.go"} {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		require.NoError(t, err)
		names = append(names, found...)
	}
	require.Greater(t, len(names), 8)
	for _, name := range names {
		directory := filepath.Dir(name)
		name = filepath.Base(directory)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expected, err := os.ReadFile(filepath.Join(directory, "expect.txt"))
			require.NoError(t, err)
			code, out, errOut := run(t, nil, name)
			if strings.Contains(errOut, "install Postgres first") && os.Getenv("PREPAID_TEST_POSTGRES") != "required" {
				t.Skip(errOut)
			}
			require.Zero(t, code, out+errOut)
			lines := strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(string(expected), "\r\n", "\n")), "\n")
			for line := range lines {
				require.NotEmpty(t, line, "any line matches")
				require.Regexp(t, "(?m)"+line, out)
			}
			require.NotRegexp(t, `Ada|ada@example|61400000001|1990-05-01|\b4821\b|emulator-secret`, out+errOut) // a random ID may have 4821 in it
		})
	}
}

// The README's first program prints an account.
func TestFirstProgram(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	srv.AddAccount(prepaidtest.SeedAccount{ID: "EA10000000000001", Balance: "100.00"})
	code, out, errOut := run(t, environmentOf(srv), "firstcall")
	require.Zero(t, code, errOut)
	require.Equal(t, "active 100.00\n", out)
}
