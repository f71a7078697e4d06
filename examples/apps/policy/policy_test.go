package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The user's environment must not send the tests to a real service.
func TestMain(m *testing.M) {
	_ = os.Unsetenv("PREPAID_BASE_URL")
	os.Exit(m.Run())
}

func runWith(t *testing.T, in string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(in), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// asService makes the commands use srv, as they would the service.
func asService(t *testing.T, srv *prepaidtest.Server) {
	t.Helper()
	config := srv.Config()
	t.Setenv("PREPAID_BASE_URL", config.BaseURL)
	t.Setenv("PREPAID_VENDOR", config.Vendor)
	t.Setenv("PREPAID_ENVIRONMENT", "test")
	t.Setenv("PREPAID_CLIENT_ID", config.ClientID)
	t.Setenv("PREPAID_CLIENT_SECRET", config.ClientSecret.Reveal())
}

func fileWith(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// fictionalService is the demonstration's emulator as the service.
func fictionalService(t *testing.T) {
	t.Helper()
	srv, err := emulate()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	asService(t, srv)
}

func TestPlanCommand(t *testing.T) {
	fictionalService(t)
	code, out, errOut := runWith(t, "", "plan", "policy.yaml")
	require.Zero(t, code, errOut)
	for _, line := range []string{
		"Policy of program 42: default action allow, each rule does the opposite\n", "categories: 1 to add, 0 to replace, 0 to remove, 2 unchanged\n", "    + \"5993\"\n",
		"    ~ 100001 \"CASINO\" \"Casino of Sydney\"\n", "    - 100002 \"RACES\" \"Race course\"\n", "    + 100002 \"RACES\" \"BETS1\" \"RACES SYDNEY\" \"\"\n",
	} {
		require.Contains(t, out, line)
	}
	code, again, _ := runWith(t, "", "plan", "policy.yaml")
	require.Zero(t, code)
	require.Equal(t, out, again)
	code, out, _ = runWith(t, "", "plan", "-ignore-texts", "policy.yaml")
	require.Zero(t, code)
	require.Contains(t, out, "  merchants: 0 to add, 0 to replace, 1 to remove, 0 unchanged\n")

	code, exported, _ := runWith(t, "", "export", "-company", "42")
	require.Zero(t, code)
	code, out, _ = runWith(t, "", "plan", fileWith(t, exported))
	require.Zero(t, code)
	require.Contains(t, out, "\nNothing to do.\n")
}

func TestApplyCommand(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	asService(t, srv)
	categories := func() []prepaid.CategoryRule {
		p, err := srv.Client().Policy.Categories(t.Context(), 42)
		require.NoError(t, err)
		return p.Categories
	}
	file := fileWith(t, "company: 42\ndefault_action: allow\ncategories: [7995, 0001]\n")
	code, out, errOut := runWith(t, "", "plan", file)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "+ \"0001\"\n")
	require.Contains(t, out, "  merchants: not in the file, unchanged\n")
	digest := regexp.MustCompile(`Plan ([0-9a-f]{16})\.`).FindStringSubmatch(out)[1]

	for _, in := range []string{"", "y\n", "no\n", "YES\n"} {
		code, _, errOut = runWith(t, in, "apply", file)
		require.Equal(t, 1, code)
		require.Contains(t, errOut, "not confirmed, nothing was sent")
	}
	code, _, errOut = runWith(t, "", "apply", "-yes", "-expect", "0123456789abcdef", file)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "the plan is not the one of -expect, nothing was sent")
	require.Empty(t, categories())

	// A change in a list that the file omits does not change the plan.
	require.NoError(t, srv.Client().Policy.ChangeMerchants(t.Context(), 42, prepaid.ChangeRulesParams[prepaid.MerchantRule]{
		Add: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}},
	}))
	code, out, errOut = runWith(t, "yes\n", "apply", "-reason", "audit", "-expect", digest, file)
	require.Zero(t, code, errOut)
	require.Contains(t, out, "Done. Read back: the policy is as wanted.\n")
	require.Len(t, categories(), 2)
	code, out, _ = runWith(t, "", "apply", file)
	require.Zero(t, code)
	require.Contains(t, out, "Nothing to do.\n")
	code, _, errOut = runWith(t, "", "apply", "-yes", "-expect", digest, file) // applied: now the plan differs
	require.Equal(t, 1, code, errOut)

	code, _, errOut = runWith(t, "", "export")
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "it takes export -company")
	code, out, _ = runWith(t, "", "export", "-company", "42")
	require.Zero(t, code)
	require.Contains(t, out, "  - \"0001\"\n")
}

