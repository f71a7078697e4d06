package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/cardprograms/prepaid"
)

var (
	errDiffer  = errors.New("the two PINs differ")
	errNoInput = errors.New("a line is missing: the new PIN comes first, then the one-time password")
)

// longestLine is longer than any PIN or one-time password.
const longestLine = 64

// typed is a keypad that reads from a terminal without echo, or two lines from another stream. PINs never come from a
// flag or an environment variable: other programs can see flags and variables.
type typed struct {
	lines    *bufio.Scanner
	prompts  io.Writer
	terminal *os.File // nil for a stream
}

func newTyped(in io.Reader, prompts io.Writer) *typed {
	t := &typed{lines: bufio.NewScanner(in), prompts: prompts}
	t.lines.Buffer(make([]byte, 0, longestLine), longestLine)
	if file, ok := in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.terminal = file
	}
	return t
}

func (t *typed) newPIN(ctx context.Context) (prepaid.Secret, error) {
	pin, err := t.ask(ctx, "New PIN: ")
	if err != nil || t.terminal == nil {
		return pin, err
	}
	again, err := t.ask(ctx, "New PIN again: ") // asked twice, because the input is not shown
	if err == nil && !pin.Equal(again) {
		err = errDiffer
	}
	return pin, err
}

func (t *typed) oneTimePassword(ctx context.Context) (prepaid.Secret, error) {
	return t.ask(ctx, "One-time password: ")
}

// ask reads a line. It returns errStopped if ctx ends first.
func (t *typed) ask(ctx context.Context, prompt string) (prepaid.Secret, error) {
	read := func() (string, error) {
		t.lines.Scan()
		return t.lines.Text(), t.lines.Err()
	}
	if t.terminal != nil {
		fd := int(t.terminal.Fd())
		before, err := term.GetState(fd)
		if err != nil {
			return prepaid.Secret{}, err
		}
		fmt.Fprint(t.prompts, prompt)
		defer func() {
			_ = term.Restore(fd, before) // Ctrl+C can leave the read running, but the echo must return
			fmt.Fprintln(t.prompts)
		}()
		read = func() (string, error) {
			line, err := term.ReadPassword(fd)
			return string(line), err
		}
	}
	type result struct {
		line string
		err  error
	}
	results := make(chan result, 1)
	go func() { // a read cannot be cancelled; after the end of ctx, the process ends soon
		line, err := read()
		results <- result{line, err}
	}()
	select {
	case r := <-results:
		if errors.Is(r.err, io.EOF) || r.err == nil && r.line == "" {
			return prepaid.Secret{}, errNoInput
		}
		return prepaid.NewSecret(r.line), r.err
	case <-ctx.Done():
		return prepaid.Secret{}, errStopped
	}
}
