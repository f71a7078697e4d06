package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a progress line, shown on a terminal only.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(errOut io.Writer) *progress {
	file, ok := errOut.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(file), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // without a goroutine: it turns when something has happened
	)}
}

// show is called after each account. The total is known only at the end: the company search need not report it.
func (p *progress) show(s *summary) {
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("accounts %s, transactions %s", grouped(len(s.statements)), grouped(s.total.Items)))
		_ = p.bar.Add(1) // writes to the terminal
	}
}

// done removes the line.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
