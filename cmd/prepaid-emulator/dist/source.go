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
	"regexp"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const modulePath = "github.com/cardprograms/prepaid"

// sourceVersion returns the source's version with a suffix, so that it sorts before the released version.
func sourceVersion(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "call.go"))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^const version = "(.+)"$`).FindSubmatch(text)
	if found == nil {
		return "", errors.New("call.go names no version")
	}
	return "v" + string(found[1]) + "-dev", nil
}

// checkTag returns an error unless the tree is clean and its commit has the tag of the version.
func checkTag(ctx context.Context, root, version string) error {
	changed, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return errors.New("-version: the tree is not clean")
	}
	if tag, err := git(ctx, root, "tag", "--points-at", "HEAD", "--list", version); err != nil || len(tag) == 0 {
		return errors.Join(fmt.Errorf("-version: the checkout is not that of the tag %s", version), err)
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
	if err != nil {
		return err
	}
	directory := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": fmt.Appendf(nil, `{"Version":%q}`, version), version + ".mod": gomod, version + ".zip": packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sourceFiles lists the files that git tracks or would add. In a clean tree these are the files of the commit, as in a public proxy.
func sourceFiles(ctx context.Context, root string) ([]zip.File, error) {
	listed, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []zip.File
	for name := range bytes.SplitSeq(bytes.TrimSuffix(listed, []byte{0}), []byte{0}) {
		file := sourceFile{root, string(name)}
		if _, err := file.Lstat(); errors.Is(err, fs.ErrNotExist) { // deleted, and not yet committed
			continue
		}
		files = append(files, file)
	}
	return files, nil
}

type sourceFile struct{ root, name string }

func (f sourceFile) Path() string                 { return f.name }
func (f sourceFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f sourceFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }

func git(ctx context.Context, root string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*"}, arguments...)...)
	command.Dir = root
	return output(command)
}

// output runs a command and returns its standard output.
func output(command *exec.Cmd) ([]byte, error) {
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", command.Args[0], command.Args[1], err, bytes.TrimSpace(problems.Bytes()))
	}
	return printed, nil
}
