// Command waits fails if a test of the root module waits for real time or compares a measured duration. In a bubble of testing/synctest
// a test may do so, since time is virtual there. A test that needs real time belongs in the module tests.
//
//	go -C tools run ./waits
//
// It reads the _test.go files of the root module, and packages for tests: those below internal/tests and those whose names end in
// "test", except the emulator. A function is in a bubble if each of its uses is, or if its comment has the line //waits:bubble: then
// its callers run what it returns, or the functions that it passes on, in bubbles.
package main

import (
	"fmt"
	"os"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

func main() {
	checkout.Enter()
	p, err := load(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "waits:", err)
		os.Exit(2)
	}
	faults := p.faults()
	for _, fault := range faults {
		fmt.Fprintln(os.Stdout, fault)
	}
	os.Exit(min(len(faults), 1))
}
