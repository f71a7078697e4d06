package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// disbursement is one run of the program.
type disbursement struct {
	settings settings
	job      *job
	say      *printer
	locked   time.Time // when the journal's lock was taken: an earlier run has sent nothing since
	requests atomic.Int64
	refused  atomic.Int64 // of them, with 429
}

// errRefused: a fault that was already printed prevents the run.
var errRefused = errors.New("nothing was sent")

// do checks, pays and writes the summary.
func (d *disbursement) do(ctx context.Context) (int, error) {
	l, faults, err := openList(d.job, d.say.fault)
	if err != nil {
		return exitWrong, err
	}
	defer l.file.Close() //nolint:errcheck // only read
	faults += d.controlTotals(l, faults)
	if faults > 0 {
		return exitWrong, fmt.Errorf("%w: faults in the payments file: %d", errRefused, faults)
	}
	d.say.total("file", l.total)

	if _, err := os.Stat(d.job.journal); d.job.dryRun && errors.Is(err, os.ErrNotExist) { // a dry run creates none
		return d.disburse(ctx, l, nil, plan{fresh: l.total, left: l.total.Sum})
	}
	j, err := d.openJournal()
	if err != nil {
		return exitWrong, err
	}
	d.locked = time.Now()
	defer j.Close() //nolint:errcheck // every record was synced when it was written
	pl, faults, err := makePlan(l, j, d.say.fault)
	switch {
	case err != nil:
		return exitWrong, err
	case faults > 0:
		return exitWrong, fmt.Errorf("%w: changed rows: %d; a corrected row needs a new key", errRefused, faults)
	case pl.lost.Count > 0:
		return exitWrong, fmt.Errorf("%w: the journal has %d payments of %s that may have been made and are not in the file: "+
			"another run, date, environment or file, or rows were removed", errRefused, pl.lost.Count, pl.lost.Sum)
	}
	return d.disburse(ctx, l, j, pl)
}

// controlTotals detects what no row shows: a truncated file, or a different one.
func (d *disbursement) controlTotals(l *list, faults int) int {
	if faults > 0 {
		return 0 // the totals of an invalid file mean nothing
	}
	if d.job.rows != 0 && l.total.Count != d.job.rows {
		d.say.fault(fmt.Errorf("the file has %d payments, -rows says %d", l.total.Count, d.job.rows))
		faults++
	}
	if !d.job.sum.IsZero() && l.total.Sum != d.job.sum {
		d.say.fault(fmt.Errorf("the sum of the file is %s, -sum says %s", l.total.Sum, d.job.sum))
		faults++
	}
	return faults
}