// Ctrl+C at the question means no.
func TestInterruptedQuestion(t *testing.T) {
	fictionalService(t)
	ctx, stop := context.WithCancel(t.Context())
	in, typing := io.Pipe()
	defer typing.Close()
	var stdout, stderr bytes.Buffer
	asked := writerFunc(func(text []byte) (int, error) {
		if bytes.Contains(text, []byte("Type yes")) {
			stop()
		}
		return stdout.Write(text)
	})
	require.Equal(t, 1, run(ctx, []string{"apply", "policy.yaml"}, in, asked, &stderr))
	require.Contains(t, stderr.String(), "not confirmed, nothing was sent")
	require.NotContains(t, stdout.String(), "Done.")
}

type writerFunc func(text []byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// A file made for a program of the other kind would do the opposite.
func TestWrongProgram(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	asService(t, srv)
	srv.AddCompany(prepaidtest.Company{ID: 7, Loop: prepaidtest.NoPolicy})
	for text, want := range map[string]struct {
		code int
		text string
	}{
		"company: 42\ndefault_action: deny\ncategories: [7995]\n": {2, "default_action must be the policy"},
		"company: 7\ndefault_action: deny\ncategories: []\n":      {1, "status 404"},
	} {
		for _, args := range [][]string{{"plan"}, {"apply", "-yes"}} {
			code, _, errOut := runWith(t, "", append(args, fileWith(t, text))...)
			require.Equal(t, want.code, code)
			require.Contains(t, errOut, want.text)
		}
	}
	for _, request := range srv.Requests() {
		require.False(t, request.Method == "POST" && strings.HasPrefix(request.Template, "/policy"))
	}
}

func TestCommandLine(t *testing.T) {
	code, _, errOut := runWith(t, "", "-h")
	require.Zero(t, code)
	require.Contains(t, errOut, "-ignore-texts")
	bad := fileWith(t, "company: 42\ndefault_action: allow\nmerchant: []\n")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"flag provided but not defined: -nonsense", []string{"-nonsense"}},
		{"it takes export -company, or plan or apply with one file", []string{"destroy"}},
		{"it takes export -company, or plan or apply with one file", []string{"-yes"}},
		{"it takes export -company, or plan or apply with one file", []string{"plan"}},
		{"it takes export -company, or plan or apply with one file", []string{"plan", "a", "b"}},
		{"it takes export -company, or plan or apply with one file", []string{"export", "-company", "42", "a"}},
		{"it takes export -company, or plan or apply with one file", []string{"export"}},
		{"invalid value", []string{"export", "-company", "x"}},
		{"PREPAID_BASE_URL is required", []string{"apply", "-yes", "-expect", "0123456789abcdef", "policy.yaml"}},
		{"PREPAID_BASE_URL is required", []string{"plan", "policy.yaml"}},
		{"PREPAID_BASE_URL is required", []string{"export", "-company", "42"}},
	} {
		code, out, errOut := runWith(t, "", c.args...)
		require.Equal(t, 2, code, c.args)
		require.Empty(t, out, c.args)
		require.Contains(t, errOut, c.want)
	}
	t.Setenv("PREPAID_BASE_URL", "http://example.com/3.0/")
	code, _, errOut = runWith(t, "", "export", "-company", "42")
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "PREPAID_")
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	asService(t, srv)
	code, _, errOut = runWith(t, "", "plan", "missing.yaml")
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "policy: invalid input: open missing.yaml: ")
	code, _, errOut = runWith(t, "", "apply", "-yes", bad)
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "line 3: field merchant not found")
	require.Empty(t, srv.Requests())
}

// A file that cannot be written is an error.
func TestFileThatCannotBeWritten(t *testing.T) {
	fictionalService(t)
	var stderr bytes.Buffer
	full := writerFunc(func([]byte) (int, error) { return 0, io.ErrShortWrite })
	require.Equal(t, 1, run(t.Context(), []string{"export", "-company", "42"}, strings.NewReader(""), full, &stderr))
	require.Contains(t, stderr.String(), "short write")
}
