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

var errDiffer = errors.New("the two PINs differ")

// terminal is a keypad that reads without echo. PINs never come from a flag or an environment variable: other programs
// can see flags and variables.
type terminal struct {
	file    *os.File
	prompts io.Writer
}

func (t terminal) newPIN(ctx context.Context) (prepaid.Secret, error) {
	pin, err := t.ask(ctx, "New PIN: ")
	if err != nil {
		return pin, err
	}
	again, err := t.ask(ctx, "New PIN again: ") // asked twice, because the input is not shown
	if err == nil && !pin.Equal(again) {
		err = errDiffer
	}
	return pin, err
}

func (t terminal) oneTimePassword(ctx context.Context) (prepaid.Secret, error) {
	return t.ask(ctx, "One-time password: ")
}

// ask reads a line. It returns errStopped if ctx ends first.
func (t terminal) ask(ctx context.Context, prompt string) (prepaid.Secret, error) {
	fd := int(t.file.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return prepaid.Secret{}, fmt.Errorf("the input must be a terminal: %w", err)
	}
	fmt.Fprint(t.prompts, prompt)
	defer func() {
		_ = term.Restore(fd, before) // Ctrl+C can leave the read running, but the echo must return
		fmt.Fprintln(t.prompts)
	}()
	type result struct {
		line []byte
		err  error
	}
	results := make(chan result, 1)
	go func() { // a read cannot be cancelled; after the end of ctx, the process ends soon
		line, err := term.ReadPassword(fd)
		results <- result{line, err}
	}()
	select {
	case r := <-results:
		return prepaid.NewSecret(string(r.line)), r.err
	case <-ctx.Done():
		return prepaid.Secret{}, errStopped
	}
}
