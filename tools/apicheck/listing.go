package main

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// line is one fact of the API: "field Config.Timeout time.Duration".
type line struct {
	pkg  string // import path
	text string
}

// wholePackage is a line of each package. In the files it has the form "package path" and begins the package.
const wholePackage = "(the whole package)"

// inRepository returns an import path without host and owner, such as "prepaid/webhook".
func inRepository(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	return parts[len(parts)-1]
}

// read returns the committed lines, and those of broken.txt.
func read(directory string) (all, broken []line, err error) {
	names, err := filepath.Glob(filepath.Join(directory, "*.txt"))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		pkg := ""
		for text := range strings.Lines(string(content)) {
			text = strings.TrimSuffix(text, "\n")
			first, begins := strings.CutPrefix(text, "package ")
			if begins {
				pkg, text = first, wholePackage
			}
			if filepath.Base(name) != "broken.txt" {
				all = append(all, line{pkg, text})
			} else if !begins {
				broken = append(broken, line{pkg, text})
			}
		}
	}
	return all, broken, nil
}

// write writes the files, and removes those of removed packages.
func write(directory string, all, broken []line) error {
	files := map[string]string{"broken.txt": ""}
	pkg := ""
	for _, l := range broken {
		if l.pkg != pkg {
			pkg = l.pkg
			files["broken.txt"] += "package " + pkg + "\n"
		}
		files["broken.txt"] += l.text + "\n"
	}
	for _, l := range all {
		name, text := strings.ReplaceAll(inRepository(l.pkg), "/", "-")+".txt", l.text
		if text == wholePackage {
			text = "package " + l.pkg
		}
		files[name] += text + "\n"
	}
	old, err := filepath.Glob(filepath.Join(directory, "*.txt"))
	for _, name := range old {
		if _, kept := files[filepath.Base(name)]; !kept {
			err = cmp.Or(err, os.Remove(name))
		}
	}
	for name, text := range files {
		err = cmp.Or(err, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
	}
	return err
}

// missing returns the lines of a that b does not have, each once and in order.
func missing(a, b []line) []line {
	there := make(map[line]bool, len(b))
	for _, l := range b {
		there[l] = true
	}
	a = slices.DeleteFunc(slices.Clone(a), func(l line) bool { return there[l] })
	slices.SortFunc(a, func(x, y line) int { return cmp.Or(strings.Compare(x.pkg, y.pkg), strings.Compare(x.text, y.text)) })
	return slices.Compact(a)
}

// name returns the name of the line's subject in documents: "Config", "Config.Timeout", "AccountsService.Get".
func (l line) name() string {
	kind, rest, _ := strings.Cut(l.text, " ")
	if l.text == wholePackage {
		return path.Base(l.pkg)
	}
	if kind == "method" {
		rest = strings.Replace(strings.TrimLeft(rest, "(*"), ") ", ".", 1)
	}
	return rest[:strings.IndexFunc(rest+" ", func(r rune) bool { return strings.ContainsRune(" ([", r) })]
}
