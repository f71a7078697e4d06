package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/liveness"
)

// Workers send the payments of a [Store]. The zero value is ready to use, except for the keys.
type Workers struct {
	// N is how many payments are sent at the same time: 100 by default, as many as one address may send in a second.
	N int
	// Claim is the highest number of payments that one claim takes, and that wait in this process: 20 by default. If the sender is faster
	// than the store, four claims are made at the same time, and four times as many payments wait. A payment that waited too long to be sent
	// safely is given back.
	Claim int
	// CallTimeout bounds one call of the sender with all its attempts: 2 minutes by default, from 10 ms to 24 h. The longer
	// it is, the later another worker takes over from a dead one.
	CallTimeout time.Duration
	// Grace is how long calls may still run after the context of Run has ended; then they are cancelled. If Grace is
	// CallTimeout, the default and maximum, each call ends by itself. Cancelling a call makes the outcome unknown.
	Grace time.Duration
	// DigestKey is the key of the entries' digests, see [NewEntry].
	DigestKey prepaid.Secret
	// Seal opens the sealed params.
	Seal AEAD
	// Logger gets a record of each failure of the store or of the sender, with request IDs and without personal data. If nil,
	// nothing is logged. If its handler panics, the record is lost.
	Logger *slog.Logger
	// Trace gets events.
	Trace Trace
}

// Trace observes the workers of one [Workers.Run], for metrics. Nil functions are skipped. The others are called from
// several goroutines and must return soon. If one panics or calls runtime.Goexit, that is logged, and Run continues.
type Trace struct {
	// Claimed is called after a claim that took n payments.
	Claimed func(n int)
	// Sent is called after each call of the sender, before its outcome is recorded.
	Sent func(e Entry, took time.Duration, err error)
	// Recorded is called after an outcome was committed.
	Recorded func(e Entry)
	// GivenBack is called for a payment that was claimed and not sent. The argument why is the reason.
	GivenBack func(id prepaid.RequestID, why error)
	// Lost is called if another worker had taken over before an outcome was recorded. A success is recorded nevertheless; any
	// other outcome is dropped, since the other worker will know more.
	Lost func(e Entry)
	// Gone is called if the payment was no longer in the store when its outcome was to be recorded, for example after a failover
	// to a server that lacks the last commits. Only this call has the outcome: keep it.
	Gone func(e Entry)
	// PaidTwice is called if the service reported two different transactions for one payment: known is the transaction
	// that was recorded first. This must never happen: an operator must investigate. A second movement whose response was lost
	// is not reported: only a comparison of the account's history with the payments finds it.
	PaidTwice func(e Entry, known prepaid.TransactionID)
	// Failed is called if the store could not be used. The workers try again.
	Failed func(err error)
}

const (
	defaultN           = 100
	defaultClaim       = 20
	defaultCallTimeout = 2 * time.Minute
	leastCallTimeout   = 10 * time.Millisecond
	mostCallTimeout    = 24 * time.Hour // with a longer timeout, sums could overflow, and a lease could end at once
	// mostClaims is how many claims are made at the same time if the sender is faster than one.
	mostClaims = 4
	// group is the highest number of outcomes that are recorded together.
	group = 64
	// recorders is how many groups are recorded at the same time.
	recorders = 2
	// gather is how long a group waits for more outcomes: a commit costs more than an outcome.
	gather = time.Millisecond
	// patience is how long the next group waits for the commit of a group that is not full.
	patience = 20 * time.Millisecond
	// storeLimit bounds one call of the store.
	storeLimit = 30 * time.Second
	// poll is how long an idle Run waits until it asks for payments again.
	poll = 250 * time.Millisecond
	// restingPoll is how long Run waits until it asks again for the next payment of unknown outcome, see [Store].Resting.
	restingPoll = 10 * time.Second
	// unreadableWait delays a payment whose params this worker cannot open; another may have the key.
	unreadableWait = 10 * time.Second
	// admitPause is Run's wait after it admitted a payment, so that a store with wrong waits does not make it spin.
	admitPause = time.Millisecond
	// Waits after a failure grow from firstWait to longestWait.
	firstWait, longestWait = time.Second, 5 * time.Minute
)

func (w Workers) withDefaults() Workers {
	w.N, w.Claim = cmp.Or(w.N, defaultN), cmp.Or(w.Claim, defaultClaim)
	w.CallTimeout = cmp.Or(w.CallTimeout, defaultCallTimeout)
	w.Grace = min(cmp.Or(w.Grace, w.CallTimeout), w.CallTimeout)
	w.Logger = guard.Logger(cmp.Or(w.Logger, slog.New(slog.DiscardHandler)))
	w.Trace = w.Trace.guarded(w.Logger)
	return w
}

