package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	layers "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageConfig has the settings of the last stage of the Dockerfile.
func imageConfig(version string) v1.Config {
	return v1.Config{
		User: "65532:65532", Entrypoint: []string{"/" + program}, WorkingDir: "/",
		Env: []string{"PREPAID_EMULATOR_LISTEN=:8480", "PREPAID_EMULATOR_ALLOW_REMOTE=true"}, ExposedPorts: map[string]struct{}{"8480/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": program, "org.opencontainers.image.version": version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://" + modulePath,
		},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/" + program, "-health"}, Interval: 5 * time.Second, Timeout: 3 * time.Second, StartPeriod: 5 * time.Second,
		},
	}
}

// imageArchive returns a tar file: an OCI layout with an image per system, and a manifest.json like that of "docker save".
func imageArchive(version, work string, binaries []*binary) ([]byte, error) {
	var index v1.ImageIndex = empty.Index
	var saved layers.Manifest
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	for _, b := range binaries {
		image, err := newImage(b, version)
		if err != nil {
			return nil, err
		}
		manifest, err := image.Manifest()
		if err != nil {
			return nil, err
		}
		saved = append(saved, layers.Descriptor{
			Config: blob(manifest.Config), RepoTags: []string{program + ":" + version + "-" + b.arch}, Layers: []string{blob(manifest.Layers[0])},
		})
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.os, Architecture: b.arch}},
		})
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
	text, _ := json.Marshal(saved) // only strings
	if err := path.WriteFile("manifest.json", text, 0o600); err != nil {
		return nil, err
	}
	blobs, _ := fs.Glob(os.DirFS(directory), "blobs/sha256/*") // a valid pattern; the names are sorted
	entries := []entry{{"blobs/", 0o755, nil}, {"blobs/sha256/", 0o755, nil}}
	for _, name := range append(blobs, "index.json", "manifest.json", "oci-layout") {
		content, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name, 0o644, content})
	}
	return tarball(entries)
}

// newImage makes an image of one layer.
func newImage(b *binary, version string) (v1.Image, error) {
	files, err := tarball(rootFiles(b))
	if err != nil {
		return nil, err
	}
	layer, err := layers.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		layers.WithMediaType(types.OCILayer), layers.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: epoch}
	base, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		&v1.ConfigFile{OS: b.os, Architecture: b.arch, Created: created, Config: imageConfig(version), RootFS: v1.RootFS{Type: "layers"}})
	if err != nil {
		return nil, err
	}
	return mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "COPY /out/ /"}})
}

// rootFiles is the image's file system: the files that the Dockerfile puts below /out. Every user can write to /state, because
// a container may run with any user.
func rootFiles(b *binary) []entry {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a PEM file cannot express a constraint
			_ = pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return []entry{
		b.licences, {"etc/", 0o755, nil}, {"etc/ssl/", 0o755, nil}, {"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, roots.Bytes()}, b.program, {"state/", 0o1777, nil},
	}
}
