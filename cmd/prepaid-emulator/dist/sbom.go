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
func sbom(b *binary, parts []part) ([]byte, error) {
	own := parts[0]
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Lifecycles: &[]cdx.Lifecycle{{Phase: cdx.LifecyclePhasePostBuild}},
		Component: &cdx.Component{
			BOMRef: program, Type: cdx.ComponentTypeApplication, Name: program, Version: b.version,
			PackageURL: fmt.Sprintf("%s?goos=%s&goarch=%s#cmd/%s", packageURL(own), b.os, b.arch, program),
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(b.content))}},
			Licenses:   licenceChoice(own),
		},
	}
	var components []cdx.Component
	var contained []string
	for _, p := range parts {
		component := cdx.Component{
			BOMRef: packageURL(p), Type: cdx.ComponentTypeLibrary, Name: p.path, Version: p.version, PackageURL: packageURL(p),
			Scope: cdx.ScopeRequired, Licenses: licenceChoice(p),
		}
		if p.sum != "" {
			// The Go command's checksum of a module is a SHA-256 in base64.
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.sum, "h1:"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.path, err)
			}
			component.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		components = append(components, component)
		contained = append(contained, component.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program, Dependencies: &contained}}
	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

func packageURL(p part) string {
	return "pkg:golang/" + p.path + "@" + strings.TrimPrefix(p.version, "go")
}

func licenceChoice(p part) *cdx.Licenses {
	return &cdx.Licenses{{License: &cdx.License{ID: p.licence}}}
}
