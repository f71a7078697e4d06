// Package guard calls functions of the caller: a panic or a runtime.Goexit in them ends neither a goroutine of this module nor the process.
package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

var errGoexit = errors.New("runtime.Goexit was called")

// Call calls f in its own goroutine, and returns an error if f panicked or ended the goroutine.
func Call(f func()) error {
	ended := make(chan error)
	go func() {
		err := errGoexit
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %T", cause) // its text may be private
			}
			ended <- err
		}()
		f()
		err = nil
	}()
	return <-ended
}

// Get is [Call] for a function with results.
func Get[T any](f func() (T, error)) (result T, err error) {
	if unsafe := Call(func() { result, err = f() }); unsafe != nil {
		return result, unsafe
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
