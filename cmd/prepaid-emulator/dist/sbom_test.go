package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licenseclassifier/v2/assets"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// An SBOM is valid CycloneDX, has the hash of the archive's program, and lists the modules of the program. The licences of all
// of them are in the archive, as they demand.
func TestSBOM(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(schemas(t))
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	require.NoError(t, err)
	for _, one := range wanted() {
		text := read(t, one.of(release(t))+".cdx.json")
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(document))

		var bom cdx.BOM
		require.NoError(t, cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom))
		content, shipped := unpack(t, one)
		own := bom.Metadata.Component
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(content)), (*own.Hashes)[0].Value)
		require.Equal(t, fmt.Sprintf("pkg:golang/%s@%s?goos=%s&goarch=%s#cmd/%s", modulePath, untagged, one.os, one.arch, program), own.PackageURL)

		info, err := buildinfo.Read(bytes.NewReader(content))
		require.NoError(t, err)
		want := []string{"std " + info.GoVersion + " -"}
		for _, m := range append(info.Deps, &info.Main) {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
			require.NoError(t, err)
			want = append(want, fmt.Sprintf("%s %s %x", m.Path, m.Version, sum))
		}
		var got, contained []string
		licences := make(map[string]string)
		for _, component := range *bom.Components {
			sum := "-"
			if component.Hashes != nil {
				sum = (*component.Hashes)[0].Value
			}
			licence := (*component.Licenses)[0].License.ID
			got = append(got, component.Name+" "+component.Version+" "+sum)
			contained = append(contained, component.BOMRef)
			licences[component.Name] = licence
			require.Greater(t, len(shipped[component.Name+" "+component.Version+", "+licence]), 1000)
		}
		require.Equal(t, []cdx.Dependency{{Ref: own.BOMRef, Dependencies: &contained}}, *bom.Dependencies)
		require.ElementsMatch(t, want, got)
		require.Subset(t, licences, map[string]string{
			modulePath: "Apache-2.0", "github.com/hashicorp/go-retryablehttp": "MPL-2.0", "github.com/govalues/decimal": "MIT",
			"golang.org/x/oauth2": "BSD-3-Clause", "std": "BSD-3-Clause",
		})
	}
}

// schemas loads the schemas of CycloneDX from its module. One file has another name.
func schemas(t *testing.T) jsonschema.URLLoader {
	t.Helper()
	directory, err := output(t.Context(), "", nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	require.NoError(t, err)
	return schemaLoader(func(url string) (any, error) {
		name := strings.Replace(path.Base(url), "jsf-0.82.schema.json", "jsf-0.82.schemax.json", 1)
		return jsonschema.UnmarshalJSON(bytes.NewReader(read(t, strings.TrimSpace(directory), "schema", name)))
	})
}

type schemaLoader func(url string) (any, error)

func (l schemaLoader) Load(url string) (any, error) { return l(url) }

// The release fails on a module with no, two or unknown licences.
func TestLicenceIsNotKnown(t *testing.T) {
	t.Parallel()
	mit, err := assets.ReadLicenseFile("License/MIT/pristine.txt")
	require.NoError(t, err)
	isc, err := assets.ReadLicenseFile("License/ISC/pristine.txt")
	require.NoError(t, err)
	for _, texts := range []map[string]string{
		{},
		{"LICENSE": "You may look, but not touch."},
		{"LICENSE": string(mit), "COPYING.txt": string(isc)},
	} {
		b := &builder{modules: t.TempDir()}
		directory := filepath.Join(b.modules, "example.com", "main@v1.0.0")
		require.NoError(t, os.MkdirAll(directory, 0o755))
		for name, text := range texts {
			require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
		}
		info := &buildinfo.BuildInfo{}
		info.Main.Path, info.Main.Version = "example.com/main", "v1.0.0"
		_, err := b.parts(info)
		require.ErrorContains(t, err, "example.com/main: its licence is not one that is known")
	}
}
