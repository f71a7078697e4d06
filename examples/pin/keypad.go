package main

import (
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
	errLong    = errors.New("a line is too long")
)

// longestLine is more than any PIN or one-time password has.
const longestLine = 64

// typed is a keypad on a terminal, without echo, or else a stream of two lines. PINs are never read from a flag or an
// environment variable, which other programs can see.
type typed struct {
	in       io.Reader
	prompts  io.Writer
	terminal *os.File // nil for a stream
}

func newTyped(in io.Reader, prompts io.Writer) *typed {
	t := &typed{in: in, prompts: prompts}
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
	again, err := t.ask(ctx, "New PIN again: ") // nobody sees what was typed
	if err == nil && !pin.Equal(again) {
		err = errDiffer
	}
	return pin, err
}

func (t *typed) oneTimePassword(ctx context.Context) (prepaid.Secret, error) {
	return t.ask(ctx, "One-time password: ")
}

// ask reads a line, until ctx ends.
func (t *typed) ask(ctx context.Context, prompt string) (prepaid.Secret, error) {
	read := func() ([]byte, error) { return readLine(t.in) }
	if t.terminal != nil {
		fd := int(t.terminal.Fd())
		before, err := term.GetState(fd)
		if err != nil {
			return prepaid.Secret{}, err
		}
		fmt.Fprint(t.prompts, prompt)
		defer func() {
			_ = term.Restore(fd, before) // also if Ctrl+C leaves the read behind: the echo must come back
			fmt.Fprintln(t.prompts)
		}()
		read = func() ([]byte, error) { return term.ReadPassword(fd) }
	}
	type result struct {
		line []byte
		err  error
	}
	answer := make(chan result, 1)
	go func() { // such a read cannot be cancelled; the process ends soon
		line, err := read()
		answer <- result{line, err}
	}()
	select {
	case r := <-answer:
		defer clear(r.line)
		if errors.Is(r.err, io.EOF) || r.err == nil && len(r.line) == 0 {
			return prepaid.Secret{}, errNoInput
		}
		return prepaid.NewSecret(string(r.line)), r.err
	case <-ctx.Done():
		return prepaid.Secret{}, errStopped
	}
}

// readLine reads no further than the end of the line, and leaves no copy in a buffer.
func readLine(from io.Reader) ([]byte, error) {
	line := make([]byte, 0, longestLine)
	var b [1]byte
	for {
		n, err := from.Read(b[:])
		switch {
		case n == 1 && b[0] == '\n', errors.Is(err, io.EOF) && n == 0 && len(line) > 0:
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			return line, nil
		case n == 1 && len(line) == longestLine:
			clear(line)
			return nil, errLong
		case n == 1:
			line = append(line, b[0])
		case err != nil:
			clear(line)
			return nil, err
		}
	}
}
