package main

import (
	"bytes"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/internal/tests/caller"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestMain(m *testing.M) {
	// A connection whose request was not read to the end is closed half a second later.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

const ada, grace = caller.Ada, caller.Grace

func noEnvironment(string) (string, bool) { return "", false }

// output can be read while it is written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program is a program inside the test.
type program struct {
	*caller.Caller
	server        *prepaidtest.Server
	out, problems *output
}

// launch starts the program on a free port.
func launch(t *testing.T, arguments ...string) *program {
	t.Helper()
	p := &program{out: new(output), problems: new(output)}
	s, err := parse(append([]string{"-listen", "127.0.0.1:0", "-hook-timeout", "10m"}, arguments...), noEnvironment, p.out, p.problems)
	require.NoError(t, err, p.problems.String())
	listener, err := listen(t.Context(), s.ListenOn)
	require.NoError(t, err)
	p.server, err = start(s, listener, p.out, p.problems)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.server.Close()) })
	address := regexp.MustCompile(`Page +(http://\S+)`).FindStringSubmatch(p.out.String())
	require.Len(t, address, 2, p.out.String())
	p.Caller = caller.New(t, address[1])
	return p
}

// idle waits until no message is queued or being sent and no request is running.
func (p *program) idle() {
	p.T.Helper()
	require.NoError(p.T, p.server.WaitIdle(p.T.Context()))
}
