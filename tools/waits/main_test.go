package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const imports = "package small\n\nimport (\n\t\"testing\"\n\t\"testing/synctest\"\n\t\"time\"\n)\n\n"

// Each test has the lines that the check must report, by a comment at their end.
var tests = map[string]string{
	"go.mod": "module example.com/small\n\ngo 1.26\n",
	"small.go": `package small

import "time"

type Client struct{ AttemptTimeout time.Duration }

func Wait() { time.Sleep(1) }
`,
	"bubble_test.go": imports + `
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		time.Sleep(1)
		c := Client{AttemptTimeout: time.Second}
		c.AttemptTimeout = 1
		called(time.Now())
		var w waiter = slow{}
		w.wait()
	})
}

type waiter interface{ wait() }

type slow struct{}

func (slow) wait() { <-time.After(1) }

func called(began time.Time) bool { return time.Since(began) > 0 }

func run(t *testing.T, body func()) { synctest.Test(t, func(*testing.T) { body() }) }

func TestThroughAFunction(t *testing.T) { run(t, func() { <-time.Tick(1) }) }

func TestOfATable(t *testing.T) {
	for _, body := range []func(*testing.T){func(*testing.T) { time.Sleep(1) }} {
		synctest.Test(t, body)
	}
}

func TestOfAField(t *testing.T) {
	for _, one := range []struct{ body func() }{{func() { time.Sleep(1) }}} {
		synctest.Test(t, func(*testing.T) { one.body() })
	}
}

//waits:bubble
func later() func() { return func() { time.Sleep(1) } }

func TestOfAResult(t *testing.T) {
	body := later()
	synctest.Test(t, func(*testing.T) { body() })
}

func ExampleClient() { time.Sleep(1) } // it is compiled and not run
`,
	"real_test.go": `package small

import (
	"context"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"
)

func TestOutside(t *testing.T) {
	time.Sleep(1)                           // report
	c := Client{AttemptTimeout: time.Second} // report
	c.AttemptTimeout = 9 * time.Second       // report
	c.AttemptTimeout = 10 * time.Second
	helper(t)
	var w waiting = timer{}
	w.wait()
	synctest.Test(t, func(*testing.T) { process() })
	sleep := time.Sleep // report
	sleep(1)
}

func TestOfAFieldOutside(t *testing.T) {
	for _, one := range []struct{ body func() }{
		{func() { time.Sleep(1) }}, // report
	} {
		one.body()
	}
}

func helper(t *testing.T) {
	_, cancel := context.WithTimeout(t.Context(), time.Millisecond) // report
	cancel()
	_, cancel = context.WithTimeout(t.Context(), time.Minute)
	cancel()
}

type waiting interface{ wait() }

type timer struct{}

func (timer) wait() { <-time.NewTimer(1).C } // report

func process() { _ = exec.Command("true").Run() } // report

func unused() { time.Sleep(1) }

func ExampleWait() {
	time.Sleep(1) // report
	// Output:
}
`,
}

func TestRun(t *testing.T) {
	directory := t.TempDir()
	var want []string
	for name, text := range tests {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
		for i, line := range strings.Split(text, "\n") {
			if strings.HasSuffix(line, "// report") {
				want = append(want, fmt.Sprintf("%s:%d", name, i+1))
			}
		}
	}
	var out, problems strings.Builder
	require.Equal(t, 1, run(directory, &out, &problems), problems.String())
	var got []string
	for line := range strings.Lines(out.String()) {
		at, _, _ := strings.Cut(line, ": ")
		got = append(got, at)
	}
	require.ElementsMatch(t, want, got, out.String())
	require.Contains(t, out.String(), "real_test.go:43: time.NewTimer outside a synctest bubble, reached from real_test.go:17\n")

	require.NoError(t, os.Remove(filepath.Join(directory, "real_test.go")))
	require.Zero(t, run(directory, &out, &problems))
	require.NoError(t, os.Remove(filepath.Join(directory, "go.mod")))
	require.Equal(t, 2, run(directory, &out, &problems))
}
