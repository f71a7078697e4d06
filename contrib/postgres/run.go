package prepaidpg

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/journal"
)

// Run sends the payments that are due, until ctx ends, and returns when its calls have ended, their outcomes are recorded and
// settled, and what was not sent is given back: within Workers.Grace, if the database works. Call it in as many processes as you
// like, also of different versions. sender is client.Accounts of a [prepaid.Client]. It is [journal.Workers.Run] on this store, with
// [Workers].Settled.
//
// Failures of the database or of the service do not end Run: it tries again, at longer and longer intervals. See Options.Logger and
// Workers.Trace.
//
// Errors: a [*prepaid.ValidationError] of workers, at once; [journal.ErrNotRecorded] if an outcome could not be recorded
// before the end: the payment's outcome is then unknown, and it is sent again under its request ID when the lease has ended.
func (s *Store) Run(ctx context.Context, sender journal.Sender, workers Workers) error {
	engine := journal.Workers{
		N: workers.N, Claim: workers.Claim, Grace: workers.Grace, CallTimeout: s.options.CallTimeout,
		DigestKey: s.options.DigestKey, Seal: s.options.Seal, Logger: s.log, Trace: workers.Trace,
	}
	if workers.Settled == nil {
		return failure("run", engine.Run(ctx, s, sender))
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	h := &settler{Store: s, workers: workers, due: make(chan struct{}, 1), stopping: make(chan struct{})}
	var settling sync.WaitGroup
	for i := range settlers(s.pool) {
		settling.Go(func() { h.run(calls, i >= quickSettlers) })
	}
	grace := min(cmp.Or(workers.Grace, s.options.CallTimeout), s.options.CallTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	err := engine.Run(ctx, h, sender)
	close(h.stopping)
	defer time.AfterFunc(settledLimit, cancel).Stop()
	settling.Wait()
	return failure("run", err)
}
