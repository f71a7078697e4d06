package liveness

import (
	"context"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/guard"
)

// Store keeps evidence for the next process.
type Store interface {
	// Evidence returns what was saved last, and the present time of the clock by which the store records payments.
	Evidence(ctx context.Context) (evidence []byte, now time.Time, err error)
	// SaveEvidence saves evidence.
	SaveEvidence(ctx context.Context, evidence []byte) error
}

// Source has evidence, and uses that of earlier processes.
type Source interface {
	Evidence(now time.Time) []byte
	UseEvidence(evidence []byte, now time.Time)
}

// keepEvery is how often evidence is saved. A process that lives shorter adds nothing.
const keepEvery = time.Second

// Keep passes the evidence in store to source and then, until stop, saves that of source: at once and, while rest returns true, again
// and again. It gives failed each error, and tries again. Without a Store or a Source it does nothing. ctx is for the first attempt only.
func Keep(ctx context.Context, store, source any, rest func() bool, failed func(error)) (stop func()) {
	from, kept := store.(Store)
	to, known := source.(Source)
	if !kept || !known {
		return func() {}
	}
	used := false
	keep := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 10*keepEvery)
		defer cancel()
		_, err := guard.Get(func() (any, error) {
			evidence, now, err := from.Evidence(ctx)
			if err != nil {
				return nil, err
			}
			if !used {
				to.UseEvidence(evidence, now)
				used = true
			}
			return nil, from.SaveEvidence(ctx, to.Evidence(now))
		})
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
	keep(ctx)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if !used || rest() {
					keep(ctx)
				}
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
