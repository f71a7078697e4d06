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

type Client struct{}
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
	faults := func() []string {
		p, err := load(directory)
		require.NoError(t, err)
		return p.faults()
	}
	for _, fault := range faults() {
		at, rest, _ := strings.Cut(fault, ": ")
		require.Contains(t, rest, " outside a synctest bubble")
		got = append(got, at)
	}
	require.ElementsMatch(t, want, got)
	require.NoError(t, os.Remove(filepath.Join(directory, "small_test.go")))
	require.Empty(t, faults())
	require.NoError(t, os.Remove(filepath.Join(directory, "go.mod")))
	_, err := load(directory)
	require.Error(t, err)
}
