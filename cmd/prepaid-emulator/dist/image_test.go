package main

import (
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	saves "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// unpackedImage is an image of a release with a directory of its files.
type unpackedImage struct {
	v1.Image
	root string
}

// images returns the images of a release by their systems.
func images(t *testing.T) map[target]unpackedImage {
	t.Helper()
	directory := untar(t, filepath.Join(release(t), program+"_"+untagged+"_image.tar"))
	outer, err := layout.ImageIndexFromPath(directory)
	require.NoError(t, err)
	require.NoError(t, validate.Index(outer))
	manifest, err := outer.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	require.Equal(t, untagged, manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"])
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	manifest, err = index.IndexManifest()
	require.NoError(t, err)
	found := make(map[target]unpackedImage)
	for _, one := range manifest.Manifests {
		image, err := index.Image(one.Digest)
		require.NoError(t, err)
		parts, err := image.Manifest()
		require.NoError(t, err)
		require.Len(t, parts.Layers, 1)
		found[target{one.Platform.OS, one.Platform.Architecture}] = unpackedImage{
			image, untar(t, filepath.Join(directory, "blobs", "sha256", parts.Layers[0].Digest.Hex)),
		}
	}
	return found
}

// native returns the image for this machine's processor.
func native(t *testing.T) unpackedImage {
	t.Helper()
	return images(t)[target{"linux", runtime.GOARCH}]
}

// The image has its settings for each system, and the same program as the archive.
func TestImage(t *testing.T) {
	t.Parallel()
	found := images(t)
	for _, one := range wanted() {
		if one.os != "linux" {
			continue
		}
		image := found[one]
		delete(found, one)
		file, err := image.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, []any{one.os, one.arch, epoch}, []any{file.OS, file.Architecture, file.Created.Time})
		require.Equal(t, imageConfig(untagged), file.Config)
		require.Equal(t, untagged, file.Config.Labels["org.opencontainers.image.version"])
		content, _ := unpack(t, one)
		require.Equal(t, content, read(t, image.root, program))

		// The same image for a Docker without OCI layouts.
		tag, err := name.NewTag(program + ":" + untagged + "-" + one.arch)
		require.NoError(t, err)
		saved, err := saves.ImageFromPath(filepath.Join(release(t), program+"_"+untagged+"_image.tar"), &tag)
		require.NoError(t, err)
		require.NoError(t, validate.Image(saved))
		want, err := image.ConfigName()
		require.NoError(t, err)
		got, err := saved.ConfigName()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Empty(t, found)
}

// modes returns the modes of the files below a directory.
func modes(t *testing.T, directory string) map[string]fs.FileMode {
	t.Helper()
	found := make(map[string]fs.FileMode)
	require.NoError(t, fs.WalkDir(os.DirFS(directory), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		info, err := d.Info()
		found[path] = info.Mode()
		return err
	}))
	return found
}

// The Dockerfile has the settings of the image. Its commands make the image's files, with the same modes, from the files of the
// build context.
func TestDockerfileMakesTheSameFiles(t *testing.T) {
	t.Parallel()
	emulator := filepath.Join(repository, "cmd", program)
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(read(t, emulator, "Dockerfile")), "")
	build, last, _ := strings.Cut(text, "\nFROM scratch\n")
	c := imageConfig("")
	require.Equal(t, fmt.Sprintf("COPY --from=build /out/ /\nENV %s\nEXPOSE 8480/tcp\nUSER %s\n"+
		"HEALTHCHECK --interval=%s --timeout=%s --start-period=%s CMD [%q, %q]\nENTRYPOINT [%q]\n", strings.Join(c.Env, " "), c.User,
		c.Healthcheck.Interval, c.Healthcheck.Timeout, c.Healthcheck.StartPeriod, c.Healthcheck.Test[1], c.Healthcheck.Test[2], c.Entrypoint[0]), last)

	ignored := string(read(t, emulator, "Dockerfile.dockerignore"))
	require.Regexp(t, `^(\.?[a-z]+\n)+$`, ignored, "names at the top only")
	context, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	copySource(t, context, strings.Fields(ignored)...)
	_, script, _ := strings.Cut(build, "\nRUN ")
	_, err := output(t.Context(), context, []string{"TARGETOS=linux", "TARGETARCH=" + runtime.GOARCH},
		"sh", "-euc", strings.ReplaceAll(script, "/out", out))
	require.NoError(t, err)
	require.Equal(t, modes(t, native(t).root), modes(t, out))
	checkProgram(t, target{"linux", runtime.GOARCH}, read(t, out, program))

	_, licences := unpack(t, target{"linux", runtime.GOARCH})
	for part, text := range licences {
		require.Contains(t, string(read(t, out, "LICENSES.txt")), text, part)
	}
}

// The image trusts the certificate authorities that Mozilla trusts, for webhooks to receivers anywhere.
func TestImageHasCertificateAuthorities(t *testing.T) {
	t.Parallel()
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(read(t, native(t).root, "etc", "ssl", "certs", "ca-certificates.crt")))
	require.Greater(t, len(pool.Subjects()), 100) //nolint:staticcheck // not the system's pool, so complete
}
