package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// keyInterrupt is Ctrl+C: a terminal in raw mode makes no signal of it.
const keyInterrupt = 3

// linesEvery is how often a line about the progress is printed where there is no terminal.
const linesEvery = 2 * time.Second

// screen shows the view: redrawn in place on a terminal, as a line now and then elsewhere.
type screen struct {
	keys chan byte // pressed; nobody presses any without a terminal

	mu      sync.Mutex
	out     io.Writer
	width   func() int // nil without a terminal
	restore func()
	drawn   int       // lines of the view that are on the terminal
	printed time.Time // when the last line about the progress was
}

// openScreen draws if both in and out are a terminal.
func openScreen(in *os.File, out *output) (*screen, error) {
	s := &screen{out: out, keys: make(chan byte)}
	terminal, ok := out.to.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) || !term.IsTerminal(int(in.Fd())) {
		return s, nil
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	s.restore = func() { _ = term.Restore(int(in.Fd()), state) }
	s.width = func() int {
		width, _, err := term.GetSize(int(terminal.Fd()))
		if err != nil {
			return 80
		}
		return width
	}
	go func() { // ends with the program: a read cannot be interrupted
		var key [1]byte
		for {
			if _, err := in.Read(key[:]); err != nil {
				return
			}
			s.keys <- key[0]
		}
	}()
	return s, nil
}

// live reports whether somebody looks and presses keys.
func (s *screen) live() bool { return s.width != nil }

// show draws the view in place of the one before.
func (s *screen) show(v view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live() {
		if time.Since(s.printed) >= linesEvery {
			s.printed = time.Now()
			fmt.Fprintln(s.out, v.line())
		}
		return
	}
	var text strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", s.drawn) // up
	}
	lines := v.lines()
	for _, line := range lines {
		text.WriteString(cut(line, s.width()-1) + "\x1b[K\r\n") // clears the rest of the line
	}
	text.WriteString("\x1b[J") // and what is below
	s.drawn = len(lines)
	_, _ = io.WriteString(s.out, text.String()) // the output keeps the error
}

// line prints a line where there is no terminal.
func (s *screen) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...)
}

// close leaves the last view on the terminal, and gives the keys back. Closing it again has no effect.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restore != nil {
		s.restore()
		s.restore = nil
	}
}

func cut(line string, width int) string {
	if letters := []rune(line); width > 0 && len(letters) > width {
		return string(letters[:width])
	}
	return line
}
