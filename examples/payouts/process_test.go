package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// said collects events.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) event(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func testProcess(kind string) (*process, *said) {
	s := &said{}
	return &process{name: "worker 1", args: []string{"work"}, environment: append(os.Environ(), childEnv+"="+kind), logs: io.Discard, event: s.event}, s
}

func requireDoing(t *testing.T, p *process, want string) standing {
	t.Helper()
	require.Eventually(t, func() bool { return p.standing().Doing == want }, 10*time.Second, 5*time.Millisecond, want)
	return p.standing()
}

func TestProcessIsKilledFrozenAndStopped(t *testing.T) {
	t.Parallel()
	p, events := testProcess("idle")
	ended := make(chan error, 1)
	go func() { ended <- p.run(t.Context()) }()
	first := requireDoing(t, p, "waits")
	require.Equal(t, int64(7), first.Paid)

	require.True(t, p.kill())
	requireDoing(t, p, "starts again")
	require.False(t, p.kill(), "it is dead")
	require.False(t, p.freeze())
	second := requireDoing(t, p, "waits")
	require.NotEqual(t, first.PID, second.PID)
	require.Equal(t, standing{Name: "worker 1", PID: second.PID, Doing: "waits", Paid: 14, Kills: 1}, second, "of both runs")

	require.True(t, p.freeze())
	require.False(t, p.freeze(), "it is frozen")
	requireDoing(t, p, "frozen for 0 s")
	p.thaw()
	p.thaw()
	requireDoing(t, p, "waits")

	require.True(t, p.freeze())
	p.stop()
	require.NoError(t, <-ended)
	require.Equal(t, "ended", p.standing().Doing)
	require.Equal(t, []string{
		fmt.Sprintf("worker 1 killed (pid %d); it starts again", first.PID),
		fmt.Sprintf("worker 1 frozen (pid %d)", second.PID), "worker 1 continues after 0.0 s",
		fmt.Sprintf("worker 1 frozen (pid %d)", second.PID), "worker 1 continues after 0.0 s",
	}, events.lines)
	require.NoError(t, p.run(t.Context()), "it does not start again")
}

func TestProcessEndsByItself(t *testing.T) {
	t.Parallel()
	p, events := testProcess("idle")
	ended := make(chan error, 1)
	go func() { ended <- p.run(t.Context()) }()
	first := requireDoing(t, p, "waits")
	running, err := os.FindProcess(first.PID)
	require.NoError(t, err)
	require.NoError(t, running.Kill()) // by somebody else
	requireDoing(t, p, "starts again")
	requireDoing(t, p, "waits")
	p.stop()
	require.NoError(t, <-ended)
	require.Equal(t, []string{"worker 1 ended (signal: killed); it starts again"}, events.lines)
}

// A program with wrong settings would be started for ever.
func TestProcessThatCannotStart(t *testing.T) {
	t.Parallel()
	p, _ := testProcess("wrong")
	require.EqualError(t, p.run(t.Context()), "worker 1: exit status 2")
}

func TestProcessStopsBetweenTwoRuns(t *testing.T) {
	t.Parallel()
	p, _ := testProcess("idle")
	ended := make(chan error, 1)
	go func() { ended <- p.run(t.Context()) }()
	requireDoing(t, p, "waits")
	require.True(t, p.kill())
	requireDoing(t, p, "starts again")
	p.stop()
	require.NoError(t, <-ended)
}
