package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The programs below small/ are measured as a whole: from the start of the process, and with its resident memory.

// buildPrograms builds some of them, stripped, and returns their files by name.
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
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // otherwise the pages of the C library count
		if out, err := build.CombinedOutput(); err != nil {
			remove()
			return nil, nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	return files, remove, nil
}

// ran is one run of a program.
type ran struct {
	output    string
	processor time.Duration // of the whole process
	wall      time.Duration // until it had printed a line
}

// runProgram runs a program to its end.
func runProgram(environment []string, arguments ...string) (ran, error) {
	var r ran
	command := exec.CommandContext(context.Background(), arguments[0], arguments[1:]...)
	command.Env, command.Stderr = append(os.Environ(), append(environment, "GOGC=100")...), os.Stderr
	printed := &firstWrite{}
	command.Stdout = printed
	printed.began = time.Now()
	if err := command.Run(); err != nil {
		return r, fmt.Errorf("%s: %w", strings.Join(arguments, " "), err)
	}
	return ran{printed.String(), command.ProcessState.UserTime() + command.ProcessState.SystemTime(), printed.after}, nil
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
func peakMemory(status string) (float64, error) {
	_, after, ok := strings.Cut(status, "VmHWM:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, err := strconv.ParseFloat(kilobytes, 64)
	if !ok || err != nil {
		return 0, errors.New("no VmHWM in the status of a process")
	}
	return n * 1024, nil
}
