// Program bench prints the cost of the client next to the cost of the same work without it, in one table with goals. The benchmarks
// are in the tests of this package; each of their runs measures all sides, and the table has the medians of the runs. The program exits
// with 1 if a goal of allocations, bytes or pages is not met: these do not depend on the machine.
//
//	go run . -quick            under two minutes
//	go run . -only account     only the cases whose names contain the word
//
// To compare without goals, run the benchmarks alone:
//
//	go test -run '^$' -bench 'Account|Transfer' -benchtime 900x -count 10 . | benchstat -col /side -
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

func main() {
	quick := flag.Bool("quick", false, "fewer runs")
	only := flag.String("only", "", "run only the cases whose names contain this")
	flag.Parse()
	rows, err := measure(*only, *quick)
	if err == nil {
		err = printTable(os.Stdout, rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.count && r.met == no }) {
		os.Exit(1)
	}
}

// measure runs the benchmarks of the cases whose names contain a text (only), and returns their rows.
func measure(only string, quick bool) ([]row, error) {
	directory, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	values := &measurements{values: map[string][]float64{}}
	measured := slices.DeleteFunc(cases(), func(c benchCase) bool { return !strings.Contains(c.name, only) })
	for _, c := range measured {
		fmt.Fprintln(os.Stderr, "measuring:", c.name)
		if err := c.run(directory, quick, values); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	var rows []row
	for _, c := range measured {
		if c.rows != nil {
			rows = append(rows, c.rows(values)...)
		}
	}
	if len(values.missing) > 0 {
		return nil, fmt.Errorf("not measured: %s", strings.Join(values.missing, ", "))
	}
	return rows, nil
}

// run builds the test program, unless directory has it, and adds the benchmarks' results to values. Each
// process measures a few runs of every side, so that a change of the machine's speed affects all sides alike.
func (c benchCase) run(directory string, quick bool, values *measurements) error {
	program, packageOf := filepath.Join(directory, "bench.test"), "."
	if strings.HasPrefix(c.benchmark, slotsPrefix) {
		program, packageOf = filepath.Join(directory, "slots.test"), "github.com/cardprograms/prepaid/internal/slots"
	}
	if _, err := os.Stat(program); err != nil {
		if _, err := output("go", "test", "-c", "-o", program, packageOf); err != nil {
			return err
		}
	}
	runs := c.full
	if quick {
		runs = c.quick
	}
	for range runs {
		out, err := output(program, "-test.run=^$", "-test.bench=^Benchmark"+c.benchmark+"$",
			"-test.benchtime="+c.time, "-test.count="+strconv.Itoa(c.count))
		if err != nil {
			return err
		}
		reader := benchfmt.NewReader(bytes.NewReader(out), c.name)
		for reader.Scan() {
			if result, ok := reader.Result().(*benchfmt.Result); ok {
				values.add(result)
			}
		}
		if err := reader.Err(); err != nil {
			return err
		}
	}
	return nil
}

func output(program string, arguments ...string) ([]byte, error) {
	out, err := exec.CommandContext(context.Background(), program, arguments...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return out, nil
}

// measurements has one value for each run, by the name of the benchmark, a space and the unit. Package benchfmt changes
// nanoseconds to seconds.
type measurements struct {
	values  map[string][]float64
	missing []string
}

func (m *measurements) add(result *benchfmt.Result) {
	name, _, _ := strings.Cut(string(result.Name.Full()), "-") // without the number of cores
	for _, value := range result.Values {
		key := name + " " + value.Unit
		m.values[key] = append(m.values[key], value.Value)
	}
}

func (m *measurements) all(key string) []float64 {
	if len(m.values[key]) == 0 {
		m.missing = append(m.missing, key)
		return []float64{math.NaN()}
	}
	return m.values[key]
}

func (m *measurements) median(key string) float64 {
	sample := benchmath.NewSample(m.all(key), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95).Center
}

func (m *measurements) least(key string) float64 { return slices.Min(m.all(key)) }

func (m *measurements) most(key string) float64 { return slices.Max(m.all(key)) }