func (w Workers) check(sender Sender) error {
	var faults []prepaid.FieldError
	require := func(ok bool, field, rule string) {
		if !ok {
			faults = append(faults, prepaid.FieldError{Field: field, Rule: rule})
		}
	}
	require(sender != nil, "sender", "is required")
	require(w.N >= 0 && w.N <= 10_000, "n", "must be between 0 and 10,000")
	require(w.Claim >= 0 && w.Claim <= 1_000, "claim", "must be between 0 and 1,000")
	bounded := w.CallTimeout >= leastCallTimeout && w.CallTimeout <= mostCallTimeout
	require(w.CallTimeout == 0 || bounded, "call_timeout", "must be between 10 ms and 24 h")
	require(w.Grace >= 0, "grace", "must not be negative")
	if len(faults) > 0 {
		return &prepaid.ValidationError{Faults: faults}
	}
	return nil
}

// Run sends the due payments of store until ctx ends. It returns when its calls have ended, their outcomes are recorded, and
// unsent payments are given back: within Grace, if the store works. Call it in as many processes as the store allows, even of
// different versions. sender is client.Accounts of a [prepaid.Client].
//
// A worker holds a payment for 1.5 times CallTimeout, plus AttemptTimeout and InFlightWait of its client. It begins a
// call only within half a CallTimeout of the claim, so that the call and the service's work are over before another
// worker may send. Later, it gives the payment back instead. A payment of unknown outcome is normally claimed only when its
// sender may send it again ([Sender].AwaitRepeat), and a payment whose call waits for its repeat is not one of the N. If store is an
// [EvidenceStore], a wait goes on in the next process.
//
// Other failures of the store or of the service do not end Run: it tries again at increasing intervals. See Logger and Trace. A panic in the
// store or the sender is a failure too; after a panic in a call that sends, the outcome is unknown.
//
// Errors: a [*prepaid.ValidationError] of w, immediately; [ErrFailover], as soon as the store reports it; [ErrNotRecorded] if an outcome
// could not be recorded before the end: the outcome is then unknown, and the payment is sent again under its request ID when this is
// allowed.
func (w Workers) Run(ctx context.Context, store Store, sender Sender) error {
	if err := w.check(sender); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	all := w.withDefaults()
	var lease Claim
	if unsafe := guard.Call(func() { lease = leaseOf(all.CallTimeout, sender) }); unsafe != nil {
		return fmt.Errorf("%s: %w", senderName, unsafe)
	}
	ctx, halt := context.WithCancel(ctx)
	defer halt()
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r := &work{
		Workers: all, store: guardedStore{store}, sender: guardedSender{sender, lease.Rest}, lease: lease,
		stops: func() bool { return ctx.Err() != nil },
		halt:  halt, queue: make(chan *held, all.N+mostClaims*all.Claim), ended: make(chan *outcome, recorders*group),
		collecting: make(chan struct{}, 1), wake: make(chan struct{}, 1), rested: make(chan struct{}, 1),
	}
	r.ahead.Store(int64(all.Claim))
	r.admitted.Store(new(time.Time))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(all.Grace, cancel) })
	defer stop()

	forget := liveness.Keep(ctx, store, sender, r.rests.Load, func(err error) { r.failed(ctx, err) })
	defer forget()
	var helpers, payers, writers sync.WaitGroup
	helpers.Go(func() { r.admit(ctx) })
	payers.Go(func() { r.pay(calls) })
	for range recorders {
		writers.Go(func() { r.record(calls) })
	}
	r.claim(ctx)
	close(r.queue)
	payers.Wait()
	close(r.ended)
	writers.Wait()
	helpers.Wait()
	var err error
	if n := r.lost.Load(); n > 0 {
		err = fmt.Errorf("journal: outcomes of %d payments: %w", n, ErrNotRecorded)
	}
	if failover := r.failover.Load(); failover != nil {
		err = errors.Join(*failover, err)
	}
	return err
}

type work struct {
	Workers

	store  Store
	sender Sender
	lease  Claim

	stops      func() bool // reports whether claims have stopped
	halt       func()      // stops claims
	queue      chan *held
	ended      chan *outcome
	collecting chan struct{} // full while a recorder takes a group
	wake       chan struct{} // a payment may be due, or there is room
	rested     chan struct{} // another payment has an unknown outcome
	rests      atomic.Bool   // a payment rests
	held       atomic.Int64  // payments claimed, without those whose call has ended or waits for a repeat
	ahead      atomic.Int64  // how many payments may wait
	brake      brake
	failover   atomic.Pointer[error]     // an ErrFailover of the store
	lost       atomic.Int64              // outcomes that could not be recorded
	admitted   atomic.Pointer[time.Time] // payments of unknown outcome may be sent if they were due by this time of the store's clock
}
