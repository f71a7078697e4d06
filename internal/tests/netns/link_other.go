//go:build !linux

package netns

import (
	"net"
	"os/exec"
	"testing"
)

// Link is not available on this system.
type Link struct{}

// New skips the test.
func New(tb testing.TB) *Link {
	tb.Helper()
	check(tb, errUnavailable)
	return nil
}

// Through skips the test.
func Through(tb testing.TB) (front, back *Link) {
	tb.Helper()
	return New(tb), nil
}

// Listen is not available on this system.
func (*Link) Listen() net.Listener { return nil }

// Start is not available on this system.
func (*Link) Start(*exec.Cmd) error { return errUnavailable }

// Cut is not available on this system.
func (*Link) Cut() {}

// Lose is not available on this system.
func (*Link) Lose(Direction) {}

// Heal is not available on this system.
func (*Link) Heal() {}

// Capture is not available on this system.
func (*Link) Capture() func() []Segment { return nil }
