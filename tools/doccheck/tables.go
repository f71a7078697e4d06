package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// row is one line of a table: the names in its first column and in its column "Go". Each word in a list of members is a row
// too: the list "- `Account`: `balance account_id=ID`" has two rows.
type row struct {
	place string   // "docs/errors.md:12"
	wire  string   // text in backquotes in the first column; empty for "—"
	own   bool     // "—" in the first column: not in the reference
	names []string // texts in backquotes in the column "Go"
}

var (
	quoted  = regexp.MustCompile("`([^`]+)`")
	members = regexp.MustCompile("^- (`.+`): `([^`]+)`$")
)

// tableRows returns the rows of the tables that have a column "Go", and the words of lists of members.
func tableRows(path, markdown string) []row {
	var rows []row
	column := -1 // index of the column "Go"; -1 outside the tables
	number := 0
	for line := range strings.Lines(markdown) {
		number++
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			column = -1
			if list := members.FindStringSubmatch(line); list != nil {
				for _, owner := range quoted.FindAllStringSubmatch(list[1], -1) {
					for word := range strings.FieldsSeq(list[2]) {
						wire, name, _ := strings.Cut(word, "=")
						name = owner[1] + "." + cmp.Or(name, strings.ToLower(strings.ReplaceAll(wire, "_", "")))
						rows = append(rows, row{place: fmt.Sprintf("%s:%d", path, number), wire: wire, names: []string{name}})
					}
				}
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if column < 0 {
			column = slices.Index(cells, "Go")
			continue
		}
		if column >= len(cells) || strings.HasPrefix(cells[0], "---") {
			continue
		}
		r := row{place: fmt.Sprintf("%s:%d", path, number), own: cells[0] == "—"}
		if match := quoted.FindStringSubmatch(cells[0]); match != nil {
			r.wire = match[1]
		}
		for _, match := range quoted.FindAllStringSubmatch(cells[column], -1) {
			name := match[1]
			if call, ok := strings.CutPrefix(name, "client."); ok { // client.Accounts.Get is AccountsService.Get
				name = "Client." + call
				if service, method, ok := strings.Cut(call, "."); ok {
					name = service + "Service." + method
				}
			}
			r.names = append(r.names, name)
		}
		rows = append(rows, r)
	}
	return rows
}

// tableFaults compares the tables with the code. Each name in the tables must exist and have the wire name or value of its
// row. Every symbol from the reference, and every error, must be in the tables.
func tableFaults(symbols []symbol, reference, errors []row) []string {
	byName := make(map[string]symbol, len(symbols))
	for _, s := range symbols {
		byName[s.name] = s
		if s.owner == "" {
			continue
		}
		base := s.base()
		if s.kind == kindConstant {
			base = strings.TrimPrefix(base, s.owner)
		}
		byName[s.owner+"."+base], byName[s.owner+"."+strings.ToLower(base)] = s, s
	}
	var faults []string
	named := make(map[string]bool)
	for _, r := range slices.Concat(reference, errors) {
		for _, name := range r.names {
			s, ok := byName[name]
			switch {
			case !ok:
				faults = append(faults, fmt.Sprintf("%s: %s does not exist", r.place, name))
			case r.wire != "" && s.wire != "" && s.wire != r.wire:
				faults = append(faults, fmt.Sprintf("%s: %s stands for %q, not for %q", r.place, name, s.wire, r.wire))
			}
			named[s.name] = true
		}
	}
	listed := make(map[string]bool)
	for _, r := range errors {
		for _, name := range r.names {
			listed[name] = true
		}
	}
	own := make(map[string]bool)
	for _, r := range reference {
		for _, name := range r.names {
			own[name] = own[name] || r.own
		}
	}
	for _, s := range symbols {
		switch {
		case isError(s, byName) && !listed[s.name]:
			faults = append(faults, fmt.Sprintf("%s: %s %s is not in the error catalogue", s.position, s.kind, s.name))
		case fromReference(s) && !named[s.name] && !own[s.owner]:
			faults = append(faults, fmt.Sprintf("%s: %s %s is not in the reference map", s.position, s.kind, s.name))
		}
	}
	return faults
}

// isError reports whether s is a sentinel or an error type.
func isError(s symbol, byName map[string]symbol) bool {
	if s.kind == kindVariable {
		return strings.HasPrefix(s.base(), "Err")
	}
	_, ok := byName[s.name+".Error"]
	return s.kind == kindType && ok
}

// fromReference reports whether s must be in a table: methods of services, members of messages, values of enumerations.
// Only the first package calls the service.
func fromReference(s symbol) bool {
	switch s.kind {
	case kindMethod:
		return !s.foreign && s.calls
	case kindField, kindConstant:
		return !s.foreign && s.wire != "" && s.owner != ""
	}
	return false
}
