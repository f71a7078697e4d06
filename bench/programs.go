package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The programs in small/ are measured as whole processes: start-up time and resident memory.

// buildPrograms builds the named programs, stripped, and returns their files by name.
func buildPrograms(names ...string) (files map[string]string, remove func(), err error) {
	directory, err := os.MkdirTemp("", "programs-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(directory) }
	files = map[string]string{}
	for _, name := range names {
		files[name] = filepath.Join(directory, name)
		build := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", files[name], "./small/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // with cgo, the memory of the C library would count too
		if out, err := build.CombinedOutput(); err != nil {
			remove()
			return nil, nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	return files, remove, nil
}

// measured has the costs of one process: the processor time and the wall time until the first output, in nanoseconds, and the
// largest resident memory if the process prints it.
type measured struct{ processor, wall, peak float64 }

// inTurns runs programs to their end, alternately, and returns the medians.
func inTurns(rounds int, environment []string, programs ...[]string) ([]measured, error) {
	all := make([][]measured, len(programs))
	for i := range rounds * len(programs) {
		which := i % len(programs)
		if i/len(programs)%2 == 1 { // every second round in reverse order, so that machine drift affects all programs equally
			which = len(programs) - 1 - which
		}
		m, err := runProgram(environment, programs[which]...)
		if err != nil {
			return nil, err
		}
		all[which] = append(all[which], m)
	}
	medians := make([]measured, len(programs))
	for i, of := range all {
		pick := func(field func(measured) float64) float64 {
			values := make([]float64, len(of))
			for i, m := range of {
				values[i] = field(m)
			}
			return median(values)
		}
		medians[i] = measured{
			pick(func(m measured) float64 { return m.processor }), pick(func(m measured) float64 { return m.wall }),
			pick(func(m measured) float64 { return m.peak }),
		}
	}
	return medians, nil
}

func runProgram(environment []string, arguments ...string) (measured, error) {
	command := exec.CommandContext(context.Background(), arguments[0], arguments[1:]...)
	command.Env, command.Stderr = append(os.Environ(), append(environment, "GOGC=100")...), os.Stderr
	printed := &firstWrite{}
	command.Stdout = printed
	printed.began = time.Now()
	if err := command.Run(); err != nil {
		return measured{}, fmt.Errorf("%s: %w", strings.Join(arguments, " "), err)
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return measured{float64(used), float64(printed.after), peakMemory(printed.String())}, nil
}

// firstWrite keeps the output, and the time from the start to its first byte.
type firstWrite struct {
	strings.Builder
	began time.Time
	after time.Duration
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.after == 0 {
		w.after = time.Since(w.began)
	}
	return w.Builder.Write(p)
}

// peakMemory reads the largest resident memory from the status that Linux reports for a process.
func peakMemory(status string) float64 {
	_, after, _ := strings.Cut(status, "VmHWM:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.ParseFloat(kilobytes, 64)
	return n * 1024
}
