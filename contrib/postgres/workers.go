package prepaidpg

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Workers configures [Store.Run]. The zero value is ready to use.
type Workers struct {
	// N is how many payments are sent at the same time: 100 by default, which is what one address may send in a second.
	N int
	// Claim is how many payments one claim takes, and how many wait in this process at most: 20 by default. A payment that
	// waits too long to be sent safely is given back.
	Claim int
	// Grace is how long calls may still run after the context of Run has ended; then they are cancelled. By default, and
	// at most, Options.CallTimeout: each call ends by itself. Cancelling a payment makes its outcome unknown.
	Grace time.Duration
	// Settled is called in the transaction that records an outcome, when e is done, rejected, or waits for a person
	// ([journal.Entry].Review): write to tx what your books say of the payment. Both are committed, or neither.
	//
	// Set it in every Run of a schema: an outcome that a Run without it records is never settled. An outcome is recorded
	// even if Settled fails, panics or takes longer than 10 s. The call is then repeated in a transaction of its own, after
	// a second, later after up to 5 minutes, by any worker that has Settled. What it did in a transaction that was rolled
	// back did not happen, but anything outside tx did: only write to tx, and expect to be called again for the same
	// outcome. A payment that a person resolved, or has retried, may be settled a second time. Resolve, Withdraw and Retry
	// do not call it: write to the books in the transaction that you pass to them.
	//
	// Several outcomes share one transaction. If two workers lock rows of yours in different order, Postgres ends one of the
	// transactions, and the outcomes are recorded one by one.
	Settled func(ctx context.Context, tx pgx.Tx, e journal.Entry) error
	// Trace observes.
	Trace Trace
}

// Trace observes the workers of one [Store.Run], for metrics. Nil functions are skipped. They are called from several goroutines
// and must return soon.
type Trace struct {
	// Claimed is called after a claim that took n payments.
	Claimed func(n int)
	// Sent is called after each call of the sender, before its outcome is recorded.
	Sent func(e journal.Entry, took time.Duration, err error)
	// Recorded is called after an outcome was committed.
	Recorded func(e journal.Entry)
	// GivenBack is called for a payment that was claimed and not sent; why says what prevented it.
	GivenBack func(id prepaid.RequestID, why error)
	// Lost is called if another worker had taken over before an outcome was recorded, or if the row is gone. If the payment is
	// done, that was recorded nevertheless, unless the row is gone; otherwise the outcome is dropped, since the other worker
	// will know more.
	Lost func(e journal.Entry)
	// PaidTwice is called if the service reported two different transactions for one payment: known is the one that was recorded
	// first. It must never happen; a person must look. It cannot see a second movement whose response was lost: only a
	// comparison of the account's history with the payments finds that.
	PaidTwice func(e journal.Entry, known prepaid.TransactionID)
	// SettledFailed is called if Settled failed or panicked.
	SettledFailed func(e journal.Entry, err error)
	// Failed is called if the database could not be used. The workers try again.
	Failed func(err error)
}

const (
	defaultN     = 100
	defaultClaim = 20
	// group is how many outcomes share a transaction at most.
	group = 64
	// recorders is how many transactions record outcomes at the same time.
	recorders = 3
	// databaseLimit bounds one transaction.
	databaseLimit = 30 * time.Second
	// lostConnections is how often a connection may break while Settled runs before that counts as its failure.
	lostConnections = 5
	// settlePoll is how often Run looks for calls of Settled that are due again.
	settlePoll = 10 * time.Second
	// poll is how long an idle Run waits at most if it is not notified.
	poll = 30 * time.Second
	// settledLimit bounds one call of Workers.Settled.
	settledLimit = 10 * time.Second
	// Waits after a failure grow from the first to the longest.
	firstWait, longestWait = time.Second, 5 * time.Minute
)

func (w Workers) withDefaults(call time.Duration) Workers {
	w.N, w.Claim, w.Grace = cmp.Or(w.N, defaultN), cmp.Or(w.Claim, defaultClaim), min(cmp.Or(w.Grace, call), call)
	return w
}

func (w Workers) check(sender journal.Sender) error {
	var faults []prepaid.Fault
	for _, rule := range []struct {
		ok          bool
		field, rule string
	}{
		{sender != nil, "sender", "is required"},
		{w.N >= 0 && w.N <= 10_000, "n", "must be between 0 and 10,000"},
		{w.Claim >= 0 && w.Claim <= 1_000, "claim", "must be between 0 and 1,000"},
		{w.Grace >= 0, "grace", "must not be negative"},
	} {
		if !rule.ok {
			faults = append(faults, prepaid.Fault{Field: rule.field, Rule: rule.rule})
		}
	}
	if len(faults) > 0 {
		return &prepaid.ValidationError{Faults: faults}
	}
	return nil
}
