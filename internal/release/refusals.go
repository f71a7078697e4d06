package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// number is a version without its "v".
type number [3]int

func (n number) String() string { return fmt.Sprintf("%d.%d.%d", n[0], n[1], n[2]) }

func parse(text string) (n number, ok bool) {
	_, err := fmt.Sscanf(text, "%d.%d.%d", &n[0], &n[1], &n[2])
	return n, err == nil && n.String() == text && min(n[0], n[1], n[2]) >= 0
}

// known returns the released versions in order, after one that is less than any. It uses tags and the changelog, because a shallow clone has no tags.
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
		r.there.run(ctx, "go", "run", "./internal/apicheck", "api", "CHANGELOG.md")
	}
	if r.publishes {
		r.checkPublication(ctx)
	}
}

// checkPublication refuses, before the hour of checks, a release that cannot be published: the key does not sign, or a push would
// be refused.
func (r *release) checkPublication(ctx context.Context) {
	_, err := r.here.try(ctx, "git", "commit-tree", "-S", "-m", "Does this key sign?", "HEAD^{tree}")
	refuse(err != nil, "your key does not sign: see user.signingkey in git help config: %v", err)
	theirs := r.here.run(ctx, "git", "ls-remote", "origin", "refs/heads/main")
	if theirs != "" {
		_, err = r.here.try(ctx, "git", "merge-base", "--is-ancestor", strings.Fields(theirs)[0], "HEAD")
		refuse(err != nil, "main of origin has commits that this main lacks")
	}
	theirs = r.here.run(ctx, "git", "ls-remote", "origin", "refs/tags/v"+r.version, "refs/tags/*/v"+r.version)
	refuse(theirs != "", "origin has tags of this version: %s", theirs)
}
