package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	saves "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// image returns the image of a release, its OCI layout unpacked.
func (m made) image(t *testing.T) v1.ImageIndex {
	t.Helper()
	directory := t.TempDir()
	for name, e := range untar(t, bytes.NewReader(m.read(t, "image.tar"))) {
		if e.mode.IsDir() {
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(directory, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), e.content, 0o600))
	}
	outer, err := layout.ImageIndexFromPath(directory)
	require.NoError(t, err)
	require.NoError(t, validate.Index(outer))
	manifest, err := outer.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	require.Equal(t, m.version, manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"])
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	return index
}

// rootOf returns the file system of an image.
func rootOf(t *testing.T, image v1.Image) map[string]entry {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	packed, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer packed.Close()
	return untar(t, packed)
}

// The image has its settings for each system, and the same program as the archive.
func TestImage(t *testing.T) {
	t.Parallel()
	m := release(t)
	index := m.image(t)
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	var systems []target
	for _, one := range manifest.Manifests {
		image, err := index.Image(one.Digest)
		require.NoError(t, err)
		file, err := image.ConfigFile()
		require.NoError(t, err)
		system := target{one.Platform.OS, one.Platform.Architecture}
		systems = append(systems, system)
		require.Equal(t, []string{system.os, system.arch}, []string{file.OS, file.Architecture})
		require.Equal(t, epoch, file.Created.Time)
		want := imageConfig()
		want.Labels = file.Config.Labels
		require.Equal(t, want, file.Config)
		require.Equal(t, m.version, file.Config.Labels["org.opencontainers.image.version"])
		files := rootOf(t, image)
		require.True(t, bytes.Equal(m.programOf(t, system), files[program].content))

		// The same image for a Docker without OCI layouts.
		tag, err := name.NewTag(program + ":" + m.version + "-" + one.Platform.Architecture)
		require.NoError(t, err)
		saved, err := saves.ImageFromPath(filepath.Join(m.directory, program+"_"+m.version+"_image.tar"), &tag)
		require.NoError(t, err)
		require.NoError(t, validate.Image(saved))
		require.Equal(t, files, rootOf(t, saved))
	}
	var want []target
	for _, one := range m.targets {
		if one.os == "linux" {
			want = append(want, one)
		}
	}
	require.Equal(t, want, systems)
}

// The Dockerfile has the settings of the image. Its commands make the image's files, with the same modes, from the files of the
// build context.
func TestDockerfileMakesTheSameFiles(t *testing.T) {
	t.Parallel()
	m := release(t)
	build, last := dockerfile(t)
	_, script, found := strings.Cut(build, "\nRUN ")
	require.True(t, found)
	require.NotContains(t, script, "\nRUN ")
	c := imageConfig()
	require.Equal(t, fmt.Sprintf("COPY --from=build /out/ /\nENV %s\nEXPOSE 8480/tcp\nUSER %s\n"+
		"HEALTHCHECK --interval=%s --timeout=%s --start-period=%s CMD [%q, %q]\nENTRYPOINT [%q]\n", strings.Join(c.Env, " "), c.User,
		c.Healthcheck.Interval, c.Healthcheck.Timeout, c.Healthcheck.StartPeriod, c.Healthcheck.Test[1], c.Healthcheck.Test[2], c.Entrypoint[0]), last)

	context, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	copyContext(t, context)
	linux := linuxOf(m.targets)
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", strings.ReplaceAll(script, "/out", out))
	shell.Dir = context
	shell.Env = append(os.Environ(), "TARGETOS="+linux.os, "TARGETARCH="+linux.arch)
	printed, err := shell.CombinedOutput()
	require.NoError(t, err, string(printed))

	got := make(map[string]fs.FileMode)
	made, err := tree(os.DirFS(out))
	require.NoError(t, err)
	for _, e := range made {
		info, err := os.Stat(filepath.Join(out, e.name))
		require.NoError(t, err)
		got[e.name] = info.Mode()
	}
	want := make(map[string]fs.FileMode)
	for name, e := range imageFor(t, m, linux) {
		want[name] = e.mode
	}
	require.Equal(t, want, got)
	binary, err := os.ReadFile(filepath.Join(out, program))
	require.NoError(t, err)
	static(t, linux, binary)
	require.NotContains(t, string(binary), context)

	licences, err := os.ReadFile(filepath.Join(out, "LICENSES.txt"))
	require.NoError(t, err)
	sections := strings.Split(string(m.archived(t, linux)["LICENSES.txt"].content), strings.Repeat("=", 100)+"\n")
	require.Greater(t, len(sections), 10)
	for i := 2; i < len(sections); i += 2 { // after the name of each part
		require.Contains(t, string(licences), strings.TrimSpace(sections[i]), sections[i-1])
	}
}

// dockerfile returns the two stages of the Dockerfile without comments.
func dockerfile(t *testing.T) (build, last string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "cmd", program, "Dockerfile"))
	require.NoError(t, err)
	build, last, found := strings.Cut(regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(text), ""), "\nFROM scratch\n")
	require.True(t, found)
	return build, last
}

// copyContext copies the files that the Dockerfile's ignore file lets through.
func copyContext(t *testing.T, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "cmd", program, "Dockerfile.dockerignore"))
	require.NoError(t, err)
	ignored := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		require.Regexp(t, `^\.?[a-z]+\n$`, line, "names at the top only")
		ignored[strings.TrimSpace(line)] = true
	}
	files, err := sourceFiles(t.Context(), repository)
	require.NoError(t, err)
	for _, file := range files {
		if top, _, _ := strings.Cut(file.Path(), "/"); ignored[top] {
			continue
		}
		copyFile(t, filepath.Join(repository, file.Path()), filepath.Join(to, file.Path()))
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
	require.NoError(t, os.WriteFile(to, content, 0o644))
}

func linuxOf(targets []target) target {
	for _, one := range targets {
		if one.os == "linux" {
			return one
		}
	}
	return target{}
}

// imageFor returns the file system of the image for a system.
func imageFor(t *testing.T, m made, system target) map[string]entry {
	t.Helper()
	index := m.image(t)
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	for _, one := range manifest.Manifests {
		if one.Platform.Architecture == system.arch {
			image, err := index.Image(one.Digest)
			require.NoError(t, err)
			return rootOf(t, image)
		}
	}
	t.Fatal("no image for ", system)
	return nil
}

// The image trusts the certificate authorities that Mozilla trusts, for webhooks to receivers anywhere.
func TestImageHasCertificateAuthorities(t *testing.T) {
	t.Parallel()
	m := release(t)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(imageFor(t, m, linuxOf(m.targets))["etc/ssl/certs/ca-certificates.crt"].content))
	require.Greater(t, len(pool.Subjects()), 100) //nolint:staticcheck // not the system's pool, so complete
}
