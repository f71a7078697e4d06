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

// newProgress returns a progress line, which is visible on a terminal only. The total is known only at the end, so there is no
// percentage.
func newProgress(errOut io.Writer) *progressbar.ProgressBar {
	file, ok := errOut.(*os.File)
	return progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(errOut), progressbar.OptionSetVisibility(ok && term.IsTerminal(int(file.Fd()))),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0)) // without a goroutine: the spinner turns only on progress
}

// show prints the progress. The SDK calls it after each poll and, while rows arrive, about once per MiB.
func (d *download) show(at prepaid.ReportProgress) {
	text := fmt.Sprintf("polls: %d, not ready yet", at.Polls)
	if at.Bytes > 0 {
		text = fmt.Sprintf("%d rows, %.1f MiB", at.Records, float64(at.Bytes)/(1<<20))
	}
	d.progress.Describe(text)
	_ = d.progress.Add(1) // an error affects only the display
}
