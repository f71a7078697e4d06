package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var all = flag.Bool("all", false, "check every system, and not only linux on this machine's processor")

const repository = "../../.."

// made is a release shared by tests.
type made struct {
	directory, version string
	targets            []target
	err                error
}

// shared is built once for all tests, and removed at their end.
var shared = struct {
	once sync.Once
	made made
}{}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if directory := shared.made.directory; directory != "" {
		_ = os.RemoveAll(directory)
	}
	os.Exit(code)
}

func wanted() []target {
	if *all {
		return allTargets()
	}
	return []target{{"linux", runtime.GOARCH}}
}

// release returns the results of the program for this checkout.
func release(t *testing.T) made {
	t.Helper()
	shared.once.Do(func() {
		m := &shared.made
		m.targets = wanted()
		if m.directory, m.err = os.MkdirTemp("", "prepaid-dist-test-"); m.err != nil { //nolint:usetesting // other tests use it as well
			return
		}
		if m.version, m.err = sourceVersion(repository); m.err == nil {
			m.err = run(t.Context(), []string{"-source", repository, "-out", m.directory, "-targets", join(m.targets)}, io.Discard)
		}
	})
	require.NoError(t, shared.made.err)
	return shared.made
}

// read returns a file of the release. It adds the version to the name.
func (m made) read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(m.directory, program+"_"+m.version+"_"+name))
	require.NoError(t, err)
	return content
}

// archived returns the entries of the archive for a system.
func (m made) archived(t *testing.T, one target) map[string]entry {
	t.Helper()
	if one.os == "windows" {
		return unzip(t, m.read(t, one.os+"_"+one.arch+".zip"))
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(m.read(t, one.os+"_"+one.arch+".tar.gz")))
	require.NoError(t, err)
	return untar(t, unpacked)
}

// programOf returns the program for a system.
func (m made) programOf(t *testing.T, one target) []byte {
	t.Helper()
	name := program
	if one.os == "windows" {
		name += ".exe"
	}
	files := m.archived(t, one)
	require.Contains(t, files, name)
	require.Equal(t, fs.FileMode(0o755), files[name].mode)
	return files[name].content
}

func untar(t *testing.T, packed io.Reader) map[string]entry {
	t.Helper()
	entries := make(map[string]entry)
	r := tar.NewReader(packed)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		require.NoError(t, err)
		require.Equal(t, []any{0, 0, "", "", epoch}, []any{header.Uid, header.Gid, header.Uname, header.Gname, header.ModTime.UTC()}, header.Name)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		name := strings.TrimSuffix(header.Name, "/")
		require.NotContains(t, entries, name)
		entries[name] = entry{name, header.FileInfo().Mode(), content}
	}
}

func unzip(t *testing.T, packed []byte) map[string]entry {
	t.Helper()
	entries := make(map[string]entry)
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	require.NoError(t, err)
	for _, file := range r.File {
		content, err := fs.ReadFile(r, file.Name)
		require.NoError(t, err)
		require.True(t, file.Modified.Equal(epoch), file.Modified)
		entries[file.Name] = entry{file.Name, file.Mode(), content}
	}
	return entries
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "old"), nil, 0o600))
	for _, wrong := range []struct {
		says      string
		arguments []string
	}{
		{"-out is required", nil},
		{"-out must be empty", []string{"-out", full}},
		{"plan9/amd64", []string{"-out", t.TempDir(), "-targets", "linux/amd64,plan9/amd64"}},
		{"call.go", []string{"-out", t.TempDir(), "-source", full}},
	} {
		err := run(t.Context(), append([]string{"-source", repository}, wrong.arguments...), io.Discard)
		require.ErrorContains(t, err, wrong.says, fmt.Sprint(wrong.arguments))
	}
}

// A version is only built from its tag.
func TestVersionIsThatOfTheTag(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	inRoot := func(arguments ...string) {
		_, err := git(t.Context(), root, append([]string{"-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"}, arguments...)...)
		require.NoError(t, err)
	}
	says := func(problem string) {
		t.Helper()
		err := run(t.Context(), []string{"-source", root, "-out", t.TempDir(), "-version", "v0.1.0"}, io.Discard)
		require.ErrorContains(t, err, problem)
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module "+modulePath+"\n"), 0o600))
	inRoot("init", "-q")
	inRoot("add", "go.mod")
	inRoot("commit", "-q", "-m", "Begin")
	inRoot("tag", "v0.1.0-rc.1")
	says("not that of the tag v0.1.0")
	inRoot("tag", "-a", "-m", "Version 0.1.0", "v0.1.0")
	says("go.sum") // a later check
	require.NoError(t, os.WriteFile(filepath.Join(root, "more.go"), nil, 0o600))
	says("the tree is not clean")
}
