package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	extension  = ".txt"
	brokenFile = "broken" + extension
)

// line is one fact of the API: "field Config.Timeout time.Duration".
type line struct {
	pkg  string // import path
	text string
}

// listing has the sorted lines of each package, by import path.
type listing map[string][]string

// inRepository returns an import path without host and owner, such as "prepaid/webhook".
func inRepository(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	return parts[len(parts)-1]
}

func fileName(pkg string) string { return strings.ReplaceAll(inRepository(pkg), "/", "-") + extension }

// readListing returns the committed listing and the lines in broken.txt.
func readListing(directory string) (listing, []line, error) {
	names, err := filepath.Glob(filepath.Join(directory, "*"+extension))
	if err != nil {
		return nil, nil, err
	}
	read := listing{}
	var broken []line
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		pkg := ""
		for text := range strings.Lines(string(content)) {
			text = strings.TrimSuffix(text, "\n")
			switch rest, ok := strings.CutPrefix(text, "package "); {
			case ok:
				pkg = rest
				if filepath.Base(name) != brokenFile {
					read[pkg] = []string{}
				}
			case pkg == "":
				return nil, nil, fmt.Errorf("%s does not start with a package", name)
			case filepath.Base(name) == brokenFile:
				broken = append(broken, line{pkg, text})
			default:
				read[pkg] = append(read[pkg], text)
			}
		}
	}
	return read, broken, nil
}

// write replaces the files, removes the files of removed packages, and keeps other files.
func (l listing) write(directory string, before listing, broken []line) error {
	for pkg := range before {
		if _, ok := l[pkg]; !ok {
			if err := os.Remove(filepath.Join(directory, fileName(pkg))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	owner := make(map[string]string, len(l))
	for pkg, lines := range l {
		name := fileName(pkg)
		if other, taken := owner[name]; taken {
			return fmt.Errorf("%s and %s would have the same file", pkg, other)
		}
		owner[name] = pkg
		text := "package " + pkg + "\n" + strings.Join(append(slices.Clone(lines), ""), "\n")
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	var text strings.Builder
	pkg := ""
	for _, b := range broken {
		if b.pkg != pkg {
			pkg = b.pkg
			text.WriteString("package " + pkg + "\n")
		}
		text.WriteString(b.text + "\n")
	}
	return os.WriteFile(filepath.Join(directory, brokenFile), []byte(text.String()), 0o600)
}
