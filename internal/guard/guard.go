// Package guard calls functions of the caller: a panic or a runtime.Goexit in them ends neither a goroutine of this module nor the process.
package guard

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Error reports that a function panicked or ended its goroutine. It drops the value of the panic, whose text may be private.
type Error struct {
	Type  string // of the panic's value; empty after runtime.Goexit
	Stack []byte // of the panic
}

func (e *Error) Error() string {
	if e.Type == "" {
		return "runtime.Goexit was called"
	}
	return "panic: " + e.Type
}

// Call calls f in its own goroutine, and returns an error if f panicked or ended the goroutine.
func Call(f func()) *Error {
	ended := make(chan *Error)
	go Then(f, func(failure *Error) { ended <- failure })
	return <-ended
}

// Then calls f in this goroutine, and then done, with an error if f panicked or is ending the goroutine.
func Then(f func(), done func(*Error)) {
	failure := &Error{}
	defer func() {
		if cause := recover(); cause != nil {
			failure.Type, failure.Stack = fmt.Sprintf("%T", cause), debug.Stack()
		}
		done(failure)
	}()
	f()
	failure = nil
}

// Do is [Call] for a function that returns an error. In the text of an [*Error], name says whose code failed.
func Do(name string, f func() error) error {
	_, err := Get(name, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// Get is [Do] for a function with another result.
func Get[T any](name string, f func() (T, error)) (result T, err error) {
	if failure := Call(func() { result, err = f() }); failure != nil {
		return result, fmt.Errorf("%s: %w", name, failure)
	}
	return result, err
}

// Logger returns a logger that loses the records for which the handler of log fails.
func Logger(log *slog.Logger) *slog.Logger { return slog.New(handler{log.Handler()}) }

type handler struct{ of slog.Handler }

func (h handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	_ = Call(func() { enabled = h.of.Enabled(ctx, level) })
	return enabled
}

func (h handler) Handle(ctx context.Context, record slog.Record) (err error) {
	_ = Call(func() { err = h.of.Handle(ctx, record) })
	return err
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	_ = Call(func() { h.of = h.of.WithAttrs(attrs) })
	return h
}

func (h handler) WithGroup(name string) slog.Handler {
	_ = Call(func() { h.of = h.of.WithGroup(name) })
	return h
}

// Hook calls f, and logs if f fails.
func Hook(log *slog.Logger, name string, f func()) {
	if err := Call(f); err != nil {
		log.LogAttrs(context.Background(), slog.LevelError, "prepaid: a hook failed", slog.String("hook", name), slog.String("error", err.Error()))
	}
}
