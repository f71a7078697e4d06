package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
)

// report is what a process reports to the demonstration: a line of JSON, ten times a second.
type report struct {
	Ready   bool  // it has opened the database
	Sending int64 // payments
	Paid    int64 // since its start
	Unknown int64 // outcomes, since its start
	Orders  int64 // requests, since its start
}

// reporter counts what a process does.
type reporter struct {
	begun                         atomic.Bool
	sending, paid, unknown, posts atomic.Int64
}

// supervised is for a process of the demonstration: it ends with its standard input, so that none is left if the
// demonstration is killed, and reports on its standard output. Otherwise it does nothing.
func supervised(ctx context.Context, on bool, in *os.File, out io.Writer) (context.Context, *reporter, func()) {
	r := &reporter{}
	if !on {
		return ctx, r, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	var lines sync.WaitGroup
	over := make(chan struct{})
	lines.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-over:
				return
			}
			_ = json.NewEncoder(out).Encode(report{
				Ready: r.begun.Load(), Sending: r.sending.Load(), Paid: r.paid.Load(), Unknown: r.unknown.Load(), Orders: r.posts.Load(),
			})
		}
	})
	return ctx, r, func() {
		cancel()
		close(over)
		lines.Wait()
	}
}

func (r *reporter) ready() { r.begun.Store(true) }

// trace counts payments.
func (r *reporter) trace() *prepaid.Trace {
	return &prepaid.Trace{
		CallStart: func(ctx context.Context, _ prepaid.Operation) context.Context {
			r.sending.Add(1)
			return ctx
		},
		CallDone: func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) {
			r.sending.Add(-1)
			switch c.Outcome {
			case prepaid.OutcomeApplied:
				r.paid.Add(1)
			case prepaid.OutcomeUnknown:
				r.unknown.Add(1)
			case prepaid.OutcomeRejected, prepaid.OutcomeNotProcessed:
			}
		},
	}
}

// counted counts requests.
func (r *reporter) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, request *http.Request) {
		r.posts.Add(1)
		h.ServeHTTP(rw, request)
	})
}
