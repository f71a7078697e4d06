package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// checkTag returns an error unless the tree is clean and its commit has the tag of the version.
func checkTag(ctx context.Context, root, version string) error {
	changed, err := git(ctx, root, "status", "--porcelain")
	_, other := git(ctx, root, "describe", "--tags", "--exact-match", "--match", version)
	if err := errors.Join(err, other); err != nil || changed != "" {
		return errors.Join(errors.New("-version: the tree must be clean and have the tag of the version"), err)
	}
	return nil
}

// publish writes the module in the form of a Go module proxy, so that "go install" builds the same emulator as from a public
// proxy.
func publish(ctx context.Context, root, version, proxy string) error {
	files, err := sourceFiles(ctx, root)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := zip.Create(&packed, module.Version{Path: modulePath, Version: version}, files); err != nil {
		return err
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	directory := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	if err := errors.Join(err, os.MkdirAll(directory, 0o755)); err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"list": []byte(version), version + ".info": fmt.Appendf(nil, `{"Version":%q}`, version), version + ".mod": gomod, version + ".zip": packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sourceFiles lists the files that git tracks or would add. In a clean tree these are the files of the commit, and of a public proxy.
func sourceFiles(ctx context.Context, root string) ([]zip.File, error) {
	listed, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		file := sourceFile{root, name}
		if _, err := file.Lstat(); !errors.Is(err, fs.ErrNotExist) { // git also lists deleted files
			files = append(files, file)
		}
	}
	return files, err
}

type sourceFile struct{ root, name string }

func (f sourceFile) Path() string                 { return f.name }
func (f sourceFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f sourceFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }

func git(ctx context.Context, root string, arguments ...string) (string, error) {
	return output(ctx, root, nil, append([]string{"git", "-c", "safe.directory=*"}, arguments...)...)
}

// output runs a command with additional variables in a directory and returns its standard output.
func output(ctx context.Context, directory string, variables []string, words ...string) (string, error) {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir, command.Env = directory, append(os.Environ(), variables...)
	printed, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(failed.Stderr))
	}
	return string(printed), err
}
