// Command layout measures how the package at the root of the repository is divided, and checks the limits: how many
// files it has, how long they are, how many need one another's names, and which packages import which.
//
//	go run ./internal/layout [-v] [-packages] [package directory]
//
// Run it at the root of the repository. It prints the figures and, with -v, every arrow (a use of names) in the largest
// circle of files. The exit status is 1 if a limit is exceeded or DESIGN.md does not show the packages that exist. The
// limits apply to the client; another directory is only measured. A generated file counts only for the circle. With
// -packages the command prints the picture for DESIGN.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// The limits of the package at the root. If you raise one, explain why in the commit message.
const (
	mostFiles     = 35
	mostTestFiles = 60
	mostLines     = 450
	largestCircle = 15
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code: 0 if no limit is exceeded, 1 otherwise, 2 for wrong arguments.
func run(arguments []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("layout", flag.ContinueOnError)
	flags.SetOutput(problems)
	verbose := flags.Bool("v", false, "print every arrow of the largest circle")
	onlyPackages := flags.Bool("packages", false, "print the packages and what they import, and nothing else")
	if flags.Parse(arguments) != nil || flags.NArg() > 1 {
		return 2
	}
	directory := "."
	if flags.NArg() == 1 {
		directory = flags.Arg(0)
	}
	ctx := context.Background()
	all, err := list(ctx, "./...")
	if err != nil {
		fmt.Fprintln(problems, "layout:", err)
		return 1
	}
	if *onlyPackages {
		fmt.Fprint(out, picture(all))
		return 0
	}
	p, err := load(ctx, directory)
	if err != nil {
		fmt.Fprintln(problems, "layout:", err)
		return 1
	}
	circle := p.largestCircle()
	files, longest, lines := p.written()
	fmt.Fprintf(out, "%d files, %d test files, the longest %s with %d lines\n", files, p.testFiles, longest, lines)
	fmt.Fprintf(out, "%d arrows, %d mutual pairs, largest circle: %d files: %s\n", p.countArrows(), p.mutualPairs(), len(circle), strings.Join(circle, " "))
	if *verbose {
		p.printCircle(out, circle)
	}
	if directory != "." {
		return 0
	}
	faults := overLimit(map[string][2]int{
		"Go files": {files, mostFiles}, "test files": {p.testFiles, mostTestFiles},
		"lines in " + longest: {lines, mostLines}, "files in the largest circle": {len(circle), largestCircle},
	})
	faults = append(faults, upwardImports(all)...)
	if design, err := os.ReadFile("DESIGN.md"); err != nil || !strings.Contains(string(design), "```text\n"+picture(all)+"```\n") {
		faults = append(faults, "DESIGN.md does not show the packages as they are: paste what -packages prints into its picture")
	}
	for _, fault := range faults {
		fmt.Fprintln(problems, "layout:", fault)
	}
	return min(len(faults), 1)
}

func overLimit(figures map[string][2]int) []string {
	var faults []string
	for what, f := range figures {
		if f[0] > f[1] {
			faults = append(faults, fmt.Sprintf("%d %s, at most %d", f[0], what, f[1]))
		}
	}
	return faults
}
