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

// progress is a progress line, shown on a terminal only.
type progress struct {
	to  *os.File // nil without a terminal
	bar *progressbar.ProgressBar
}

func newProgress(errOut io.Writer) *progress {
	file, ok := errOut.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{to: file}
}

// show is called by the SDK after each poll and, while rows arrive, about once per MiB. The total is known only at the
// end, so there is no percentage.
func (p *progress) show(at prepaid.ReportProgress) {
	if p.to == nil {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(-1,
			progressbar.OptionSetWriter(p.to), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetSpinnerChangeInterval(0), // without a goroutine: it turns when something has happened
		)
	}
	text := "polled once, not ready yet"
	if at.Polls > 1 {
		text = fmt.Sprintf("polled %d times, not ready yet", at.Polls)
	}
	if at.Bytes > 0 {
		text = fmt.Sprintf("%d rows, %.1f MiB", at.Records, float64(at.Bytes)/(1<<20))
	}
	p.bar.Describe(text)
	_ = p.bar.Add(1) // writes to the terminal
}

// done removes the line; the next show starts another.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
