package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how many rules are done, on a terminal only.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(to io.Writer) *progress {
	file, isFile := to.(*os.File)
	visible := isFile && term.IsTerminal(int(file.Fd()))
	return &progress{progressbar.NewOptions(0,
		progressbar.OptionSetWriter(to), progressbar.OptionSetVisibility(visible), progressbar.OptionSetDescription("rules"),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
	)}
}

// more adds rules to do, including those that an earlier round has left undone.
func (p *progress) more(rules int) { p.bar.ChangeMax64(p.bar.State().CurrentNum + int64(rules)) }

// done counts. A failure of the display is no reason to stop.
func (p *progress) done(rules int) { _ = p.bar.Add(rules) }

func (p *progress) close() { _ = p.bar.Finish() }
