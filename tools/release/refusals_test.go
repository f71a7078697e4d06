//go:build linux

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	const low = "module github.com/cardprograms/prepaid/contrib/low\n\ngo 1.26.0\n"
	for name, test := range map[string]struct {
		version string // 0.1.0 if empty
		change  func(repository)
		reason  string
	}{
		"no version":          {" ", func(repository) {}, "not like 0.2.0"},
		"two numbers":         {"0.1", func(repository) {}, "not like 0.2.0"},
		"with a v":            {"v0.1.0", func(repository) {}, "not like 0.2.0"},
		"a leading zero":      {"0.01.0", func(repository) {}, "not like 0.2.0"},
		"a pre-release":       {"0.1.0-rc.1", func(repository) {}, "not like 0.2.0"},
		"another import path": {"2.0.0", func(repository) {}, "needs a module path that ends in /v2"},
		"the tree is dirty": {"", func(r repository) {
			r.write("left", "")
			r.git("add", "left")
		}, "the tree is not clean: A  left"},
		"a file is untracked":      {"", func(r repository) { r.write("left", "") }, "the tree is not clean: ?? left"},
		"tagged":                   {"", func(r repository) { r.git("tag", "v0.1.0") }, "already tagged: v0.1.0"},
		"one module is tagged":     {"", func(r repository) { r.git("tag", "contrib/low/v0.1.0") }, "already tagged: contrib/low/v0.1.0"},
		"less than a tag":          {"", func(r repository) { r.git("tag", "v0.10.0") }, "not greater than the last one, 0.10.0"},
		"less than in a changelog": {"", func(r repository) { r.append("\n## 0.10.0, 2026-01-02\n") }, "not greater than the last one, 0.10.0"},
		"another section":          {"0.2.0", func(repository) {}, "the first section of CHANGELOG.md is not '## 0.2.0, unreleased'"},
		"a later section": {"", func(r repository) {
			r.replace("CHANGELOG.md", "## 0.1.0,", "## 0.2.0, unreleased\n\n- More.\n\n## 0.1.0,")
		}, "the first section of CHANGELOG.md is not '## 0.1.0, unreleased'"},
		"already dated":    {"", func(r repository) { r.replace("CHANGELOG.md", "unreleased", "2026-01-02") }, "not greater than the last one"},
		"an empty section": {"", func(r repository) { r.replace("CHANGELOG.md", "- `Gone` is gone.\n", "") }, "about 0.1.0 is empty"},
		"a break in a patch": {"0.1.1", func(r repository) {
			r.breaks("0.1.1", "Gone")
			r.git("tag", "v0.1.0")
		}, "a patch does not break the API"},
		"a break after 1.0": {"1.3.0", func(r repository) {
			r.breaks("1.3.0", "Gone")
			r.git("tag", "v1.2.0")
		}, "only a major version breaks the API"},
		"a break without a note": {"", func(r repository) {
			r.breaks("0.1.0", "Lost")
		}, "the latest section does not name `Lost`"},
		"no version in call.go": {"", func(r repository) { r.replace("call.go", "const version", "const number") }, "call.go has no constant version"},
		"a replaced dependency": {"", func(r repository) {
			r.write("fork/go.mod", "module example.com/library\n\ngo 1.26.0\n")
			r.write("fork/fork.go", "package library\n")
			r.write("contrib/low/go.mod", low+"\nrequire example.com/library v1.0.0\n\nreplace example.com/library => ../../fork\n")
			r.write("contrib/low/uses.go", "package low\n\nimport _ \"example.com/library\"\n")
		}, "the go.mod of contrib/low replaces example.com/library"},
		"a requirement hidden by a replace": {"", func(r repository) {
			r.replace("contrib/high/go.mod", "\tgithub.com/cardprograms/prepaid/contrib/low v0.0.0\n", "")
		}, "contrib/high requires github.com/cardprograms/prepaid/contrib/low v0.0.0-00010101000000-000000000000, not v0.1.0"},
		"modules in a circle": {"", func(r repository) {
			r.write("contrib/low/go.mod", low+"\nrequire github.com/cardprograms/prepaid/contrib/other v0.0.0\n"+
				"\nreplace github.com/cardprograms/prepaid/contrib/other => ../other\n")
			r.write("contrib/low/uses.go", "package low\n\nimport _ \"github.com/cardprograms/prepaid/contrib/other/leaf\"\n")
			r.write("contrib/other/go.mod", "module github.com/cardprograms/prepaid/contrib/other\n\ngo 1.26.0\n"+
				"\nrequire github.com/cardprograms/prepaid/contrib/low v0.0.0\n\nreplace github.com/cardprograms/prepaid/contrib/low => ../low\n")
			r.write("contrib/other/other.go", "package other\n\nimport _ \"github.com/cardprograms/prepaid/contrib/low\"\n")
			r.write("contrib/other/leaf/leaf.go", "package leaf\n")
			r.write("contrib/high/go.mod", r.read("contrib/high/go.mod")+
				"\nreplace github.com/cardprograms/prepaid/contrib/other => ../other\n\nrequire github.com/cardprograms/prepaid/contrib/other v0.0.0\n")
			r.write("bench/go.mod", "module github.com/cardprograms/prepaid/bench\n\ngo 1.26.0\n")
			r.write("bench/main.go", "package main\n\nfunc main() {}\n")
		}, "modules require each other"},
		"a module with a program replaces the core": {"", func(r repository) {
			r.write("contrib/low/go.mod", low+"\nreplace github.com/cardprograms/prepaid => ../..\n\nrequire github.com/cardprograms/prepaid v0.0.0\n")
			r.write("contrib/low/cmd/lower/core.go", "package main\n\nimport _ \"github.com/cardprograms/prepaid\"\n")
		}, "contains one or\n\tmore replace directives"},
		"a first program that fails": {"", func(r repository) {
			r.replace("README.md", `Getenv("PREPAID_SEED")`, `Getenv("PREPAID_NOTHING")`)
		}, "the README's first program: sh -euc"},
		"a first program that prints something else": {"", func(r repository) {
			r.replace("call.go", `"active"`, `"closed"`)
		}, "the README's first program printed: closed 12.50"},
		"an embedded file of another module": {"", func(r repository) {
			r.write("text.go", "package prepaid\n\nimport _ \"embed\"\n\n//go:embed bench/main.go\nvar text string\n")
		}, "go build -o program .: exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			test.change(r)
			if test.reason[:min(len(test.reason), 9)] != "the tree " && r.git("status", "--porcelain") != "" {
				r.commit(name)
			}
			if test.version == "" {
				test.version = "0.1.0"
			}
			r.refuses(test.reason, test.version)
		})
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.refuses("name the version to retract, and the reason", "-retract", "0.1.0", "0.1.1")
	r.refuses("one version, not 0.1.0 and 0.2.0", "0.1.0", "0.2.0")
	code, printed := r.run(r.program, "-push")
	require.Equal(t, 2, code, printed)
	require.Contains(t, printed, "not defined: -push")
}

