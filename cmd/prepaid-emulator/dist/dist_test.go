package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var all = flag.Bool("all", false, "check every system, and not only linux on this machine's processor")

const repository = "../../.."

// released is the directory of a release that is built once for all tests.
var released struct {
	once      sync.Once
	directory string
	err       error
}

func TestMain(m *testing.M) {
	m.Run()
	_ = os.RemoveAll(released.directory)
}

func wanted() []target {
	if *all {
		return allTargets()
	}
	return []target{{"linux", runtime.GOARCH}}
}

// release returns a directory with the results of the program for this checkout.
func release(t *testing.T) string {
	t.Helper()
	released.once.Do(func() {
		released.directory, released.err = os.MkdirTemp("", "prepaid-dist-test-") //nolint:usetesting // other tests use it as well
		if released.err == nil {
			released.err = distribute(t.Context(), repository, untagged, released.directory, wanted())
		}
	})
	require.NoError(t, released.err)
	return released.directory
}

// of is the start of the names of a system's files.
func (t target) of(directory string) string {
	return filepath.Join(directory, strings.Join([]string{program, untagged, t.os, t.arch}, "_"))
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return content
}

// untar returns a directory with the files of an archive.
func untar(t *testing.T, archive string) string {
	t.Helper()
	directory := t.TempDir()
	_, err := output(t.Context(), directory, nil, "tar", "-xpf", archive)
	require.NoError(t, err)
	return directory
}

// unpack returns the program in the archive for a system, and the licences there by the names of the parts.
func unpack(t *testing.T, one target) (content []byte, licences map[string]string) {
	t.Helper()
	directory, name := t.TempDir(), program
	if one.os == "windows" {
		archive, err := zip.OpenReader(one.of(release(t)) + ".zip")
		require.NoError(t, err)
		defer archive.Close()
		require.NoError(t, os.CopyFS(directory, archive))
		name += ".exe"
	} else {
		directory = untar(t, one.of(release(t))+".tar.gz")
	}
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	info, err := os.Stat(filepath.Join(directory, name))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
	sections := strings.Split(string(read(t, directory, "LICENSES.txt")), strings.Repeat("=", 100)+"\n")
	licences = make(map[string]string)
	for i := 1; i < len(sections); i += 2 {
		licences[strings.TrimSpace(sections[i])] = strings.TrimSpace(sections[i+1])
	}
	return read(t, directory, name), licences
}

// copySource copies the source, without some directories at its top.
func copySource(t *testing.T, to string, except ...string) {
	t.Helper()
	files, err := sourceFiles(t.Context(), repository)
	require.NoError(t, err)
	for _, file := range files {
		if top, _, _ := strings.Cut(file.Path(), "/"); !slices.Contains(except, top) {
			name := filepath.Join(to, file.Path())
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			require.NoError(t, os.WriteFile(name, read(t, repository, file.Path()), 0o644))
		}
	}
}

// SHA256SUMS has every file of the release, and nothing else.
func TestSums(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(release(t))
	require.NoError(t, err)
	var want []string
	for _, e := range entries {
		if e.Name() != "SHA256SUMS" {
			want = append(want, fmt.Sprintf("%x  %s\n", sha256.Sum256(read(t, release(t), e.Name())), e.Name()))
		}
	}
	require.Len(t, want, 2*len(wanted())+1)
	require.ElementsMatch(t, want, slices.Collect(strings.Lines(string(read(t, release(t), "SHA256SUMS")))))
}

// Each program is for its system, and has its version.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, one := range wanted() {
		content, _ := unpack(t, one)
		checkProgram(t, one, content)
		info, err := buildinfo.Read(bytes.NewReader(content))
		require.NoError(t, err)
		require.Equal(t, []string{modulePath, untagged, runtime.Version()}, []string{info.Main.Path, info.Main.Version, info.GoVersion})
	}
}

// checkProgram checks that a program is small and needs nothing that its system may lack. macOS starts no program without an
// identifier.
func checkProgram(t *testing.T, one target, content []byte) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(content))
	require.NoError(t, err)
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	require.Equal(t, []string{"0", "true", one.os, one.arch}, []string{settings["CGO_ENABLED"], settings["-trimpath"], settings["GOOS"], settings["GOARCH"]})
	switch one.os {
	case "linux":
		file, err := elf.NewFile(bytes.NewReader(content))
		require.NoError(t, err)
		require.Nil(t, file.Section(".symtab"))
	case "darwin":
		file, err := macho.NewFile(bytes.NewReader(content))
		require.NoError(t, err)
		const uuid = 0x1b
		require.True(t, slices.ContainsFunc(file.Loads, func(load macho.Load) bool { return file.ByteOrder.Uint32(load.Raw()) == uuid }))
	}
}

// The Go command must download exactly the modules that the repository was tested with.
func TestAnotherDependencyIsRefused(t *testing.T) {
	t.Parallel()
	b, err := newBuilder(t.Context(), repository, untagged, t.TempDir())
	require.NoError(t, err)
	b.sums = regexp.MustCompile(`(golang\.org/x/oauth2 \S+ h1:).*`).ReplaceAllString(b.sums, "${1}AAAA=")
	_, err = b.build(t.Context(), wanted()[0])
	require.ErrorContains(t, err, "golang.org/x/oauth2 v")
	require.ErrorContains(t, err, "is not what go.sum has")
}

// Two checkouts, build caches and work directories give the same bytes, whatever the user's settings are.
func TestReproducible(t *testing.T) {
	want := read(t, release(t), "SHA256SUMS")
	other, again := filepath.Join(t.TempDir(), "another", "checkout"), t.TempDir()
	copySource(t, other)
	require.NoError(t, exec.CommandContext(t.Context(), "git", "init", "-q", other).Run())
	for _, unused := range []string{"ignored.out", "deleted.go"} { // one ignored, the other added and then deleted
		require.NoError(t, os.WriteFile(filepath.Join(other, unused), []byte("package prepaid"), 0o600))
	}
	require.NoError(t, exec.CommandContext(t.Context(), "git", "-C", other, "add", "deleted.go").Run())
	require.NoError(t, os.Remove(filepath.Join(other, "deleted.go")))
	t.Setenv("GOCACHE", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GOAMD64", "v3")
	require.NoError(t, distribute(t.Context(), other, untagged, again, wanted()))
	require.Equal(t, string(want), string(read(t, again, "SHA256SUMS")))
}

// Nothing is overwritten, and a version is only built from its tag.
func TestRefusals(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	git := func(arguments ...string) {
		t.Helper()
		_, err := git(t.Context(), root, append([]string{"-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"}, arguments...)...)
		require.NoError(t, err)
	}
	refused := func(problem, to string) {
		t.Helper()
		require.ErrorContains(t, distribute(t.Context(), root, "v0.1.0", to, wanted()), problem)
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module "+modulePath+"\n"), 0o600))
	git("init", "-q")
	git("add", "go.mod")
	git("commit", "-q", "-m", "Begin")
	git("tag", "v0.1.0-rc.1")
	refused("have the tag of the version", t.TempDir())
	git("tag", "-a", "-m", "Version 0.1.0", "v0.1.0")
	refused("go.sum", t.TempDir()) // a later check
	refused("-out must", "")
	refused("-out must", root)
	require.NoError(t, os.WriteFile(filepath.Join(root, "more.go"), nil, 0o600))
	refused("the tree must be clean", t.TempDir())
}
