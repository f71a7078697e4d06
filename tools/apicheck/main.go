// Command apicheck compares the public API of the module, and of the modules nested in it, with the committed listing.
//
//	go -C tools run ./apicheck [-renew] module...
//
// The directory api has one text file per package, with one line per name, like Go's own api directory. Each
// module is a directory with a go.mod; the programs and internal packages of a module are skipped.
//
// A line that is missing from the code is an incompatible change. A line that is missing from the listing is an addition.
// The check fails for both, so that no change of the API goes unnoticed. -renew rewrites the listings. It also adds an
// incompatible change to api/broken.txt. The check then fails until the latest section of CHANGELOG.md names the change in
// backquotes. A release empties broken.txt.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

func main() {
	checkout.Enter()
	renew := flag.Bool("renew", false, "rewrite the listings")
	flag.Parse()
	faults, err := check(context.Background(), ".", flag.Args(), *renew)
	if err != nil {
		fmt.Fprintln(os.Stderr, "apicheck:", err)
		os.Exit(2)
	}
	for _, fault := range faults {
		fmt.Fprintln(os.Stdout, fault)
	}
	os.Exit(min(len(faults), 1))
}

// check compares the packages of the modules with the listings, and broken.txt with the changelog.
func check(ctx context.Context, root string, modules []string, renew bool) (faults []string, err error) {
	directory := filepath.Join(root, "api")
	before, broken, err1 := read(directory)
	now, err2 := load(ctx, modules)
	changelog, err3 := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	if renew {
		broken = missing(append(broken, missing(before, now)...), now) // a restored line is no longer broken
		if err := write(directory, now, broken); err != nil {
			return nil, err
		}
		before = now
	}
	for _, l := range missing(before, now) {
		faults = append(faults, fmt.Sprintf("INCOMPATIBLE: %s no longer has: %s", l.pkg, l.text))
	}
	for _, l := range missing(now, before) {
		faults = append(faults, fmt.Sprintf("new, not listed: %s has: %s", l.pkg, l.text))
	}
	return append(faults, unnamed(broken, string(changelog))...), nil
}