func (r repository) append(text string) { r.write("CHANGELOG.md", r.read("CHANGELOG.md")+text) }

// breaks removes a name from the API; the changelog mentions the name Gone.
func (r repository) breaks(version, name string) {
	r.t.Helper()
	r.addAPICheck()
	r.replace("CHANGELOG.md", "0.1.0", version)
	r.write("api/broken.txt", "package github.com/cardprograms/prepaid\nfunc "+name+"()\n")
}

// Tags that were made manually are proved as well.
func TestProofOfTags(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(repository)
		reason string
	}{
		"before the requirements were raised": {func(repository) {}, "contrib/high"},
		"with an older core": {func(r repository) {
			r.git("tag", "v0.0.9")
			r.replace("contrib/high/go.mod", "prepaid v0.0.0", "prepaid v0.0.9")
			r.replace("contrib/high/go.mod", "low v0.0.0", "low v0.1.0")
		}, "contrib/high"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			test.change(r)
			r.write("later", "")
			r.commit(name)
			for _, tag := range []string{"v0.1.0", "contrib/low/v0.1.0", "contrib/high/v0.1.0"} {
				r.git("tag", tag)
			}
			r.refuses(test.reason, "-prove", "0.1.0")
		})
	}
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		r := newRepository(t)
		r.git("tag", "v0.1.0")
		r.git("tag", "contrib/low/v0.1.0")
		r.refuses("the latest version is github.com/cardprograms/prepaid/contrib/high v0.0.0-", "-prove", "0.1.0")
	})
}
