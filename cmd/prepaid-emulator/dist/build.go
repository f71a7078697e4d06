package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// builder builds one version of the emulator with "go install", in directories below work.
type builder struct {
	version string
	work    string            // of this run
	sums    map[string]string // checksums in go.sum, by "path version"
	proxies string
	goroot  string
}

// binary is a system's emulator.
type binary struct {
	target
	version string
	content []byte
	info    *debug.BuildInfo
}

// newBuilder reads the source and writes only below the directory work.
func newBuilder(ctx context.Context, root, version, work string) (*builder, error) {
	b := &builder{version: version, work: work, sums: make(map[string]string)}
	// The build reads the dependencies from the module cache, and their checksums from go.sum.
	download := exec.CommandContext(ctx, "go", "mod", "download")
	download.Dir = root
	if _, err := output(download); err != nil {
		return nil, err
	}
	var environment struct{ GOMODCACHE, GOPROXY, GOROOT string }
	printed, err := output(exec.CommandContext(ctx, "go", "env", "-json", "GOMODCACHE", "GOPROXY", "GOROOT"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(printed, &environment); err != nil {
		return nil, err
	}
	b.goroot = environment.GOROOT
	own := filepath.Join(work, "proxy")
	b.proxies = strings.Join([]string{fileURL(own), fileURL(filepath.Join(environment.GOMODCACHE, "cache", "download")), environment.GOPROXY}, ",")
	text, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 {
			b.sums[fields[0]+" "+fields[1]] = fields[2]
		}
	}
	return b, publish(ctx, root, version, own)
}

// fileURL returns the URL of a directory. On Windows the path begins with a drive.
func fileURL(directory string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(directory), "/")
}

// modules is the directory of a build's sources.
func (b *builder) modules() string { return filepath.Join(b.work, "modules") }

// build makes the binary for one system. The same version of Go makes the same binary anywhere with this command:
//
//	CGO_ENABLED=0 GOOS=... GOARCH=... go install -trimpath -ldflags='-s -w' github.com/cardprograms/prepaid/cmd/prepaid-emulator@VERSION
//
// The build ID stays in the binary: it is a hash of the build. macOS starts a program only with an identifier derived from
// the build ID.
func (b *builder) build(ctx context.Context, t target) (*binary, error) {
	path := filepath.Join(b.work, "go")
	command := exec.CommandContext(ctx, "go", "install", "-trimpath", "-ldflags=-s -w", modulePath+"/cmd/"+program+"@"+b.version)
	command.Dir = b.work
	command.Env = append(os.Environ(), "GOENV=off", "GOWORK=off", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOEXPERIMENT=", "GOFIPS140=off",
		"CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOPATH="+path, "GOBIN=", "GOMODCACHE="+b.modules(), "GOPROXY="+b.proxies, "GOPRIVATE=", "GONOPROXY=", "GOSUMDB=off")
	if _, err := output(command); err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	file, err := installed(filepath.Join(path, "bin"), t)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if sum := b.sums[m.Path+" "+m.Version]; sum == "" || sum != m.Sum {
			return nil, fmt.Errorf("%s: %s %s is not what go.sum has", t, m.Path, m.Version)
		}
	}
	content, err := os.ReadFile(file)
	return &binary{t, b.version, content, info}, err
}

// installed finds the program: "go install" puts a program for another system into a directory named after that system.
func installed(bin string, t target) (string, error) {
	name := program
	if t.os == "windows" {
		name += ".exe"
	}
	for _, file := range []string{filepath.Join(bin, t.os+"_"+t.arch, name), filepath.Join(bin, name)} {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	return "", errors.New(t.String() + ": go install left no program")
}
