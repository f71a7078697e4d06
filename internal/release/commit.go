package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// clone clones the last commit. In the clone, git reads only one configuration. So it ignores the user's aliases and hooks, and
// uses the clone's tags in place of published tags. A checkout may belong to another user.
func (r *release) clone(ctx context.Context) {
	r.module = r.here.run(ctx, "go", "list", "-m")
	if !r.next {
		r.checkVersion()
	}
	name, _ := r.here.try(ctx, "git", "config", "user.name")
	email, _ := r.here.try(ctx, "git", "config", "user.email")
	write(filepath.Join(r.work, "gitconfig"), fmt.Sprintf("[safe]\ndirectory = *\n[user]\nname = %q\nemail = %q\n[url %q]\ninsteadOf = https://%s\n",
		cmp.Or(name, "Dry run"), cmp.Or(email, "dry-run@example.com"), r.there.directory, r.module))
	shell{r.work, r.there.environment}.run(ctx, "git", "clone", "-q", "--no-checkout", r.here.directory, "clone")
	r.there.run(ctx, "git", "checkout", "-q", "-B", "main", r.here.run(ctx, "git", "rev-parse", "HEAD"))
	if !r.next {
		return
	}
	if found := regexp.MustCompile(`(?m)^## (.*), unreleased$`).FindStringSubmatch(r.read("CHANGELOG.md")); found != nil {
		r.version = found[1]
		return
	}
	known := r.known(ctx) // there is no such section after a release
	next := known[len(known)-1]
	next[2]++
	r.version = next.String()
	r.edit("CHANGELOG.md", `\A(# .*\n)`, "${1}\n## "+r.version+", unreleased\n\n- Nothing yet.\n")
	r.there.run(ctx, "git", "commit", "-q", "-a", "-m", "Begin "+r.version)
}

// commit makes the commit of the version and its tags in the clone. A replace directive in a tagged module is refused, except for
// our own modules: builds of users ignore the directive.
func (r *release) commit(ctx context.Context) {
	heading := "## " + r.version + ", " + time.Now().UTC().Format(time.DateOnly)
	if r.retracted != "" {
		heading += "\n\n### Retracted\n\n- " + r.retracted + ": " + r.reason
	}
	write(filepath.Join(r.there.directory, "CHANGELOG.md"), strings.Replace(r.read("CHANGELOG.md"), "## "+r.version+", unreleased", heading, 1))
	before := regexp.MustCompile(`(?m)^const version = (".*")$`).FindStringSubmatch(r.read("call.go"))
	refuse(before == nil, "call.go has no constant version")
	for _, file := range strings.Fields(r.there.run(ctx, "git", "ls-files", "--", "*.go")) {
		if r.edit(file, `(?m)^((?:const )?\s*version += )`+regexp.QuoteMeta(before[1])+"$", `${1}"`+r.version+`"`) {
			fmt.Fprintln(os.Stdout, "version of", file)
		}
	}
	r.edit("api/openapi.json", `(?m)^    "version": ".*",$`, `    "version": "`+r.version+`",`)
	r.edit("api/broken.txt", `(?s).*`, "")

	tagged := r.tagged(ctx)
	for _, directory := range tagged {
		for _, replaced := range strings.Fields(r.in(directory).run(ctx, "go", "list", "-e", "-m", "-f", "{{if .Replace}}{{.Path}}{{end}}", "all")) {
			refuse(!r.isOurs(replaced), "the go.mod of %s replaces %s, which has no effect for others", directory, replaced)
		}
	}
	for _, directory := range r.nested(ctx) {
		r.edit(directory+"/go.mod", `(?m)^((?:require)?[ \t]*`+r.module+`(?:/\S+)?) v\S+([^=\n]*)$`, "${1} v"+r.version+"${2}")
		r.in(directory).run(ctx, "go", "mod", "tidy")
		r.checkOurs(ctx, directory, r.in(directory))
	}
	for _, directory := range tagged {
		if r.hasRetracted(ctx, directory) {
			r.edit(directory+"/go.mod", `\z`, "\nretract v"+r.retracted+" // "+r.reason+"\n")
			r.in(directory).run(ctx, "go", "mod", "edit", "-fmt")
		}
	}
	r.there.run(ctx, "git", "commit", "-q", "-a", "-m", "Version "+r.version)
	for _, directory := range tagged {
		r.there.run(ctx, "git", "tag", "-a", "-m", "Version "+r.version, tagOf(directory, r.version))
	}
}

func write(name, text string) {
	err := os.WriteFile(name, []byte(text), 0o600)
	refuse(err != nil, "%v", err)
}

// read returns the text of a file of the clone.
func (r *release) read(name string) string {
	text, err := os.ReadFile(filepath.Join(r.there.directory, name))
	refuse(err != nil, "%v", err)
	return string(text)
}

// edit replaces what matches the pattern in a file of the clone, and reports whether that changes the file.
func (r *release) edit(name, pattern, replacement string) bool {
	before := r.read(name)
	after := regexp.MustCompile(pattern).ReplaceAllString(before, replacement)
	if after != before {
		write(filepath.Join(r.there.directory, name), after)
	}
	return after != before
}

// nested returns the directory of each module below the core that git knows.
func (r *release) nested(ctx context.Context) []string {
	return strings.Fields(strings.ReplaceAll(r.there.run(ctx, "git", "ls-files", "--", "*/go.mod", ":!*/testdata/*"), "/go.mod", ""))
}

// tagged returns the directories of the modules that get a tag.
func (r *release) tagged(ctx context.Context) []string {
	below := slices.DeleteFunc(r.nested(ctx), func(directory string) bool { return !strings.HasPrefix(directory, "contrib/") })
	return append([]string{"."}, below...)
}

func (r *release) in(directory string) shell {
	return shell{filepath.Join(r.there.directory, directory), r.there.environment}
}

func (r *release) pathOf(directory string) string { return path.Join(r.module, directory) }

func tagOf(directory, version string) string { return path.Join(directory, "v"+version) }

func (r *release) hasRetracted(ctx context.Context, directory string) bool {
	return r.retracted != "" && r.there.run(ctx, "git", "tag", "-l", tagOf(directory, r.retracted)) != ""
}

func (r *release) isOurs(module string) bool {
	return module == r.module || strings.HasPrefix(module, r.module+"/")
}

// ours returns the modules of this repository that a module uses, with their versions.
func (r *release) ours(ctx context.Context, module shell) map[string]string {
	versions := make(map[string]string)
	for line := range strings.Lines(module.run(ctx, "go", "list", "-m", "-f", "{{if not .Main}}{{.Path}} {{.Version}}{{end}}", "all")) {
		if name, version, _ := strings.Cut(strings.TrimSpace(line), " "); r.isOurs(name) {
			versions[name] = version
		}
	}
	return versions
}

// checkOurs refuses another version of our modules.
func (r *release) checkOurs(ctx context.Context, name string, module shell) {
	for required, version := range r.ours(ctx, module) {
		refuse(version != "v"+r.version, "%s requires %s %s, not v%s", name, required, version, r.version)
	}
}

// sort sets the order of the modules.
func (r *release) sort(ctx context.Context) {
	left := r.tagged(ctx)
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(directory string) bool {
			ours := r.ours(ctx, r.in(directory))
			return !slices.ContainsFunc(left, func(other string) bool { return ours[r.pathOf(other)] != "" })
		})
		refuse(i < 0, "modules require each other: %s", strings.Join(left, " "))
		r.order = append(r.order, left[i])
		left = slices.Delete(left, i, i+1)
	}
}
