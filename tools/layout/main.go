// Command layout checks how the package at the root of the repository is divided: how many files it has, how long they are, how
// many need one another's names, and which packages import which.
//
// It prints the figures. The exit status is 1 if a limit is exceeded, or if DESIGN.md does
// not show the packages that exist; then it prints every arrow (a use of names) in the largest circle of files, and the picture for
// DESIGN.md. A generated file counts only for the circle.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

// The limits of the package at the root. If you raise one, explain why in the commit message.
const (
	mostFiles     = 35
	mostTestFiles = 60
	mostLines     = 450
	largestCircle = 15
)

func main() {
	checkout.Enter()
	os.Exit(run(context.Background(), os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if no limit is exceeded, 1 otherwise.
func run(ctx context.Context, out, problems io.Writer) int {
	all, err := list(ctx, "./...")
	if err != nil {
		fmt.Fprintln(problems, "layout:", err)
		return 1
	}
	p, err := load(ctx)
	if err != nil {
		fmt.Fprintln(problems, "layout:", err)
		return 1
	}
	circle := p.largestCircle()
	files, longest, lines := p.written()
	fmt.Fprintf(out, "%d files, %d test files, the longest %s with %d lines\n", files, p.testFiles, longest, lines)
	fmt.Fprintf(out, "largest circle: %d files: %s\n", len(circle), strings.Join(circle, " "))
	faults := upwardImports(all)
	for name, figure := range map[string][2]int{
		"Go files": {files, mostFiles}, "test files": {p.testFiles, mostTestFiles},
		"lines in " + longest: {lines, mostLines}, "files in the largest circle": {len(circle), largestCircle},
	} {
		if figure[0] > figure[1] {
			faults = append(faults, fmt.Sprintf("%d %s, at most %d", figure[0], name, figure[1]))
		}
	}
	if len(circle) > largestCircle {
		p.printCircle(problems, circle)
	}
	if design, err := os.ReadFile("DESIGN.md"); err != nil || !strings.Contains(string(design), "```text\n"+picture(all)+"```\n") {
		faults = append(faults, "DESIGN.md does not show the packages as they are:\n"+picture(all))
	}
	for _, fault := range faults {
		fmt.Fprintln(problems, "layout:", fault)
	}
	return min(len(faults), 1)
}
