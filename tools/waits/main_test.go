package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const client = `package small

import "time"

type Client struct{ AttemptTimeout time.Duration }
`

// The lines that the check must report end in a comment.
const tests = `package small

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestInABubble(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		_ = Client{AttemptTimeout: time.Second}
		_ = inBubbles(time.Now())
		var w waiter = slow{}
		w.wait()
	})
	runs(t, func() { <-time.Tick(1) })
}

type waiter interface{ wait() }

type slow struct{}

func (slow) wait() { <-time.After(1) }

func inBubbles(began time.Time) bool { return time.Since(began) > 0 }

func runs(t *testing.T, body func()) { synctest.Test(t, func(*testing.T) { body() }) }

//waits:bubble
func later() func() { return func() { time.Sleep(1) } }

func TestOfATable(t *testing.T) {
	for _, one := range []struct{ body func() }{{func() { time.Sleep(1) }}, {later()}} {
		synctest.Test(t, func(*testing.T) { one.body() })
	}
}

func TestOutside(t *testing.T) {
	time.Sleep(1)                            // report
	c := Client{AttemptTimeout: time.Second} // report
	c.AttemptTimeout = 9 * time.Second       // report
	c.AttemptTimeout = 10 * time.Second
	var w waiter = timer{}
	w.wait()
	for _, one := range []struct{ body func() }{{func() { time.Sleep(1) }}} { // report
		one.body()
	}
}

type timer struct{}

func (timer) wait() { <-time.NewTimer(1).C } // report

var sleep = time.Sleep // report

func ExampleClient() {
	sleep(1)
	_, cancel := context.WithTimeout(context.Background(), time.Millisecond) // report
	cancel()
	_, cancel = context.WithTimeout(context.Background(), time.Minute)
	cancel()
}

func unused() { time.Sleep(1) }
`

func TestRun(t *testing.T) {
	directory := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/small\n\ngo 1.26\n", "small.go": client, "small_test.go": tests} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
	}
	var want, got []string
	for i, line := range strings.Split(tests, "\n") {
		if strings.HasSuffix(line, "// report") {
			want = append(want, fmt.Sprintf("small_test.go:%d", i+1))
		}
	}
	var out, problems strings.Builder
	require.Equal(t, 1, run(directory, &out, &problems), problems.String())
	for line := range strings.Lines(out.String()) {
		at, _, _ := strings.Cut(line, ": ")
		got = append(got, at)
	}
	require.ElementsMatch(t, want, got, out.String())
	require.Contains(t, out.String(), "small_test.go:53: time.NewTimer outside a synctest bubble, reached from small_test.go:44\n")
	require.NoError(t, os.Remove(filepath.Join(directory, "small_test.go")))
	require.Zero(t, run(directory, &out, &problems))
	require.NoError(t, os.Remove(filepath.Join(directory, "go.mod")))
	require.Equal(t, 2, run(directory, &out, &problems))
}
