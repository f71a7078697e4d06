package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A wait does not look like a halt.
func TestBarIsAliveWhileNothingComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := newBar(&out, "paying", "payments", 10)
		b.add()
		time.Sleep(7*time.Second + 300*time.Millisecond)
		b.end()
		require.Contains(t, out.String(), "paying (waiting for 7 s)")
		require.Contains(t, out.String(), "1/10")
	})
}
