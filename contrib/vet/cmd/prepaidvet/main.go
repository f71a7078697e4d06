// Prepaidvet finds mistakes with money in programs that use the SDK.
//
//	prepaidvet ./...                            runs go vet with it
//	go vet -vettool=$(which prepaidvet) ./...   the same
//	prepaidvet -outcome ./...                   this rule only
//	prepaidvet help outcome                     describes a rule
//	prepaidvet -version
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
)

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 0:
		fmt.Fprintln(os.Stderr, "usage: prepaidvet [flags] packages, for example: prepaidvet ./...\nprepaidvet help lists the rules")
		os.Exit(2)
	case args[0] == "-version" || args[0] == "--version":
		fmt.Fprintln(os.Stdout, "prepaidvet", version())
	case args[0] == "help" || args[0] == "-flags" || strings.HasPrefix(args[0], "-V") ||
		strings.HasSuffix(args[len(args)-1], ".cfg"): // the go command asks for the tool's version or flags, or runs the tool for one package
		unitchecker.Main(prepaidvet.Analyzers()...)
	default:
		os.Exit(vet(args))
	}
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "of unknown version"
}

// vet runs go vet with this program as its tool, and returns its exit status.
func vet(args []string) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepaidvet:", err)
		return 2
	}
	command := exec.CommandContext(context.Background(), "go", append([]string{"vet", "-vettool=" + self}, args...)...) //nolint:gosec // the caller's own arguments
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepaidvet:", err)
		return 2
	}
	return 0
}
