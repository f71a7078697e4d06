package prepaidpg

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid/journal"
)

// Run is [journal.Workers.Run] on this store, with [Workers].Settled. Before it returns, it also waits for the calls of Settled. If a call
// of Settled fails while Run ends, another Run repeats it. Give the process Grace plus 10 s to stop. Call Run in as many processes
// as you like, even of different versions. sender is client.Accounts of a [prepaid.Client].
//
// Errors: a [*prepaid.ValidationError] of workers, immediately; [journal.ErrFailover] if the server has another system identifier or
// timeline than [Migrate] or [Store.Recover] found: call Recover when all workers have ended; [journal.ErrNotRecorded], as from
// [journal.Workers.Run].
func (s *Store) Run(ctx context.Context, sender journal.Sender, workers Workers) error {
	s.begin()
	defer s.runs.Add(-1)
	engine := journal.Workers{
		N: workers.N, Claim: workers.Claim, Grace: workers.Grace, CallTimeout: s.options.CallTimeout,
		DigestKey: s.options.DigestKey, Seal: s.options.Seal, Logger: s.log, Trace: workers.Trace,
	}
	if workers.Settled == nil {
		return failure("run", engine.Run(ctx, s, sender))
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	recording, endRecording := context.WithCancel(context.Background())
	defer endRecording()
	h := &settler{
		Store: s, workers: workers, recorded: make(chan string, mostSettlers*mostSettled), groups: make(chan []string),
		due: make(chan struct{}, 1), stopping: recording.Done(),
	}
	var settling sync.WaitGroup
	settling.Go(h.collect)
	for range min(max(s.pool.Config().MaxConns/2, 1), mostSettlers) { // half of the pool is for payments
		settling.Go(func() { h.run(calls) })
	}
	grace := min(cmp.Or(workers.Grace, s.options.CallTimeout), s.options.CallTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	err := engine.Run(ctx, h, sender)
	endRecording()
	defer time.AfterFunc(settledLimit, cancel).Stop()
	settling.Wait()
	return failure("run", err)
}

// Workers configures [Store.Run]. The zero value is ready to use.
type Workers struct {
	// N means the same as in [journal.Workers].
	N int
	// Claim means the same as in [journal.Workers].
	Claim int
	// Grace means the same as in [journal.Workers].
	Grace time.Duration
	// Trace means the same as in [journal.Workers].
	Trace journal.Trace
	// Settled is called after an outcome was recorded, when e is done, rejected, or waits for an operator ([journal.Entry].Review): write
	// the payment to your books in tx. The store commits tx together with the mark that Settled has been called, so that your books have
	// each outcome once. The mark that the call is due was committed with the outcome: no crash loses the call.
	//
	// Set Settled in every Run of a schema: outcomes of a Run without Settled never reach the Settled of another Run. If Settled fails,
	// panics, or does not return within 10 s, tx is rolled back, and any worker that has Settled repeats the call. The wait before a repeat
	// grows from 1 s to 5 minutes. If a call ignores the end of its context, it is abandoned, and its connection is closed. Calls are
	// concurrent, but not for the same payment. Only write to tx: anything else may happen more than once. Never execute COMMIT or ROLLBACK.
	// If an operator retries a payment, Settled is called again for its new outcome. Resolve, Withdraw and Retry do not call Settled, and
	// cancel a call that is due: write to the books in the transaction that you pass to them.
	//
	// Several calls share one transaction. If one fails, all are repeated, in smaller transactions. They are read committed, even if the
	// database's default is serializable: lock rows ("for update") if what you write depends on what you read. If two transactions lock your
	// rows in different orders, Postgres ends one of them, and its calls are repeated.
	Settled func(ctx context.Context, tx pgx.Tx, e journal.Entry) error
	// SettledFailed is called if Settled failed, panicked or did not return. It may be nil. A panic in it is logged.
	SettledFailed func(e journal.Entry, err error)
}

const (
	// databaseLimit bounds one transaction.
	databaseLimit = 30 * time.Second
	// settlePoll is the interval at which an idle Run looks for calls of Settled that other processes left due.
	settlePoll = 10 * time.Second
	// settledLimit bounds one call of Workers.Settled.
	settledLimit = 10 * time.Second
	// abandonAfter is how long a call may take to return when its context has ended.
	abandonAfter = 100 * time.Millisecond
	// mostSettlers is the number of transactions that call Settled at the same time. At most mostSettled calls share one.
	mostSettlers, mostSettled = 8, 64
	// gather is how long a group waits for more calls: a transaction costs more than a call.
	gather = 5 * time.Millisecond
	// slowSettled is the time after which a transaction gets no more calls.
	slowSettled = 250 * time.Millisecond
	// Waits after a failure grow from firstWait to longestWait.
	firstWait, longestWait = time.Second, 5 * time.Minute
)
