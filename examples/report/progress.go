package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/cardprograms/prepaid"
)

// progress is a line that says how far a download is: on a terminal, and nowhere else.
type progress struct {
	to  *os.File // nil when there is no terminal
	bar *progressbar.ProgressBar
}

func newProgress(errOut io.Writer) *progress {
	file, ok := errOut.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{to: file}
}

// show is called by the SDK after each poll and, while rows come, about once a MiB. How many there will be is told at the
// very end only, so that there is no percentage.
func (p *progress) show(at prepaid.ReportProgress) {
	if p.to == nil {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(-1,
			progressbar.OptionSetWriter(p.to), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine of its own: it turns when something has happened
		)
	}
	text := "asked once, not ready yet"
	if at.Polls > 1 {
		text = fmt.Sprintf("asked %d times, not ready yet", at.Polls)
	}
	if at.Bytes > 0 {
		text = fmt.Sprintf("%d rows, %.1f MiB", at.Records, float64(at.Bytes)/(1<<20))
	}
	p.bar.Describe(text)
	_ = p.bar.Add(1) // writes to the terminal
}

// done takes the line away; the next show begins another.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
