package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sample is the view in the README.
func sample() view {
	return view{
		at: 12400 * time.Millisecond, service: "emulator", postgres: "its own Postgres",
		taken: 612, refused: 68, again: 103, paid: 540, unknown: 14, queued: 31, sending: 27, oldest: 3200 * time.Millisecond, rate: 42.4,
		processes: []standing{
			{Name: "web", PID: 4801, Doing: "waits", Orders: 715},
			{Name: "worker 1", PID: 4911, Doing: "sends 6", Paid: 213, Unknown: 6, Kills: 2},
			{Name: "worker 2", PID: 4803, Doing: "frozen for 3 s", Paid: 180, Unknown: 8},
			{Name: "worker 3", Doing: "starts again", Paid: 147, Kills: 1},
		},
		events: []event{
			{8100 * time.Millisecond, "worker 2 frozen (pid 4803)"}, {12 * time.Second, "worker 3 killed (pid 4805); it starts again"},
		},
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	require.Equal(t, `payouts   its own Postgres, emulator   12 s

orders      612   rolled back 68, posted again 103
paid        540   [##########################....]  88 %   42/s
queued       31   sending 27, unknown 14, rejected 0, for a person 0, oldest 3.2 s

web          4801   waits            715 requests
worker 1     4911   sends 6          213 paid, 6 unknown, killed 2 times
worker 2     4803   frozen for 3 s   180 paid, 8 unknown
worker 3        -   starts again     147 paid, killed 1 time

  8.1 s  worker 2 frozen (pid 4803)
 12.0 s  worker 3 killed (pid 4805); it starts again







k 1 2 3 kill a worker   f freeze one   w kill web   p kill Postgres   l lose responses   q finish`, strings.Join(sample().lines(), "\n"))
	require.Equal(t, " 12.4 s  orders 612, paid 540, queued 31, sending 27, unknown 14, oldest 3.2 s, 42/s", sample().line())
	v := sample()
	v.away, v.shut = true, true
	require.Contains(t, v.line(), "(Postgres does not respond)")
	require.Contains(t, v.lines()[len(v.lines())-1], "ends as soon as everything is paid")
}

func TestBar(t *testing.T) {
	t.Parallel()
	require.Equal(t, "["+strings.Repeat(".", 30)+"]", bar(0, 0))
	require.Equal(t, "["+strings.Repeat("#", 15)+strings.Repeat(".", 15)+"]", bar(1, 2))
	require.Equal(t, "["+strings.Repeat("#", 30)+"]", bar(3, 2), "an order that is paid before its customer knows")
	require.Equal(t, 0, percent(0, 0))
}

// The README shows what the program does.
func TestReadmeShowsTheView(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, line := range sample().lines() {
		require.Contains(t, string(readme), line)
	}
}

func TestScreenWithoutTerminal(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	s, err := openScreen(os.Stdin, &output{to: &text})
	require.NoError(t, err)
	require.False(t, s.live())
	s.show(sample())
	s.show(sample()) // too early for another line
	newEvents(s).add(time.Second, "something happened")
	s.close()
	require.Equal(t, sample().line()+"\n  1.0 s  something happened\n", text.String())
}

func TestScreenIsDrawnInPlace(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	restored := 0
	s := &screen{out: &text, width: func() int { return 40 }, restore: func() { restored++ }}
	e := newEvents(s)
	for n := range 20 {
		e.add(time.Duration(n)*time.Second, "event")
	}
	v := sample()
	v.events = e.recent()
	require.Len(t, v.events, shownEvents)
	require.Equal(t, 19*time.Second, v.events[shownEvents-1].at)
	s.show(v)
	first := text.String()
	require.NotContains(t, first, "\x1b[21A")
	text.Reset()
	s.show(v)
	require.Equal(t, "\x1b[21A"+first, text.String(), "over the first")
	for line := range strings.SplitSeq(first, "\x1b[K\r\n") {
		require.Less(t, len([]rune(line)), 40+len("\x1b[J"))
	}
	s.close()
	s.close()
	require.Equal(t, 1, restored)
}
