package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// prove makes a file proxy from the tags, and uses the proxy like a user who has no other copy of our modules. Other modules come
// from the usual sources: first the module cache, then the usual proxy.
func (r *release) prove(ctx context.Context) {
	usual := strings.Fields(r.here.run(ctx, "go", "env", "GOMODCACHE", "GOPROXY"))
	environment := slices.Concat(r.there.environment, []string{"GONOPROXY=none", "GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath -buildvcs=false"})
	tags := shell{filepath.Join(r.work, "empty"), slices.Concat(environment, []string{"GOPROXY=direct", "GOMODCACHE=" + filepath.Join(r.work, "tags")})}
	err := os.Mkdir(tags.directory, 0o700)
	refuse(err != nil, "%v", err)
	for _, directory := range r.order {
		path := r.pathOf(directory)
		latest := tags.run(ctx, "go", "list", "-m", path+"@latest")
		refuse(latest != path+" v"+r.version, "the latest version is %s, not v%s", latest, r.version)
		tags.run(ctx, "go", "mod", "download", path+"@v"+r.version)
		if r.hasRetracted(ctx, directory) {
			tags.run(ctx, "go", "mod", "download", path+"@v"+r.retracted)
		}
	}
	user := shell{tags.directory, slices.Concat(environment, []string{
		fmt.Sprintf("GOPROXY=file://%s/tags/cache/download,file://%s/cache/download,%s", r.work, usual[0], usual[1]),
		"GOMODCACHE=" + filepath.Join(r.work, "modules"), "GOBIN=" + filepath.Join(r.work, "bin"),
	})}
	for _, directory := range r.order {
		r.use(ctx, user, directory)
	}
	first := r.proveFirstProgram(ctx, user)
	if slices.Contains(r.order, "contrib/vet") {
		r.proveAnalyzer(ctx, first)
	}
}

// newModule makes an empty module that requires another module.
func (r *release) newModule(ctx context.Context, outside shell, requires string) shell {
	directory, err := os.MkdirTemp(r.work, "user")
	refuse(err != nil, "%v", err)
	user := shell{directory, outside.environment}
	user.run(ctx, "go", "mod", "init", "example.com/user")
	user.run(ctx, "go", "get", requires)
	return user
}

// build builds a program in a module.
func build(ctx context.Context, user shell, text string) {
	write(filepath.Join(user.directory, "main.go"), text)
	user.run(ctx, "go", "mod", "tidy")
	user.run(ctx, "go", "build", "-o", "program", ".")
}

// use gets a module, builds a program that imports all public packages of the module, and installs the module's programs.
func (r *release) use(ctx context.Context, outside shell, directory string) {
	path := r.pathOf(directory)
	user := r.newModule(ctx, outside, path)
	var packages, programs []string
	for line := range strings.Lines(user.run(ctx, "go", "list", "-e", "-f", "{{.Name}} {{.ImportPath}}", path+"/...")) {
		name, found, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "main" && !strings.Contains(found+"/", "/internal/") {
			packages = append(packages, found)
		} else if strings.HasPrefix(found, path+"/cmd/") && name == "main" {
			programs = append(programs, found)
		}
	}
	refuse(len(packages) == 0, "%s has no package", path)
	build(ctx, user, "package main\n\nimport _ \""+strings.Join(packages, "\"\nimport _ \"")+"\"\n\nfunc main() {}\n")
	r.checkOurs(ctx, "a module that uses "+path, user)
	for _, program := range programs {
		outside.run(ctx, "go", "install", program+"@v"+r.version)
	}
	if r.hasRetracted(ctx, directory) {
		shown := outside.run(ctx, "go", "list", "-m", "-u", "-f", `{{join .Retracted "; "}}`, path+"@v"+r.retracted)
		refuse(shown != r.reason, "%s@v%s is not shown as retracted: %s", path, r.retracted, shown)
	}
	fmt.Fprintf(os.Stdout, "%s v%s: %d packages, %d programs\n", path, r.version, len(packages), len(programs))
}

// proveFirstProgram runs the README's first program with the environment that the installed emulator prints.
func (r *release) proveFirstProgram(ctx context.Context, outside shell) shell {
	text := regexp.MustCompile("(?s)\n```go\n(package main\n.*?EA[0-9]+.*?\n)```\n").FindStringSubmatch(r.read("README.md"))
	refuse(text == nil, "the README has no first program that reads an account")
	user := r.newModule(ctx, outside, r.module)
	build(ctx, user, text[1])

	emulator, seed := filepath.Join(r.work, "bin", "prepaid-emulator"), filepath.Join(r.work, "seed.json")
	version := user.run(ctx, emulator, "-version")
	refuse(version != "prepaid-emulator v"+r.version, "the emulator's version is %s", version)
	write(seed, fmt.Sprintf(`{"accounts": [{"account_id": %q, "balance": "12.50"}]}`, regexp.MustCompile("EA[0-9]+").FindString(text[1])))
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	server := user.command(limited, emulator, "-listen", "127.0.0.1:0", "-seed", seed)
	greeting, err := server.StdoutPipe()
	refuse(err != nil, "%v", err)
	err = server.Start()
	refuse(err != nil, "%v", err)
	var exports []string
	for lines := bufio.NewScanner(greeting); lines.Scan() && !strings.Contains(lines.Text(), "Ctrl+C"); {
		if strings.HasPrefix(lines.Text(), "  export ") {
			exports = append(exports, lines.Text())
		}
	}
	printed, failed := user.try(limited, "sh", "-euc", strings.Join(append(exports, "exec ./program"), "\n"))
	_ = server.Process.Signal(syscall.SIGTERM)
	err = server.Wait()
	refuse(failed != nil, "the README's first program: %v", failed)
	refuse(printed != "active 12.50", "the README's first program printed: %s", printed)
	refuse(err != nil, "the emulator ended: %v", err)
	fmt.Fprintln(os.Stdout, "the README's first program:", printed)
	return user
}

// proveAnalyzer runs the installed analyzer on a user's program, and then on the program with a dropped error.
func (r *release) proveAnalyzer(ctx context.Context, user shell) {
	vet := []string{"vet", "-vettool=" + filepath.Join(r.work, "bin", "prepaidvet"), "."}
	user.run(ctx, "go", vet...)
	write(filepath.Join(user.directory, "dropped.go"), `package main

import (
	"context"

	"github.com/cardprograms/prepaid"
)

func drop(client *prepaid.Client, params prepaid.TransferParams) {
	_, _ = client.Accounts.Transfer(context.Background(), "", params)
}
`)
	_, err := user.try(ctx, "go", vet...)
	refuse(err == nil || !strings.Contains(err.Error(), "dropped.go:10:"), "prepaidvet does not find a dropped error: %v", err)
}