// openJournal opens the journal and excludes other runs.
func (d *disbursement) openJournal() (*journal.Journal, error) {
	// The journal has amounts in plain text and destinations as digests. A run that pays bank accounts also needs a
	// DigestKey.
	j, err := journal.Open(d.job.journal, journal.Options{})
	switch {
	case errors.Is(err, journal.ErrLocked):
		return nil, fmt.Errorf("%w: another run is using this journal: wait until it ends: %w", errRefused, err)
	case errors.Is(err, journal.ErrCorrupt):
		return nil, fmt.Errorf("%w: keep the journal unchanged; a person must look at it: %w", errRefused, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return j, nil
}

// disburse does everything that needs the service.
func (d *disbursement) disburse(ctx context.Context, l *list, j *journal.Journal, pl plan) (int, error) {
	d.say.plan(pl)
	client, err := d.newClient()
	if err != nil {
		return exitWrong, err
	}
	defer client.Close() //nolint:errcheck // never fails
	if !d.job.dryRun && pl.resumed {
		if err := d.restAfterRun(ctx); err != nil {
			return exitUnfinished, errInterrupted
		}
	}
	if code, err := d.checkFloat(ctx, client, pl); err != nil {
		return code, err
	}
	if d.job.dryRun {
		d.say.dryRun(l.total)
		return exitPaid, nil
	}
	summary, err := createFile(d.job.summary) // before the first payment, while there is still a choice
	if err != nil {
		return exitWrong, fmt.Errorf("%w: no summary could be written: %w", errRefused, err)
	}
	defer summary.discard()
	p := &payer{
		job: d.job, list: l, journal: j, sender: client.Accounts, began: time.Now(), grace: d.settings.grace, report: d.say.fault,
		booking: d.settings.booking, onRead: d.say.progressed,
		changed: make(map[prepaid.RequestID]bool), elsewhere: make(map[prepaid.RequestID]bool),
		unseen: make(map[prepaid.RequestID]bool),
	}
	d.say.progress("paying", "payments", l.total.Count-pl.paid.Count)
	p.onRound = func(round int) {
		if round > 0 {
			d.say.doing("repeating payments of unknown outcome, as soon as that is safe")
		}
	}
	var made atomic.Int64
	p.onPaid = func() {
		made.Add(1)
		d.say.progressed()
		if d.settings.onPaid != nil {
			d.settings.onPaid()
		}
	}
	stopped := p.pay(ctx)
	d.say.progressEnds()
	e := ending{stopped: stopped, made: made.Load(), took: time.Since(p.began)}
	d.say.progress("comparing with the histories", "transactions", -1)
	e.unproven = p.prove(ctx, client.Accounts)
	d.say.progressEnds()
	e.requests, e.refused = d.requests.Load(), d.refused.Load()
	if ctx.Err() != nil {
		e.unproven = errInterrupted
	}
	return d.conclude(p, summary, e)
}

// ending is how the sending ended, and how long it took.
type ending struct {
	stopped                 error // before everything was sent
	unproven                error // why the paid rows were not searched for in the histories
	made, requests, refused int64
	took                    time.Duration
}

// conclude writes the summary and reports how the run ended.
func (d *disbursement) conclude(p *payer, summary *pendingFile, e ending) (int, error) {
	stopped := e.stopped
	r, err := p.writeSummary(summary)
	if err != nil { // the disk may be full: print the totals nevertheless
		if r = make(result); p.tally(r, func(payment, string, string, journal.Entry) {}) == nil {
			d.say.result(r, p.list.total)
		}
		return exitUnfinished, errors.Join(stopped, fmt.Errorf("no summary was written: %w", err))
	}
	d.say.result(r, p.list.total)
	d.say.row("this run", "%s in %s, %.1f a second; %s, %d of them refused with 429",
		plural(e.made, "payment"), e.took.Round(time.Millisecond), float64(e.made)/e.took.Seconds(), plural(e.requests, "request"), e.refused)
	d.say.row("summary", "%s", d.job.summary)
	code := r.exitCode()
	unseen := r[stateUnseen].Count
	if unseen > 0 {
		d.say.row("not proven", "%s reported as made, but in no history yet: this does not prove that no money moved",
			plural(int64(unseen), "payment"))
	}
	switch {
	case r[statePaid].Count == 0:
	case e.unproven != nil:
		d.say.row("not proven", "not all paid rows were compared with the histories of the accounts: %v", e.unproven)
		code = exitUnfinished
		if stopped == nil {
			stopped = errors.New("the paid rows are not proven")
		}
	case unseen == 0:
		d.say.proven(r[statePaid].Count, p.resolved)
	}
	if stopped != nil { // rows that were not tried in this run may have been refused by an earlier one
		code = exitUnfinished
	}
	if code == exitUnfinished && stopped == nil {
		stopped = errors.New("not all payments are settled and proven")
	}
	if code == exitUnfinished {
		d.say.row("unfinished", "run the same command again")
		if p.trouble != nil {
			stopped = fmt.Errorf("%w; last error: %w", stopped, p.trouble)
		}
		return code, stopped
	}
	return code, nil
}

// newClient counts the requests of the run.
func (d *disbursement) newClient() (*prepaid.Client, error) {
	config := d.settings.config
	config.UserAgent = "disburse"
	config.Trace = &prepaid.Trace{AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
		d.requests.Add(1)
		if a.StatusCode == http.StatusTooManyRequests {
			d.refused.Add(1)
		}
	}}
	return prepaid.NewClient(config)
}

// checkFloat refuses a run for which the float account has too little money: chance would decide which rows are paid.
func (d *disbursement) checkFloat(ctx context.Context, client *prepaid.Client, pl plan) (int, error) {
	if pl.left.Sign() == 0 {
		return exitPaid, nil
	}
	account, err := client.Accounts.Get(ctx, d.job.float)
	switch {
	case ctx.Err() != nil:
		return exitUnfinished, errInterrupted
	case errors.Is(err, prepaid.ErrUnauthorized), prepaid.OutcomeOf(err) == prepaid.OutcomeRejected:
		return exitWrong, fmt.Errorf("%w: the float account cannot be read: %w", errRefused, err)
	case err != nil:
		return exitUnfinished, fmt.Errorf("%w: the float account cannot be read now: %w", errRefused, err)
	case account.Status != prepaid.AccountStatusActive:
		return exitWrong, fmt.Errorf("%w: the float account is not active", errRefused)
	}
	least, err := pl.left.Sub(pl.unknown.Sum) // payments of unknown outcome may already have left the account
	if err != nil {
		return exitWrong, err
	}
	if account.Balance.Compare(least) < 0 {
		return exitWrong, fmt.Errorf("%w: the float account has %s, and at least %s is left to pay", errRefused, account.Balance, least)
	}
	d.say.row("float", "%s on the account", account.Balance)
	return exitPaid, nil
}

// restAfterRun waits until the end of the window in which the service may still count the requests of an earlier run.
// Nothing records when a killed run sent its last request: it was before its lock was released.
func (d *disbursement) restAfterRun(ctx context.Context) error {
	wait := d.settings.rateWindow - time.Since(d.locked)
	if wait <= 0 {
		return nil
	}
	d.say.row("wait", "%s: the service may still count the requests of an earlier run", wait.Round(100*time.Millisecond))
	sleep(ctx, wait)
	return ctx.Err()
}
