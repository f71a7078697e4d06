package liveness

import (
	"cmp"
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

// keepEvery is how often evidence is saved. A process that is killed earlier adds nothing.
const keepEvery = time.Second

// Keep passes the evidence in store to source and then, until stop, saves that of source: at once and, while rest returns true, again
// and again. It gives failed the first error of several in a row, and tries again, later and later. Without a Store or a Source it does
// nothing. ctx is for the first attempt only.
func Keep(ctx context.Context, store, source any, rest func() bool, failed func(error)) (stop func()) {
	from, kept := store.(Store)
	to, known := source.(Source)
	if !kept || !known {
		return func() {}
	}
	k := &keeper{store: from, source: to, failed: failed}
	k.keep(ctx)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { k.run(ctx, rest) })
	return func() {
		cancel()
		running.Wait()
		if k.used && rest() {
			k.keep(context.WithoutCancel(ctx))
		}
	}
}

// keeper passes evidence from a source to a store, and first that in the store to the source.
type keeper struct {
	store    Store
	source   Source
	used     bool // the source has the evidence that was in the store
	failures int  // in a row
	failed   func(error)
}

// keep passes evidence once.
func (k *keeper) keep(ended context.Context) {
	ctx, cancel := context.WithTimeout(ended, keepEvery) // a clock that was read longer ago is wrong by more than a step
	defer cancel()
	err := guard.Do("journal: store", func() error {
		evidence, now, err := k.store.Evidence(ctx)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if !k.used {
			k.source.UseEvidence(evidence, now)
			k.used = true
		}
		return k.store.SaveEvidence(ctx, k.source.Evidence(now))
	})
	switch {
	case err == nil:
		k.failures = 0
	case ended.Err() == nil:
		if k.failures++; k.failures == 1 {
			k.failed(err)
		}
	}
}

// run passes evidence until ctx ends; after failures less often.
func (k *keeper) run(ctx context.Context, rest func() bool) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for skip := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if skip--; skip < 0 && (!k.used || rest()) {
				k.keep(ctx)
				skip = 1<<min(k.failures, 6) - 1
			}
		}
	}
}
