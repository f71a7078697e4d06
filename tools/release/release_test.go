//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const tags = "contrib/high/v0.1.0\ncontrib/low/v0.1.0\nv0.1.0"

func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("left", "")
	before := r.state()
	printed := r.releases()
	require.Equal(t, before, r.state())
	require.Contains(t, printed, "github.com/cardprograms/prepaid/contrib/low v0.1.0: 1 packages, 1 programs\n")
	require.Contains(t, printed, "github.com/cardprograms/prepaid/contrib/high v0.1.0: 1 packages, 0 programs\n")
	require.Contains(t, printed, "the README's first program: active 12.50\n")
	require.Contains(t, printed, "Release note:\n\n\nThe first version.\n\n- `Gone` is gone.\n")
	require.Contains(t, printed, "git push --atomic origin main v0.1.0 contrib/low/v0.1.0 contrib/high/v0.1.0\n", "in the order of what they require")
	require.Empty(t, r.checks())
	left, err := filepath.Glob(filepath.Join(filepath.Dir(r.directory), "*", "prepaid-release-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// A clone of CI has the last commit without a branch, and no tags.
func TestDryRunInAShallowClone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("later", "")
	r.commit("Later")
	shallow := r
	shallow.directory = filepath.Join(t.TempDir(), "shallow")
	r.git("clone", "-q", "--depth", "1", "file://"+r.directory, shallow.directory)
	shallow.git("checkout", "-q", "--detach")
	shallow.git("branch", "-q", "-D", "main")
	shallow.releases("0.1.0")
}

func TestPublish(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.write("api/broken.txt", "package github.com/cardprograms/prepaid\nfunc Gone()\n")
	r.addAPICheck()
	r.commit("Something is gone")
	began := r.git("rev-parse", "HEAD")
	r.git("config", "--global", "gpg.program", r.signer(`[ -c "$GPG_TTY" ]`))                            // gpg asks for a passphrase there
	code, printed := r.run("script", "-qec", "unset GPG_TTY; "+r.program+" -publish 0.1.0", "/dev/null") // in a terminal
	require.Equal(t, 0, code, printed)
	r.git("config", "--global", "gpg.program", r.signer("true"))
	require.Contains(t, printed, "Tagged. To push:")

	require.Empty(t, r.git("status", "--porcelain"))
	require.Equal(t, "main", r.git("symbolic-ref", "--short", "HEAD"))
	require.Equal(t, "Version 0.1.0 by Somebody", r.git("log", "--format=%s by %an", began+".."))
	require.Equal(t, tags, r.git("tag", "--points-at", "HEAD"))
	require.Contains(t, r.git("cat-file", "-p", "contrib/low/v0.1.0"), "Version 0.1.0\n-----BEGIN PGP SIGNATURE-----")
	require.Contains(t, r.read("CHANGELOG.md"), "\n## 0.1.0, "+time.Now().UTC().Format(time.DateOnly)+"\n\nThe first version.\n")
	require.Contains(t, r.read("call.go"), "const version = \"0.1.0\"\n")
	require.Contains(t, r.read("contrib/high/high.go"), "const version = \"0.1.0\"\n")
	require.Empty(t, r.read("api/broken.txt"))
	require.Contains(t, r.read("contrib/high/go.mod"), "prepaid v0.1.0\n")
	require.Contains(t, r.read("contrib/high/go.mod"), "low v0.1.0\n")
	require.Contains(t, r.read("bench/go.mod"), "prepaid v0.1.0 // indirect\n")
	require.Contains(t, r.read("bench/go.mod"), "high v0.1.0\n")
	require.Equal(t, "release\nVersion 0.1.0\n", r.checks())

	r.refuses("already tagged: contrib/high/v0.1.0 contrib/low/v0.1.0 v0.1.0", "0.1.0")
	require.Contains(t, r.releases(), "v0.1.1 contrib/low/v0.1.1 contrib/high/v0.1.1\n", "the next, of which nothing is written yet")
	r.retract()
}

// checks is the arguments and the commit of the call of .ci/run; empty if it was not called.
func (r repository) checks() string {
	r.t.Helper()
	for _, setting := range r.environment {
		if name, found := strings.CutPrefix(setting, "PREPAID_CHECKS="); found {
			text, err := os.ReadFile(name)
			if !errors.Is(err, fs.ErrNotExist) {
				require.NoError(r.t, err)
			}
			return string(text)
		}
	}
	return ""
}

// retract goes on after 0.1.0.
func (r repository) retract() {
	r.replace("CHANGELOG.md", "## 0.1.0, ", "## 0.1.1, unreleased\n\n## 0.1.0, ")
	r.write("contrib/new/go.mod", "module github.com/cardprograms/prepaid/contrib/new\n\ngo 1.26.0\n")
	r.write("contrib/new/new.go", "package new\n")
	r.commit("A module that 0.1.0 did not have")
	r.refuses("one line", "-retract", "0.1.0", "-reason", "pays\ntwice", "0.1.1")
	r.refuses("0.0.9 is not released", "-retract", "0.0.9", "-reason", "pays twice", "0.1.1")
	r.refuses("empty", "0.1.1")
	r.releases("-publish", "-retract", "0.1.0", "-reason", "pays twice", "0.1.1")
	require.Contains(r.t, r.read("CHANGELOG.md"), "\n### Retracted\n\n- 0.1.0: pays twice\n\n## 0.1.0, ")
	for _, file := range []string{"go.mod", "contrib/low/go.mod", "contrib/high/go.mod"} {
		require.Contains(r.t, r.read(file), "\nretract v0.1.0 // pays twice\n")
	}
	require.NotContains(r.t, r.read("bench/go.mod")+r.read("contrib/new/go.mod"), "retract")
	r.releases("-prove", "0.1.1")
	r.refuses("not v0.1.0", "-prove", "0.1.0")
}

func TestNothingIsTaggedUnlessAllIs(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.git("checkout", "-q", "-b", "topic")
	r.refuses("on main", "-publish", "0.1.0")
	r.git("checkout", "-q", "main")

	complete := r.environment
	r.environment = slices.Concat(complete, []string{"PREPAID_CHECKS_DO=echo BUT SKIPPED: vulns"})
	r.refuses("a step was skipped", "-publish", "0.1.0")
	r.environment = slices.Concat(complete, []string{"PREPAID_CHECKS_DO=git -C " + r.directory + " commit -q --allow-empty -m 'Meanwhile'"})
	code, printed := r.run(r.program, "-publish", "0.1.0")
	require.Equal(t, 1, code, printed)
	require.Contains(t, printed, "REFUSED: git merge -q --ff-only")
	require.Empty(t, r.git("tag"))
	require.Equal(t, "Meanwhile", r.git("log", "-1", "--format=%s"))
	r.environment = complete

	// The first signature is the trial, before the checks.
	r.git("config", "--global", "gpg.program", r.signer(`[ "$n" -lt 4 ]`))
	r.refuses("git tag -s -m Version 0.1.0 contrib/high/v0.1.0", "-publish", "0.1.0")
	before := r.state()
	r.git("config", "--global", "gpg.program", r.signer(`[ "$n" -lt 3 ] || kill -TERM "$(ps -o ppid= "$PPID")"`))
	code, printed = r.run(r.program, "-publish", "0.1.0")
	require.Equal(t, 1, code, printed)
	require.Contains(t, printed, "Deleted tag 'contrib/low/v0.1.0'")
	require.Equal(t, before, r.state())
}

// A publication that would fail after all checks is refused before them.
func TestPublicationIsPossible(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	origin := r.git("remote", "get-url", "origin")
	other := r
	other.directory = filepath.Join(t.TempDir(), "other")
	r.git("clone", "-q", origin, other.directory)
	other.git("tag", "contrib/low/v0.1.0")
	other.git("push", "-q", "origin", "contrib/low/v0.1.0")
	r.refuses("origin has tags of this version", "-publish", "0.1.0")
	other.git("push", "-q", "--delete", "origin", "contrib/low/v0.1.0")
	other.git("commit", "-q", "--allow-empty", "-m", "Meanwhile")
	other.git("push", "-q", "origin", "main")
	r.refuses("main of origin has commits that this main lacks", "-publish", "0.1.0")
	r.releases("0.1.0")
	r.git("remote", "set-url", "origin", other.directory+"-gone")
	r.refuses("git ls-remote origin", "-publish", "0.1.0")
	r.git("config", "--global", "gpg.program", "false")
	r.refuses("your key does not sign", "-publish", "0.1.0")
	require.Empty(t, r.checks())
}
