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

// number is a version without its "v".
type number [3]int

func (n number) String() string { return fmt.Sprintf("%d.%d.%d", n[0], n[1], n[2]) }

func parse(text string) (n number, ok bool) {
	_, err := fmt.Sscanf(text, "%d.%d.%d", &n[0], &n[1], &n[2])
	return n, err == nil && n.String() == text && min(n[0], n[1], n[2]) >= 0
}

// known returns a number below all versions, then the released ones in order. It uses tags and the changelog: a shallow clone has no tags.
func (r *release) known(ctx context.Context) []number {
	names := strings.Fields(strings.ReplaceAll("\n"+r.there.run(ctx, "git", "tag", "-l", "v*"), "\nv", "\n"))
	for _, heading := range regexp.MustCompile(`(?m)^## ([0-9.]+), [0-9-]+$`).FindAllStringSubmatch(r.read("CHANGELOG.md"), -1) {
		names = append(names, heading[1])
	}
	all := []number{{-1}}
	for _, name := range names {
		if n, ok := parse(name); ok {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b number) int { return slices.Compare(a[:], b[:]) })
	return all
}

// section returns the changelog's part about the version, without its heading.
func (r *release) section() string {
	_, part, _ := strings.Cut(r.read("CHANGELOG.md"), "\n## "+r.version+", ")
	_, part, _ = strings.Cut(part, "\n")
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

// checkVersion refuses a version that is not three numbers, or that the module path does not allow.
func (r *release) checkVersion() number {
	version, ok := parse(r.version)
	refuse(!ok, "the version is not like 0.2.0: '%s'", r.version)
	suffix := fmt.Sprintf("/v%d", version[0])
	refuse(version[0] > 1 && !strings.HasSuffix(r.module, suffix),
		"version %s needs a module path that ends in %s, and the modules below contrib/ too", r.version, suffix)
	return version
}

func (r *release) checkState(ctx context.Context) {
	dirty := r.here.run(ctx, "git", "status", "--porcelain")
	refuse(!r.next && dirty != "", "the tree is not clean: %s", dirty)
	branch, _ := r.here.try(ctx, "git", "symbolic-ref", "-q", "--short", "HEAD")
	refuse(r.publishes && branch != "main", "a release is made on main")
	tags := r.here.run(ctx, "git", "tag", "-l", "v"+r.version, "*/v"+r.version)
	refuse(tags != "", "already tagged: %s; git tag -d deletes what was never pushed", strings.ReplaceAll(tags, "\n", " "))
	version, known := r.checkVersion(), r.known(ctx)
	last := known[len(known)-1]
	refuse(slices.Compare(last[:], version[:]) >= 0, "version %s is not greater than the last one, %s", r.version, last)
	retracted, _ := parse(r.retracted)
	refuse(r.retracted != "" && !slices.Contains(known, retracted), "version %s is not released, so it cannot be retracted", r.retracted)

	first := regexp.MustCompile(`(?m)^## .*$`).FindString(r.read("CHANGELOG.md"))
	refuse(first != "## "+r.version+", unreleased", "the first section of CHANGELOG.md is not '## %s, unreleased'", r.version)
	refuse(r.retracted == "" && !strings.Contains(r.section(), "\n- "), "the section of CHANGELOG.md about %s is empty", r.version)
	if r.read("api/broken.txt") != "" {
		refuse(last[0] == version[0] && version[0] > 0, "api/broken.txt is not empty: from 1.0 on only a major version breaks the API")
		refuse(last[0] == version[0] && last[1] == version[1], "api/broken.txt is not empty: a patch does not break the API")
		r.there.run(ctx, "go", "-C", "tools", "run", "./apicheck", "api", "CHANGELOG.md")
	}
	if r.publishes {
		r.checkPublication(ctx)
	}
}

// checkPublication runs before the checks, which take hours. It refuses a release that cannot be published: the key does not sign, or a push
// would be refused.
func (r *release) checkPublication(ctx context.Context) {
	_, err := r.here.try(ctx, "git", "commit-tree", "-S", "-m", "Does this key sign?", "HEAD^{tree}")
	refuse(err != nil, "your key does not sign: see user.signingkey in git help config: %v", err)
	for line := range strings.Lines(r.here.run(ctx, "git", "ls-remote", "origin", "refs/heads/main", "refs/tags/v"+r.version, "refs/tags/*/v"+r.version)) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		refuse(name != "refs/heads/main", "origin has tags of this version: %s", name)
		_, err = r.here.try(ctx, "git", "merge-base", "--is-ancestor", commit, "HEAD")
		refuse(err != nil, "main of origin has commits that this main lacks")
	}
}

// clone clones the last commit. In the clone, git reads only the configuration that clone writes. So git ignores the user's aliases
// and hooks, uses the clone's tags in place of published tags, and accepts a checkout that belongs to another user.
func (r *release) clone(ctx context.Context) {
	root, err := os.Getwd()
	refuse(err != nil, "%v", err)
	r.here = shell{root, []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	r.there = shell{filepath.Join(r.work, "clone"), []string{"GIT_CONFIG_GLOBAL=" + filepath.Join(r.work, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1"}}
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
	known := r.known(ctx) // after a release, no section is unreleased
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
	for file := range strings.FieldsSeq(r.there.run(ctx, "git", "ls-files", "--", "*.go")) {
		if r.edit(file, `(?m)^((?:const )?\s*version += )`+regexp.QuoteMeta(before[1])+"$", `${1}"`+r.version+`"`) {
			fmt.Fprintln(os.Stdout, "version of", file)
		}
	}
	r.edit("api/broken.txt", `(?s).*`, "")

	tagged := r.tagged(ctx)
	for _, directory := range tagged {
		for replaced := range strings.FieldsSeq(r.in(directory).run(ctx, "go", "list", "-e", "-m", "-f", "{{if .Replace}}{{.Path}}{{end}}", "all")) {
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

// edit replaces the matches of a pattern in a file of the clone, and reports whether that changes the file.
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
