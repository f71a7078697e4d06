package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// builder builds one version of the emulator with "go install", in directories below work.
type builder struct {
	version string
	work    string // of this run
	modules string // sources of the dependencies
	sums    string // the content of go.sum
	proxies string
	goroot  string
}

// binary is the emulator for one system.
type binary struct {
	target
	parts             []part
	program, licences entry // the files of every distribution
}

// newBuilder reads the source and writes only below the directory work.
func newBuilder(ctx context.Context, root, version, work string) (*builder, error) {
	printed, err := output(ctx, root, nil, "go", "env", "GOMODCACHE", "GOPROXY", "GOROOT")
	sums, missing := os.ReadFile(filepath.Join(root, "go.sum"))
	if err := errors.Join(err, missing); err != nil {
		return nil, err
	}
	settings, own := strings.Split(printed, "\n"), filepath.Join(work, "proxy")
	// The Go command downloads only the dependencies that are not in the user's module cache.
	proxies := strings.Join([]string{fileURL(own), fileURL(filepath.Join(settings[0], "cache", "download")), settings[1]}, ",")
	return &builder{version, work, filepath.Join(work, "modules"), string(sums), proxies, settings[2]}, publish(ctx, root, version, own)
}

// fileURL returns the URL of a directory. On Windows the path begins with a drive.
func fileURL(directory string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(directory), "/")
}

// build makes the binary for one system. The same version of Go makes the same binary anywhere with this command:
//
//	CGO_ENABLED=0 GOOS=... GOARCH=... go install -trimpath -ldflags='-s -w' github.com/cardprograms/prepaid/cmd/prepaid-emulator@VERSION
//
// The build ID stays in the binary: it is a hash of the build. macOS starts a program only with an identifier derived from
// the build ID.
func (b *builder) build(ctx context.Context, t target) (*binary, error) {
	path := filepath.Join(b.work, "go")
	if _, err := output(ctx, b.work, []string{
		"GOENV=off", "GOWORK=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOEXPERIMENT=", "GOFIPS140=off",
		"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOPATH=" + path, "GOBIN=", "GOMODCACHE=" + b.modules, "GOPROXY=" + b.proxies, "GOPRIVATE=", "GONOPROXY=", "GOSUMDB=off",
	}, "go", "install", "-trimpath", "-ldflags=-s -w", modulePath+"/cmd/"+program+"@"+b.version); err != nil {
		return nil, err
	}
	directory, name := t.os+"_"+t.arch, program
	if t == (target{runtime.GOOS, runtime.GOARCH}) {
		directory = "" // the Go command adds it only for other systems
	}
	if t.os == "windows" {
		name += ".exe"
	}
	content, err := os.ReadFile(filepath.Join(path, "bin", directory, name))
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if !strings.Contains(b.sums, m.Path+" "+m.Version+" "+m.Sum+"\n") {
			return nil, fmt.Errorf("%s %s is not what go.sum has", m.Path, m.Version)
		}
	}
	parts, err := b.parts(info)
	return &binary{t, parts, entry{name, 0o755, content}, entry{"LICENSES.txt", 0o644, notices(parts)}}, err
}
