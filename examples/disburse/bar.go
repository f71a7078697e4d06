package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	redraw = 250 * time.Millisecond
	quiet  = 2 * time.Second // after which the bar shows for how long nothing has arrived
)

// bar is a progress bar that is also redrawn while nothing happens: the rate limit admits payments in bursts, and a
// wait must not look like a hang.
type bar struct {
	*progressbar.ProgressBar

	doing atomic.Pointer[string]
	last  atomic.Pointer[time.Time] // when something last arrived
	stop  chan struct{}
	drawn sync.WaitGroup
}

func newBar(to io.Writer, doing, unit string, most int) *bar {
	b := &bar{stop: make(chan struct{}), ProgressBar: progressbar.NewOptions(most,
		progressbar.OptionSetWriter(to), progressbar.OptionSetDescription(doing), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit), progressbar.OptionThrottle(redraw-50*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // it is drawn by the goroutine below
	)}
	b.doing.Store(&doing)
	b.last.Store(new(time.Now()))
	b.drawn.Go(func() {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.Describe(b.text())
			case <-b.stop:
				return
			}
		}
	})
	return b
}

func (b *bar) text() string {
	text := *b.doing.Load()
	if since := time.Since(*b.last.Load()); since >= quiet {
		text += fmt.Sprintf(" (waiting for %d s)", int(since.Seconds()))
	}
	return text
}

func (b *bar) add() {
	b.last.Store(new(time.Now()))
	_ = b.Add(1) // writes to the terminal
}

func (b *bar) end() {
	close(b.stop)
	b.drawn.Wait()
	_ = b.Clear()
}
