// Command dist makes the emulator's release files for users without Go: for each system an archive with the
// program and an SBOM, an image from scratch, and the checksums of all of them. The same source and the same version of Go give
// the same bytes, on any machine and in any directory.
//
//	go run . -out DIRECTORY -version v0.1.0
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const program = "prepaid-emulator"

// epoch is the time of all files in archives and images: the first time that zip supports.
var epoch = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// target is a system that the emulator is built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

func allTargets() []target {
	return []target{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}
}

// targetsOf reads a list such as "linux/amd64,darwin/arm64".
func targetsOf(text string) ([]target, error) {
	var targets []target
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(allTargets(), func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-targets: there is no %q, only %v", name, allTargets())
		}
		targets = append(targets, allTargets()[i])
	}
	return targets, nil
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	to := flags.String("out", "", "`directory` for the results; must not exist yet, or be empty")
	root := flags.String("source", filepath.Join("..", "..", ".."), "`directory` of the repository")
	version := flags.String("version", "", "`version` of the program, whose tag is checked out; default that of the source, followed by -dev")
	list := flags.String("targets", join(allTargets()), "`systems` to build for; the image is made of those for linux")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	targets, err := targetsOf(*list)
	if err != nil {
		return err
	}
	if *to == "" {
		return errors.New("-out is required")
	}
	if err := os.MkdirAll(*to, 0o755); err != nil {
		return err
	}
	if entries, err := os.ReadDir(*to); err != nil || len(entries) > 0 {
		return errors.Join(errors.New("-out must be empty"), err)
	}
	return distribute(ctx, *root, *version, *to, targets, out)
}

func join(targets []target) string {
	var names []string
	for _, t := range targets {
		names = append(names, t.String())
	}
	return strings.Join(names, ",")
}
