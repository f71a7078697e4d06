package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// written counts the files that are not generated, and returns the longest.
func (p *pkg) written() (files int, longest string, most int) {
	for _, file := range slices.Sorted(maps.Keys(p.lines)) {
		if p.generated[file] {
			continue
		}
		files++
		if p.lines[file] > most {
			longest, most = file, p.lines[file]
		}
	}
	return files, longest, most
}

// largestCircle returns the largest set of files that all need names of each other, directly or through others.
func (p *pkg) largestCircle() []string {
	var best []string
	files := slices.Sorted(maps.Keys(p.lines))
	reach := make(map[string]map[string]bool, len(files))
	for _, file := range files {
		reach[file] = p.reachable(file)
	}
	for _, file := range files {
		circle := slices.DeleteFunc(slices.Clone(files), func(other string) bool {
			return !(reach[file][other] && reach[other][file])
		})
		if len(circle) > len(best) {
			best = circle
		}
	}
	return best
}

func (p *pkg) reachable(from string) map[string]bool {
	seen := map[string]bool{}
	for open := []string{from}; len(open) > 0; {
		file := open[0]
		open = open[1:]
		for to := range p.arrows[file] {
			if !seen[to] {
				seen[to] = true
				open = append(open, to)
			}
		}
	}
	return seen
}

func (p *pkg) printCircle(out io.Writer, circle []string) {
	for _, from := range circle {
		for _, to := range slices.Sorted(maps.Keys(p.arrows[from])) {
			if slices.Contains(circle, to) {
				fmt.Fprintf(out, "%s -> %s: %s\n", from, to, strings.Join(slices.Sorted(slices.Values(p.arrows[from][to])), " "))
			}
		}
	}
}
