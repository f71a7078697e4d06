// Command wiregen generates code and tables from the tags of structs and from the table of operations.
//
// wire_gen.go has functions that read and write the client's types without reflection, and the method Known of enumerations.
// The client lists these types in slices of wireReadable and wireWritable; nested structs count too. redact_gen.go has the
// methods Format and LogValue of structs with redact tags. The other files come from the operations in reference/openapi.yaml.
//
//	go -C tools run ./wiregen       print the beginning of the differences, and fail if there are any
//	go -C tools run ./wiregen -w    write them, as go generate does
//
// wiregen refuses an unknown type. In that case, give the field a type with a readWire or writeWire method, or add a rule to
// the generator.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

func main() {
	checkout.Enter()
	write := flag.Bool("w", false, "write the files that are stale")
	flag.Parse()
	if err := run(".", *write, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wiregen:", err)
		os.Exit(1)
	}
}

// run writes the generated files that are stale. If write is false, it prints the differences and fails instead.
func run(directory string, write bool, out io.Writer) error {
	p, err := load(directory)
	if err != nil {
		return err
	}
	source, err := p.generate()
	if err != nil {
		return err
	}
	files, err := operationFiles(directory, p.methods)
	if err != nil {
		return err
	}
	files[output] = source
	if files[redactOutput], err = p.generateRedaction(); err != nil {
		return err
	}
	var stale strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(directory, name)
		there, err := os.ReadFile(path)
		if err == nil && bytes.Equal(there, files[name]) {
			continue
		}
		if !write {
			shown, err := difference(name, there, files[name])
			if err != nil {
				return err
			}
			stale.WriteString(shown)
		} else if err := os.WriteFile(path, files[name], 0o644); err != nil { //nolint:gosec // source code, like other files
			return err
		}
	}
	if stale.Len() > 0 {
		lines := strings.SplitAfter(stale.String(), "\n")
		fmt.Fprint(out, strings.Join(lines[:min(mostShown, len(lines))], ""))
		return errors.New("generated files are stale: run go generate")
	}
	return nil
}

// mostShown is how many lines of the differences are printed.
const mostShown = 36

// difference shows what a write would change in a file.
func difference(name string, before, after []byte) (string, error) {
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(string(before)), B: difflib.SplitLines(string(after)), FromFile: name, ToFile: name + " (right)", Context: 1,
	})
}
