package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom describes a binary in CycloneDX: its checksum, and its parts with versions, checksums and licences. It has no time
// and no serial number, so that the same binary has the same SBOM.
func sbom(b *binary) ([]byte, error) {
	own := b.parts[0]
	checksum := sha256.Sum256(b.program.content)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Lifecycles: &[]cdx.Lifecycle{{Phase: cdx.LifecyclePhasePostBuild}},
		Component: &cdx.Component{
			BOMRef: program, Type: cdx.ComponentTypeApplication, Name: program, Version: own.Version,
			PackageURL: fmt.Sprintf("%s?goos=%s&goarch=%s#cmd/%s", packageURL(own), b.os, b.arch, program),
			Hashes:     hashes(checksum[:]), Licenses: licenceChoice(own),
		},
	}
	var components []cdx.Component
	var contained []string
	for _, p := range b.parts {
		// The Go command's checksum of a module is a SHA-256 in base64. The standard library has none.
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Sum, "h1:"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Path, err)
		}
		components = append(components, cdx.Component{
			BOMRef: packageURL(p), Type: cdx.ComponentTypeLibrary, Name: p.Path, Version: p.Version, PackageURL: packageURL(p),
			Scope: cdx.ScopeRequired, Hashes: hashes(sum), Licenses: licenceChoice(p),
		})
		contained = append(contained, packageURL(p))
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program, Dependencies: &contained}}
	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

func hashes(sum []byte) *[]cdx.Hash {
	if len(sum) == 0 {
		return nil
	}
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
}

func packageURL(p part) string {
	return "pkg:golang/" + p.Path + "@" + strings.TrimPrefix(p.Version, "go")
}

func licenceChoice(p part) *cdx.Licenses {
	return &cdx.Licenses{{License: &cdx.License{ID: p.licence}}}
}
