package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/time/rate"
)

// The allowance of the built-in limiter is fixed, so users of the client cannot make a limiter that never blocks. So the
// benchmarks of the limiter are in the test program of its package. This program runs them and x/time/rate alternately.

// limiterRows compares one acquire and release with one Wait of x/time/rate, and tests a queue of 10,000 waiters.
func limiterRows(rounds int) ([]row, error) {
	directory, err := os.MkdirTemp("", "limiter-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	program := filepath.Join(directory, "slots.test")
	build := exec.CommandContext(context.Background(), "go", "test", "-c", "-o", program, "github.com/cardprograms/prepaid/internal/slots")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	var baseline, ours []float64
	allocations, overtaken := 0.0, 0.0
	for range rounds {
		baseline = append(baseline, rateWait())
		values, err := runBenchmark(program, "^BenchmarkSlotLimiter$/^response$")
		if err != nil {
			return nil, err
		}
		ours = append(ours, values["ns/op"])
		allocations = max(allocations, values["allocs/op"])
	}
	values, err := runBenchmark(program, "^BenchmarkSlotLimiterLine$")
	if err != nil {
		return nil, err
	}
	overtaken = values["overtaken"]
	return []row{
		atMost("limiter, acquire and release", median(baseline), median(ours), 2, nanoseconds),
		bounded("limiter, allocations", allocations, 0, count).counted(),
		bounded("limiter, overtaken in a line of 10,000", overtaken, 0, count).counted(),
	}, nil
}

// rateWait returns the cost of one Wait that does not block.
func rateWait() float64 {
	limiter := rate.NewLimiter(rate.Limit(1e9), 1<<17)
	ctx := context.Background()
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := limiter.Wait(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	return float64(result.T.Nanoseconds()) / float64(result.N)
}

// runBenchmark runs one benchmark of a test program and returns its values by unit.
func runBenchmark(program, pattern string) (map[string]float64, error) {
	run := exec.CommandContext(context.Background(), program, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", "1s", "-test.cpu", "1")
	out, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		values := make(map[string]float64)
		for i := 2; i+1 < len(words); i += 2 {
			value, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, err
			}
			values[words[i+1]] = value
		}
		return values, nil
	}
	return nil, fmt.Errorf("no benchmark %s", pattern)
}
