// Command wiregen generates code and tables from the tags of structs and from the table of operations.
//
// wire_gen.go has functions that read and write the client's types without reflection, and the values of enumerations.
// The client lists these types in slices of wireReadable and wireWritable; nested structs count too. A member with the tag
// required must be present: ruled in codec.go describes the tag. redact_gen.go has the methods Format and LogValue of structs
// with redact tags. The other files come from the operations in reference/openapi.yaml.
//
//	go -C tools run ./wiregen       print the names of the stale files, and fail if there are any
//	go -C tools run ./wiregen -w    write them, as go generate does
//
// wiregen refuses an unknown type. In that case, give the field a type with a readWire or writeWire method, or add a rule to
// the generator.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

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

// run writes the generated files that are stale. If write is false, it prints their names and fails instead.
func run(directory string, write bool, out io.Writer) (stale error) {
	p, err := load(directory)
	if err != nil {
		return err
	}
	files, err1 := operationFiles(directory, p.Types.Scope())
	wires, err2 := p.generate()
	redactions, err3 := p.generateRedaction()
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	files[output], files[redactOutput] = wires, redactions
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(directory, name)
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, files[name]) {
			continue
		}
		if !write {
			fmt.Fprintln(out, name)
			stale = errors.New("generated files are stale: run go generate")
		} else if err := os.WriteFile(path, files[name], 0o644); err != nil { //nolint:gosec // source code, like other files
			return err
		}
	}
	return stale
}
