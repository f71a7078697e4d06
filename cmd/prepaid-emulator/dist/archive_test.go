package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// SHA256SUMS has every file of the release, and nothing else.
func TestSums(t *testing.T) {
	t.Parallel()
	m := release(t)
	text, err := os.ReadFile(filepath.Join(m.directory, "SHA256SUMS"))
	require.NoError(t, err)
	var want strings.Builder
	for line := range strings.Lines(string(text)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := os.ReadFile(filepath.Join(m.directory, name))
		require.NoError(t, err)
		fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(content), name)
	}
	require.Equal(t, want.String(), string(text))
	entries, err := os.ReadDir(m.directory)
	require.NoError(t, err)
	require.Equal(t, 2*len(m.targets)+2, len(entries))
	require.Equal(t, len(entries)-1, strings.Count(string(text), "\n"))
}

// Each program is for its system, static, and has its version.
func TestPrograms(t *testing.T) {
	t.Parallel()
	m := release(t)
	for _, one := range m.targets {
		content := m.programOf(t, one)
		info, err := buildinfo.Read(bytes.NewReader(content))
		require.NoError(t, err)
		require.Equal(t, []string{modulePath, m.version, runtime.Version()}, []string{info.Main.Path, info.Main.Version, info.GoVersion})
		settings := make(map[string]string)
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		require.Equal(t, []string{"0", "true", one.os, one.arch}, []string{settings["CGO_ENABLED"], settings["-trimpath"], settings["GOOS"], settings["GOARCH"]})
		static(t, one, content)
	}
}

// static checks that a program needs nothing that its system may lack. Every version of Windows and macOS has the system's
// libraries. macOS starts no program without an identifier.
func static(t *testing.T, one target, content []byte) {
	t.Helper()
	switch one.os {
	case "linux":
		file, err := elf.NewFile(bytes.NewReader(content))
		require.NoError(t, err)
		require.Equal(t, map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[one.arch], file.Machine)
		for _, part := range file.Progs {
			require.NotContains(t, []elf.ProgType{elf.PT_INTERP, elf.PT_DYNAMIC}, part.Type)
		}
		require.Nil(t, file.Section(".symtab"))
	case "darwin":
		file, err := macho.NewFile(bytes.NewReader(content))
		require.NoError(t, err)
		require.Equal(t, map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[one.arch], file.Cpu)
		const uuid = 0x1b
		require.True(t, slices.ContainsFunc(file.Loads, func(load macho.Load) bool { return file.ByteOrder.Uint32(load.Raw()) == uuid }))
		libraries, err := file.ImportedLibraries()
		require.NoError(t, err)
		for _, library := range libraries {
			require.Regexp(t, `^/(usr/lib|System/Library)/`, library)
		}
	case "windows":
		file, err := pe.NewFile(bytes.NewReader(content))
		require.NoError(t, err)
		machine := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[one.arch]
		require.Equal(t, machine, file.Machine)
	}
}

// The licences of a program's parts ship with it, as they demand.
func TestLicencesGoWithTheProgram(t *testing.T) {
	t.Parallel()
	m := release(t)
	own, err := os.ReadFile(filepath.Join(repository, "LICENSE"))
	require.NoError(t, err)
	for _, one := range m.targets {
		files := m.archived(t, one)
		require.Len(t, files, 2)
		text := string(files["LICENSES.txt"].content)
		require.Contains(t, text, strings.TrimSpace(string(own)))
		sections := strings.Split(text, strings.Repeat("=", 100)+"\n") // then each part's name and texts
		info, err := buildinfo.Read(bytes.NewReader(m.programOf(t, one)))
		require.NoError(t, err)
		for _, part := range append(info.Deps, &info.Main, &debug.Module{Path: "std", Version: info.GoVersion}) {
			i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, part.Path+" "+part.Version+", ") })
			require.Positive(t, i, part.Path)
			require.Greater(t, len(sections[i+1]), 1000, part.Path)
		}
		for _, words := range []string{"Mozilla Public License, version 2.0", "The Go Authors", "MIT License"} {
			require.Contains(t, text, words)
		}
	}
}

// The Go command must download exactly the modules that the repository was tested with.
func TestAnotherDependencyIsRefused(t *testing.T) {
	t.Parallel()
	b, err := newBuilder(t.Context(), repository, release(t).version, t.TempDir())
	require.NoError(t, err)
	const dependency = "golang.org/x/oauth2"
	for key := range b.sums {
		if strings.HasPrefix(key, dependency+" ") {
			b.sums[key] = "h1:" + strings.Repeat("A", 43) + "="
		}
	}
	_, err = b.build(t.Context(), wanted()[0])
	require.ErrorContains(t, err, dependency)
	require.ErrorContains(t, err, "is not what go.sum has")
}

// Two checkouts, caches and work directories give the same bytes, which contain none of their paths.
func TestReproducible(t *testing.T) {
	m := release(t)
	other := filepath.Join(t.TempDir(), "another", "checkout")
	files, err := sourceFiles(t.Context(), repository)
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(repository, file.Path()))
		require.NoError(t, err)
		name := filepath.Join(other, file.Path())
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, content, 0o600))
	}
	require.NoError(t, exec.CommandContext(t.Context(), "git", "init", "-q", other).Run())
	for _, unused := range []string{"ignored.out", "deleted.go"} { // one ignored, the other added and then deleted
		require.NoError(t, os.WriteFile(filepath.Join(other, unused), []byte("package prepaid"), 0o600))
	}
	require.NoError(t, exec.CommandContext(t.Context(), "git", "-C", other, "add", "deleted.go").Run())
	require.NoError(t, os.Remove(filepath.Join(other, "deleted.go")))
	ours, err := output(exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOCACHE", "GOROOT"))
	require.NoError(t, err)
	elsewhere := t.TempDir()
	t.Setenv("GOCACHE", t.TempDir())
	t.Setenv("TMPDIR", elsewhere)
	t.Setenv("GOAMD64", "v3") // a user's settings
	again := t.TempDir()
	require.NoError(t, run(t.Context(), []string{"-source", other, "-out", again, "-targets", join(m.targets)}, os.Stderr))

	sums := func(directory string) string {
		text, err := os.ReadFile(filepath.Join(directory, "SHA256SUMS"))
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, sums(m.directory), sums(again))

	here, err := filepath.Abs(repository)
	require.NoError(t, err)
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for _, one := range m.targets {
		content := m.programOf(t, one)
		for _, path := range append(strings.Fields(string(ours)), here, home+"/", elsewhere, "prepaid-dist-") {
			require.NotContains(t, string(content), path)
		}
	}
}
