package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
	"golang.org/x/mod/module"
)

// part is a part of the program: a module, or Go's standard library as "std".
type part struct {
	*debug.Module
	licence string // SPDX identifier
	texts   []byte // licence and notices
}

// parts lists the modules of a program, the program's own module first.
func (b *builder) parts(info *debug.BuildInfo) ([]part, error) {
	licences, err := assets.DefaultClassifier()
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, m := range slices.Concat([]*debug.Module{&info.Main}, info.Deps, []*debug.Module{{Path: "std", Version: info.GoVersion}}) {
		directory := b.goroot
		if m.Path != "std" {
			escaped, _ := module.EscapePath(m.Path) // the Go command has accepted the path
			directory = filepath.Join(b.modules, filepath.FromSlash(escaped)+"@"+m.Version)
		}
		licence, texts, err := licenceIn(directory, licences)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		parts = append(parts, part{m, licence, texts})
	}
	return parts, nil
}

// licenceIn returns the licence of a module and the texts that must be shipped with its binaries.
func licenceIn(directory string, licences *classifier.Classifier) (id string, texts []byte, err error) {
	entries, err := os.ReadDir(directory)
	named := regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|NOTICE)(\.|$)`)
	var found []string
	for _, entry := range entries {
		if entry.IsDir() || !named.MatchString(entry.Name()) {
			continue
		}
		text, problem := os.ReadFile(filepath.Join(directory, entry.Name()))
		err = errors.Join(err, problem)
		texts = append(append(texts, bytes.TrimSpace(text)...), "\n\n"...)
		for _, match := range licences.Match(text).Matches {
			if match.MatchType == "License" && !slices.Contains(found, match.Name) {
				found = append(found, match.Name)
			}
		}
	}
	if len(found) != 1 {
		return "", nil, errors.Join(fmt.Errorf("its licence is not one that is known: %q", found), err)
	}
	return found[0], texts, err
}

// notices is the text shipped with every binary: its parts, their sources and their licences.
func notices(parts []part) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s contains the following. The source of a module is what the Go command downloads under its name and version.\n", program)
	for _, p := range parts {
		fmt.Fprintf(&text, "\n%s\n%s %s, %s\n%[1]s\n\n%[5]s", strings.Repeat("=", 100), p.Path, p.Version, p.licence, p.texts)
	}
	return append(bytes.TrimSpace(text.Bytes()), '\n')
}
