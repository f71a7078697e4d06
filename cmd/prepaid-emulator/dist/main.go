// Command dist makes the emulator's release files for users without Go: an archive and an SBOM for each system, an image from
// scratch, and all checksums. The same source and version of Go give the same bytes, on any machine and in any directory.
//
//	go run . -out DIRECTORY -version v0.1.0
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

const (
	program    = "prepaid-emulator"
	modulePath = "github.com/cardprograms/prepaid"
	untagged   = "v0.0.0-dev" // sorts before every release
)

// epoch is the time of all files in archives and images: the earliest that zip supports.
var epoch = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// target is a system that the emulator is built for.
type target struct{ os, arch string }

func allTargets() []target {
	return []target{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}
}

func main() {
	to := flag.String("out", "", "`directory` for the results; must not exist yet, or be empty")
	version := flag.String("version", untagged, "`version` of the program, whose tag is checked out; only the default needs no tag")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := distribute(ctx, filepath.Join("..", "..", ".."), *version, *to, allTargets())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// distribute builds everything and writes the files to a directory, with SHA256SUMS as the last.
func distribute(ctx context.Context, root, version, to string, targets []target) error {
	if entries, _ := os.ReadDir(to); to == "" || len(entries) > 0 {
		return errors.New("-out must name a directory that is empty or does not exist")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := checkTag(ctx, root, version); err != nil && version != untagged {
		return err
	}
	work, err := os.MkdirTemp("", "prepaid-dist-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b, err := newBuilder(ctx, root, version, work)
	if err != nil {
		return err
	}
	var files []entry
	var images []*binary
	for _, t := range targets {
		built, err := b.build(ctx, t)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
		if t.os == "linux" {
			images = append(images, built)
		}
		pack, suffix := compressed, ".tar.gz"
		if t.os == "windows" {
			pack, suffix = zipped, ".zip"
		}
		packed, err := pack([]entry{built.program, built.licences})
		if err != nil {
			return err
		}
		described, err := sbom(built)
		if err != nil {
			return err
		}
		name := strings.Join([]string{program, version, t.os, t.arch}, "_")
		files = append(files, entry{name: name + suffix, content: packed}, entry{name: name + ".cdx.json", content: described})
	}
	image, err := imageArchive(version, work, images)
	if err != nil {
		return err
	}
	files = append(files, entry{name: program + "_" + version + "_image.tar", content: image})
	var sums strings.Builder
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.content), f.name)
	}
	for _, f := range append(files, entry{name: "SHA256SUMS", content: []byte(sums.String())}) {
		if err := os.WriteFile(filepath.Join(to, f.name), f.content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%9d %s\n", len(f.content), f.name)
	}
	return nil
}
