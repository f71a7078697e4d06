package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// distribute builds everything and writes the files to a directory, with SHA256SUMS as the last.
func distribute(ctx context.Context, root, version, to string, targets []target, out io.Writer) error {
	if version == "" {
		var err error
		if version, err = sourceVersion(root); err != nil {
			return err
		}
	} else if err := checkTag(ctx, root, version); err != nil {
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
	var images []platformImage
	for _, t := range targets {
		built, err := b.build(ctx, t)
		if err != nil {
			return err
		}
		parts, err := b.parts(built.info)
		if err != nil {
			return err
		}
		content := contents(built, parts)
		made, err := archives(built, parts, content)
		if err != nil {
			return err
		}
		files = append(files, made...)
		if t.os == "linux" {
			images = append(images, platformImage{t, content})
		}
	}
	if len(images) > 0 {
		image, err := imageArchive(version, work, images)
		if err != nil {
			return err
		}
		files = append(files, entry{name: fmt.Sprintf("%s_%s_image.tar", program, version), content: image})
	}
	files = append(files, entry{name: "SHA256SUMS", content: sums(files)})
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(to, f.name), f.content, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(out, "%9d %s\n", len(f.content), f.name)
	}
	return nil
}

// contents are the files of every distribution: the program and the licences of its parts.
func contents(b *binary, parts []part) []entry {
	name := program
	if b.os == "windows" {
		name += ".exe"
	}
	return []entry{
		{name: name, mode: 0o755, content: b.content},
		{name: "LICENSES.txt", mode: 0o644, content: notices(parts)},
	}
}

// archives returns the archive and the SBOM of a binary.
func archives(b *binary, parts []part, content []entry) ([]entry, error) {
	pack, suffix := compressed, ".tar.gz"
	if b.os == "windows" {
		pack, suffix = zipped, ".zip"
	}
	packed, err := pack(content)
	if err != nil {
		return nil, err
	}
	described, err := sbom(b, parts)
	if err != nil {
		return nil, err
	}
	name := strings.Join([]string{program, b.version, b.os, b.arch}, "_")
	return []entry{{name: name + suffix, content: packed}, {name: name + ".cdx.json", content: described}}, nil
}

// sums is the input of "sha256sum -c".
func sums(files []entry) []byte {
	var text bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(f.content), f.name)
	}
	return text.Bytes()
}
