// Command apicheck compares the public API of the module, and of the modules nested in it, with the committed listing.
//
//	apicheck [-renew] listings changelog [module...]
//
// Listings is a directory that has one text file per package, with one line per name, like Go's own api directory. Each
// module is a directory with a go.mod; the programs and internal packages of a module are skipped.
//
// A line that is missing from the code is an incompatible change. A line that is missing from the listing is an addition.
// The check fails for both, so that no change of the API goes unnoticed. -renew rewrites the listings. It also adds an
// incompatible change to broken.txt in the same directory. The check then fails until the latest section of the changelog
// names the change in backquotes. A release empties broken.txt. If no module is given, only broken.txt is checked.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

func main() {
	checkout.Enter()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 for no faults, 1 for faults, 2 if the check failed.
func run(ctx context.Context, arguments []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("apicheck", flag.ContinueOnError)
	flags.SetOutput(problems)
	renew := flags.Bool("renew", false, "rewrite the listings")
	if flags.Parse(arguments) != nil {
		return 2
	}
	if flags.NArg() < 2 || *renew && flags.NArg() == 2 {
		fmt.Fprintln(problems, "apicheck: name the directory of listings, the changelog and the modules")
		return 2
	}
	faults, err := check(ctx, flags.Arg(0), flags.Arg(1), flags.Args()[2:], *renew)
	if err != nil {
		fmt.Fprintln(problems, "apicheck:", err)
		return 2
	}
	for _, fault := range faults {
		fmt.Fprintln(out, fault)
	}
	return min(len(faults), 1)
}

// check compares the packages of the modules with the listings, and broken.txt with the changelog.
func check(ctx context.Context, directory, changelog string, modules []string, renew bool) (faults []string, err error) {
	before, broken, err := read(directory)
	if err != nil {
		return nil, err
	}
	now, err := load(ctx, modules)
	if err != nil {
		return nil, err
	}
	switch {
	case len(modules) == 0:
	case renew:
		broken = missing(append(broken, missing(before, now)...), now) // a restored line is no longer broken
		if err := write(directory, now, broken); err != nil {
			return nil, err
		}
	default:
		for _, l := range missing(before, now) {
			faults = append(faults, fmt.Sprintf("INCOMPATIBLE: %s no longer has: %s", l.pkg, l.text))
		}
		for _, l := range missing(now, before) {
			faults = append(faults, fmt.Sprintf("new, not listed: %s has: %s", l.pkg, l.text))
		}
	}
	text, err := os.ReadFile(changelog)
	return append(faults, unnamed(broken, changelog, string(text))...), err
}
