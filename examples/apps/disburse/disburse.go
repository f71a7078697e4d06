package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// disbursement is one run of the program.
type disbursement struct {
	settings

	job         *job
	out, errOut io.Writer
	list        *list
	journal     *journalfile.Journal
	resumed     bool      // the journal has entries
	locked      time.Time // when this run locked the journal: an earlier run has sent nothing since
	client      *prepaid.Client
	bar         *progressbar.ProgressBar
	began       time.Time

	paid, streak int                          // payments made in this run, and failures since the last success
	trouble      error                        // error of the last failed payment
	marks        map[prepaid.RequestID]string // states of rows that are paid in the journal, but not in the history
}

// errRefused means that a fault prevents the run.
var errRefused = errors.New("nothing was sent")

func (d *disbursement) row(name, format string, args ...any) {
	fmt.Fprintf(d.out, "%-11s "+format+"\n", append([]any{name}, args...)...)
}

func (d *disbursement) total(name string, t journal.Total) { d.row(name, "%7d %16s", t.Count, t.Sum) }

// do makes the run: it checks the file, pays the rows and writes the summary.
func (d *disbursement) do(ctx context.Context) (code int, err error) {
	if d.list, err = readFile(d.job); err != nil {
		return exitWrong, err
	}
	if err := d.refuse("faults in the payments file: %d"); err != nil {
		return exitWrong, err
	}
	d.total("file", d.list.total)
	pl := result{stateNotSent: d.list.total}
	if _, err := os.Stat(d.job.journal()); !d.job.dryRun || !errors.Is(err, os.ErrNotExist) { // a dry run creates no journal
		// The journal excludes other runs. If you pay bank accounts, also set a DigestKey.
		if d.journal, err = journalfile.Open(d.job.journal(), journalfile.Options{}); err != nil {
			return exitWrong, fmt.Errorf("%w: %w", errRefused, err)
		}
		d.locked = time.Now()
		defer d.journal.Close() //nolint:errcheck // every record was synced when it was written
		if pl, err = d.plan(); err != nil {
			return exitWrong, err
		}
	}
	return d.disburse(ctx, pl)
}

// refuse prints the faults of the file, and returns an error if there are any.
func (d *disbursement) refuse(format string) error {
	for _, fault := range d.list.faults {
		fmt.Fprintln(d.errOut, fault)
	}
	if n := len(d.list.faults); n > 0 {
		return fmt.Errorf("%w: "+format, errRefused, n)
	}
	return nil
}

// disburse does everything that needs the service.
func (d *disbursement) disburse(ctx context.Context, pl result) (code int, err error) {
	d.total("  paid", pl[statePaid])
	d.total("  rejected", pl[stateRejected])
	d.total("  unknown", pl[stateUnknown])
	d.total("  to send", pl[stateNotSent])
	if d.client, err = prepaid.NewClient(d.config); err != nil {
		return exitWrong, err
	}
	defer d.client.Close() //nolint:errcheck // never fails
	// The service may still count an earlier run's requests. No record shows when a killed run sent its last request, but
	// that request left before the lock was released.
	if wait := d.rateWindow - time.Since(d.locked); !d.job.dryRun && d.resumed && wait > 0 {
		d.row("wait", "%s: the service may still count the requests of an earlier run", wait.Round(100*time.Millisecond))
		if !sleep(ctx, wait) {
			return exitUnfinished, errInterrupted
		}
	}
	if code, err := d.checkFloat(ctx, pl); err != nil {
		return code, err
	}
	if d.job.dryRun {
		d.row("dry run", "nothing was sent; add -rows %d -sum %s to the run itself", d.list.total.Count, d.list.total.Sum)
		return exitPaid, nil
	}
	d.began, d.marks = time.Now(), make(map[prepaid.RequestID]string)
	file, ok := d.errOut.(*os.File)
	d.bar = progressbar.NewOptions(d.list.total.Count-pl[statePaid].Count, progressbar.OptionSetWriter(d.errOut),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetVisibility(ok && term.IsTerminal(int(file.Fd()))))
	stopped := d.pay(ctx)
	_ = d.bar.Clear()
	return d.conclude(stopped, d.prove(ctx))
}

// conclude writes the summary and reports how the run ended. The error stopped is the reason why rows were not sent; the
// error unproven is the reason why the history was not read.
func (d *disbursement) conclude(stopped, unproven error) (int, error) {
	var r result
	err := replaceFile(d.job.summary(), func(w io.Writer) (err error) {
		r, err = d.result(w)
		return err
	})
	if err != nil { // the disk may be full: print the totals nevertheless
		r, _ = d.result(io.Discard)
		stopped = errors.Join(stopped, fmt.Errorf("no summary was written: %w", err))
	}
	fmt.Fprintln(d.out)
	for _, state := range states() {
		d.total(state, r[state])
	}
	d.total("together", d.list.total)
	d.row("this run", "payments: %d, in %s", d.paid, time.Since(d.began).Round(time.Millisecond))
	d.row("summary", "%s", d.job.summary())
	switch {
	case unproven != nil:
		d.row("not proven", "%v", unproven)
		stopped = cmp.Or(stopped, errors.New("the paid rows are not proven"))
	case r[stateUnseen].Count > 0:
		d.row("not proven", "payments reported as made, but not in the history yet: this does not prove that no money moved")
	case r[statePaid].Count > 0:
		d.row("proven", "the history of the float account contains all paid rows but those that a person resolved")
	}
	if r[stateUnseen].Count+r[stateNotSent].Count+r[stateUnknown].Count > 0 {
		stopped = cmp.Or(stopped, errors.New("not all payments are final and proven"))
	}
	if stopped != nil {
		d.row("unfinished", "run the same command again")
		if d.trouble != nil {
			stopped = fmt.Errorf("%w; last error: %w", stopped, d.trouble)
		}
		return exitUnfinished, stopped
	}
	if r[stateRejected].Count+r[stateEarlier].Count > 0 {
		return exitRefused, nil
	}
	return exitPaid, nil
}

// checkFloat refuses a run if the float account has too little money: otherwise only some rows would be paid, chosen by chance.
func (d *disbursement) checkFloat(ctx context.Context, pl result) (int, error) {
	if pl[stateNotSent].Count+pl[stateUnknown].Count == 0 && !d.job.retryRefused {
		return exitPaid, nil
	}
	account, err := d.client.Accounts.Get(ctx, d.job.float)
	if errors.Is(err, prepaid.ErrUnauthorized) || prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		return exitWrong, fmt.Errorf("%w: the float account cannot be read: %w", errRefused, err)
	}
	if err != nil {
		return exitUnfinished, fmt.Errorf("%w: the float account cannot be read now: %w", errRefused, err)
	}
	if account.Status != prepaid.AccountStatusActive {
		return exitWrong, fmt.Errorf("%w: the float account is not active", errRefused)
	}
	least := pl[stateNotSent].Sum // without payments of unknown outcome: they may already have left the account
	if d.job.retryRefused {
		least, err = least.Add(pl[stateRejected].Sum)
	}
	if err == nil && account.Balance.Compare(least) < 0 {
		err = fmt.Errorf("%w: the float account has %s, and at least %s is left to pay", errRefused, account.Balance, least)
	}
	d.row("float", "%s on the account", account.Balance)
	return exitWrong, err
}
