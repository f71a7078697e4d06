package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	layers "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// platformImage is the content of the image for one system.
type platformImage struct {
	target
	content []entry
}

// imageConfig has the settings of the last stage of the Dockerfile.
func imageConfig() v1.Config {
	return v1.Config{
		User: "65532:65532", Entrypoint: []string{"/" + program}, WorkingDir: "/",
		Env:          []string{"PREPAID_EMULATOR_LISTEN=:8480", "PREPAID_EMULATOR_ALLOW_REMOTE=true"},
		ExposedPorts: map[string]struct{}{"8480/tcp": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/" + program, "-health"}, Interval: 5 * time.Second, Timeout: 3 * time.Second, StartPeriod: 5 * time.Second,
		},
	}
}

// imageArchive returns a tar file: an OCI layout with an image per system, and a manifest.json like that of "docker save".
func imageArchive(version, work string, platforms []platformImage) ([]byte, error) {
	settings := imageConfig()
	settings.Labels = map[string]string{
		"org.opencontainers.image.title": program, "org.opencontainers.image.version": version,
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://" + modulePath,
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var saved layers.Manifest
	for _, p := range platforms {
		image, err := newImage(p, settings)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
		one, err := savedImage(image, fmt.Sprintf("%s:%s-%s", program, version, p.arch))
		if err != nil {
			return nil, err
		}
		saved = append(saved, one)
	}
	directory := filepath.Join(work, "layout")
	path, err := layout.Write(directory, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": version, "io.containerd.image.name": "docker.io/library/" + program + ":" + version,
	})); err != nil {
		return nil, err
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(directory, "manifest.json"), text, 0o600); err != nil {
		return nil, err
	}
	entries, err := tree(os.DirFS(directory))
	if err != nil {
		return nil, err
	}
	return tarball(entries)
}

// newImage makes an image of one layer.
func newImage(p platformImage, settings v1.Config) (v1.Image, error) {
	files, err := tarball(rootFiles(p.content))
	if err != nil {
		return nil, err
	}
	layer, err := layers.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		layers.WithMediaType(types.OCILayer), layers.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "COPY /out/ /"},
	})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, func() *v1.ConfigFile {
		file, _ := image.ConfigFile() // just made
		file = file.DeepCopy()
		file.OS, file.Architecture, file.Created, file.Config = p.os, p.arch, v1.Time{Time: epoch}, settings
		return file
	}())
}

// rootFiles is the image's file system: the files that the Dockerfile puts below /out. Every user can write to /state and
// /tmp, because a container may run with any user.
func rootFiles(content []entry) []entry {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a PEM file has no field for a constraint
			_ = pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	directory := fs.ModeDir | 0o755
	files := slices.Concat(content, []entry{
		{name: "etc", mode: directory}, {name: "etc/ssl", mode: directory}, {name: "etc/ssl/certs", mode: directory},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: roots.Bytes()},
		{name: "state", mode: fs.ModeDir | fs.ModeSticky | 0o777},
	})
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return files
}

// savedImage describes an image for the manifest.json of "docker save".
func savedImage(image v1.Image, tag string) (saved layers.Descriptor, err error) {
	manifest, err := image.Manifest()
	if err != nil {
		return saved, err
	}
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	saved.Config, saved.RepoTags = blob(manifest.Config), []string{tag}
	for _, layer := range manifest.Layers {
		saved.Layers = append(saved.Layers, blob(layer))
	}
	return saved, nil
}

// tree reads the files below a directory. Order and modes are the same on every machine.
func tree(below fs.FS) ([]entry, error) {
	var entries []entry
	err := fs.WalkDir(below, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == ".":
			return err
		case d.IsDir():
			entries = append(entries, entry{name: path, mode: fs.ModeDir | 0o755})
			return nil
		}
		content, err := fs.ReadFile(below, path)
		entries = append(entries, entry{name: path, mode: 0o644, content: content})
		return err
	})
	return entries, err
}
