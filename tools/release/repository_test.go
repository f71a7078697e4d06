//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is a checkout that a test may change: a small repository with the same layout, which has a core, two modules below
// contrib/ of which one needs the other, and a module that is never released.
type repository struct {
	t           *testing.T
	program     string
	directory   string
	environment []string
}

// TestMain is the program itself if a test starts it.
func TestMain(m *testing.M) {
	if os.Getenv("PREPAID_RELEASE_RUN") != "" {
		main()
	}
	os.Exit(m.Run())
}

var fileHeading = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// newRepository returns a checkout of main with one commit.
func newRepository(t *testing.T) repository {
	t.Helper()
	if os.Getenv("PREPAID_RELEASE") == "" {
		t.Skip("only .ci/run tests releases: PREPAID_RELEASE=1")
	}
	for _, tool := range []string{"git", "bash", "script"} {
		if _, err := exec.LookPath(tool); err != nil {
			require.Empty(t, os.Getenv("PREPAID_REQUIRE_TOOLS"), err)
			t.Skip(err)
		}
	}
	program, err := os.Executable()
	require.NoError(t, err)
	r := repository{t: t, program: program, directory: t.TempDir()}
	home := t.TempDir()
	r.environment = append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"PREPAID_CHECKS="+filepath.Join(home, "checks"), "GOFLAGS=", "GOPROXY=off", "TMPDIR="+home,
		"PREPAID_RELEASE_RUN=1")
	text, err := os.ReadFile("testdata/repository.txt")
	require.NoError(t, err)
	headings := fileHeading.FindAllSubmatchIndex(text, -1)
	for i, at := range headings {
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		r.write(string(text[at[2]:at[3]]), string(text[at[1]:end]))
	}
	r.git("init", "-q", "-b", "main")
	r.git("config", "--global", "user.name", "Somebody")
	r.git("config", "--global", "user.email", "somebody@example.com")
	r.git("config", "--global", "gpg.program", r.signer("true"))
	r.commit("Begin")
	origin := filepath.Join(home, "origin")
	r.git("init", "-q", "--bare", "-b", "main", origin)
	r.git("remote", "add", "origin", origin)
	r.git("push", "-q", "origin", "main")
	return r
}

// signer writes a program that signs as git expects of gpg if a shell command succeeds, which has its calls in $n.
func (r repository) signer(condition string) string {
	const program = `#!/bin/sh
cat >/dev/null
echo >>"$0.calls"
n=$(wc -l <"$0.calls")
CONDITION || exit
printf '\n[GNUPG:] SIG_CREATED \n' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\n'
`
	name := filepath.Join(r.t.TempDir(), "signer")
	require.NoError(r.t, os.WriteFile(name, []byte(strings.Replace(program, "CONDITION", condition, 1)), 0o700))
	return name
}

func (r repository) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.directory, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(r.t, os.WriteFile(name, []byte(text), 0o600))
}

func (r repository) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.directory, name))
	require.NoError(r.t, err)
	return string(text)
}

// replace changes a text that the file must have.
func (r repository) replace(name, before, after string) {
	r.t.Helper()
	text := r.read(name)
	require.Contains(r.t, text, before)
	r.write(name, strings.Replace(text, before, after, 1))
}

func (r repository) commit(message string) {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", message)
}

func (r repository) git(arguments ...string) string {
	r.t.Helper()
	code, printed := r.run("git", arguments...)
	require.Equal(r.t, 0, code, printed)
	return strings.TrimSpace(printed)
}

// state is all that a dry run must leave as it is.
func (r repository) state() string {
	r.t.Helper()
	return r.git("status", "--porcelain", "--ignored") + r.git("for-each-ref") + r.git("config", "--list", "--local")
}

// run returns the exit code and everything printed.
func (r repository) run(name string, arguments ...string) (int, string) {
	r.t.Helper()
	command := exec.CommandContext(r.t.Context(), name, arguments...)
	command.Dir, command.Env = r.directory, r.environment
	printed, err := command.CombinedOutput()
	if command.ProcessState == nil {
		require.NoError(r.t, err)
	}
	return command.ProcessState.ExitCode(), string(printed)
}

// releases runs the program, which must succeed, and returns its output.
func (r repository) releases(arguments ...string) string {
	r.t.Helper()
	code, printed := r.run(r.program, arguments...)
	require.Equal(r.t, 0, code, printed)
	return printed
}

// refuses runs the program, which must refuse with the reason and change nothing.
func (r repository) refuses(reason string, arguments ...string) {
	r.t.Helper()
	before := r.state()
	code, printed := r.run(r.program, arguments...)
	require.Equal(r.t, 1, code, printed)
	require.Contains(r.t, printed, "REFUSED: ")
	require.Contains(r.t, printed, reason)
	require.Equal(r.t, before, r.state())
}

// addAPICheck adds the program apicheck, in its module.
func (r repository) addAPICheck() {
	r.t.Helper()
	r.write("tools/go.mod", "module github.com/cardprograms/prepaid/tools\n\ngo 1.26.0\n")
	for _, directory := range []string{"apicheck", "internal/checkout"} {
		files, err := filepath.Glob(filepath.Join("..", directory, "*.go"))
		require.NoError(r.t, err)
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				text, err := os.ReadFile(file)
				require.NoError(r.t, err)
				r.write(filepath.Join("tools", directory, filepath.Base(file)), string(text))
			}
		}
	}
}
