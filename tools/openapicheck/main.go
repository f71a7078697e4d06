// Command openapicheck compares the emulator's responses in a test run with its OpenAPI document.
//
//	openapicheck directory
//
// Emulators with the build tag prepaidrecord write the directory's files: documents, and for each document a file with one request
// and response of each shape. Every response must be in the document with its status, headers, error code and body. If a body has
// a member that is not in the document, that is a fault. Every accepted request must be valid. Every request that was refused for its
// form must be invalid. In the document of a server with default options, a part that no test has seen is a fault too.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: openapicheck directory")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "openapicheck:", err)
		os.Exit(1)
	}
}

// run prints the faults and fails if there are any.
func run(directory string, out io.Writer) error {
	documents, err := filepath.Glob(filepath.Join(directory, "*.json"))
	if err != nil || len(documents) == 0 {
		return errors.Join(errors.New("the directory has no documents"), err)
	}
	faults, seen, responses := make(map[string]int), make(map[string]bool), 0
	for _, name := range documents {
		checked, err := checkFile(name, faults, seen)
		if err != nil {
			return err
		}
		responses += checked
	}
	usual, err := prepaidtest.OpenAPI(prepaidtest.Options{})
	if err != nil {
		return err
	}
	d, err := parse(usual)
	if err != nil {
		return err
	}
	for _, place := range d.places() {
		if !seen[place] && !unseen(place) {
			faults["never seen: "+place]++
		}
	}
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		fmt.Fprintf(out, "%s (%d)\n", fault, faults[fault])
	}
	fmt.Fprintf(out, "%d responses, %d documents, %d places\n", responses, len(documents), len(d.places()))
	if len(faults) > 0 {
		return fmt.Errorf("%d faults", len(faults))
	}
	return nil
}

// checkFile compares a document with the responses next to it.
func checkFile(name string, faults map[string]int, seen map[string]bool) (responses int, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	d, err := parse(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	file, err := os.Open(strings.TrimSuffix(name, ".json") + ".jsonl")
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		responses++
		for _, fault := range d.check(e, seen) {
			faults[fault]++
		}
	}
	return responses, lines.Err()
}
