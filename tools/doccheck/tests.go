package main

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

var (
	testName    = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]*)`")
	declaration = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)
)

// testFaults lists the tests that documents name and that no test file below root has: they were renamed or
// removed.
func testFaults(root string, documents []string) ([]string, error) {
	if len(documents) == 0 {
		return nil, nil
	}
	there := make(map[string]bool)
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(tree, path)
		for _, match := range declaration.FindAllSubmatch(source, -1) {
			there[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			return nil, err
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			for _, match := range testName.FindAllStringSubmatch(line, -1) {
				if !there[match[1]] {
					faults = append(faults, fmt.Sprintf("%s:%d: there is no %s", document, number, match[1]))
				}
			}
		}
	}
	return faults, nil
}
