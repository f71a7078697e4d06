// Command doccheck fails if a public name of the module has no doc comment, if the tables in docs/ differ from the
// code, or if a document names a test that does not exist.
//
//	doccheck [-docs directory] [-proofs file,file] directory...
//
// Each directory holds one package. In the tables, names of the first package have no qualifier. Names of other
// packages have a qualifier: webhook.Handler. The proofs are documents that name tests in backquotes. doccheck
// looks for these tests below the working directory.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

func main() {
	checkout.Enter()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 for no faults, 1 for faults, 2 if the check failed.
func run(arguments []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("doccheck", flag.ContinueOnError)
	flags.SetOutput(problems)
	docs := flags.String("docs", "", "directory of operations.md, reference-map.md and errors.md; skipped if empty")
	proofs := flags.String("proofs", "", "documents whose tests must exist, separated by commas")
	if flags.Parse(arguments) != nil {
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(problems, "doccheck: name at least one directory")
		return 2
	}
	faults, err := check(flags.Args(), *docs)
	if err == nil {
		var more []string
		more, err = testFaults(".", strings.FieldsFunc(*proofs, func(r rune) bool { return r == ',' }))
		faults = append(faults, more...)
	}
	if err != nil {
		fmt.Fprintln(problems, "doccheck:", err)
		return 2
	}
	for _, fault := range faults {
		fmt.Fprintln(out, fault)
	}
	if len(faults) > 0 {
		return 1
	}
	return 0
}

// check compares the packages with the rules and, unless docs is empty, with the tables.
func check(directories []string, docs string) ([]string, error) {
	var symbols []symbol
	for i, directory := range directories {
		found, err := readPackage(directory, i > 0)
		if err != nil {
			return nil, err
		}
		symbols = append(symbols, found...)
	}
	faults := commentFaults(symbols)
	if docs == "" {
		return faults, nil
	}
	var tables [3][]row
	for i, name := range [...]string{"operations.md", "reference-map.md", "errors.md"} {
		path := filepath.Join(docs, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		tables[i] = tableRows(path, string(text))
	}
	return append(faults, tableFaults(symbols, append(tables[0], tables[1]...), tables[2])...), nil
}
