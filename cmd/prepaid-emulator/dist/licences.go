package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
	"golang.org/x/mod/module"
)

// part is a part of the program: a module, or Go's standard library as "std".
type part struct {
	path, version string
	sum           string // "h1:..." of a module
	licence       string // SPDX identifier
	texts         []byte // licence and notices
}

// parts lists the modules of a program, the program's own module first.
func (b *builder) parts(info *debug.BuildInfo) ([]part, error) {
	licences, err := assets.DefaultClassifier()
	if err != nil {
		return nil, err
	}
	parts := []part{{path: info.Main.Path, version: info.Main.Version, sum: info.Main.Sum}}
	for _, m := range info.Deps {
		parts = append(parts, part{path: m.Path, version: m.Version, sum: m.Sum})
	}
	parts = append(parts, part{path: "std", version: info.GoVersion})
	for i := range parts {
		p := &parts[i]
		directory := b.goroot
		if p.path != "std" {
			escaped, err := module.EscapePath(p.path)
			if err != nil {
				return nil, err
			}
			directory = filepath.Join(b.modules(), filepath.FromSlash(escaped)+"@"+p.version)
		}
		if p.licence, p.texts, err = licenceIn(directory, licences); err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return parts, nil
}

// licenceIn returns the licence of a module and the texts that must be shipped with its binaries.
func licenceIn(directory string, licences *classifier.Classifier) (id string, texts []byte, err error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return "", nil, err
	}
	var found []string
	for _, entry := range entries {
		name, _, _ := strings.Cut(strings.ToUpper(entry.Name()), ".")
		if entry.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		if err != nil {
			return "", nil, err
		}
		texts = append(append(texts, bytes.TrimSpace(text)...), "\n\n"...)
		for _, match := range licences.Match(text).Matches {
			if match.MatchType == "License" {
				found = append(found, match.Name)
			}
		}
	}
	found = slices.Compact(slices.Sorted(slices.Values(found)))
	if len(found) != 1 {
		return "", nil, errors.New("its licence is not one that is known: " + strings.Join(found, ", "))
	}
	return found[0], texts, nil
}

// notices is the text shipped with every binary: its parts, their sources and their licences.
func notices(parts []part) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s contains the following. The source of a module is what the Go command downloads under its name and version.\n", program)
	for _, p := range parts {
		fmt.Fprintf(&text, "\n%s\n%s %s, %s\n%[1]s\n\n%[5]s", strings.Repeat("=", 100), p.path, p.version, p.licence, p.texts)
	}
	return append(bytes.TrimSpace(text.Bytes()), '\n')
}
