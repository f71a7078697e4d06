package journalfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
)

// busyBank loses one in thirty responses, and lets one in thirty requests hang. It carries out a payment up to 39 s after its request,
// and also a repeat that arrives earlier.
type busyBank struct {
	waits

	mu       sync.Mutex
	requests map[prepaid.RequestID]int
	finished map[prepaid.RequestID]time.Time
	twice    int
}

// send returns how long the response takes, and whether it arrives.
func (b *busyBank) send(id prepaid.RequestID) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests[id]++
	dice := fnv.New32()
	_, _ = dice.Write(append([]byte(id), fmt.Sprint(b.requests[id])...))
	n := dice.Sum32() % 30
	takes, responds := 400*time.Millisecond, n > 1
	if n == 0 {
		takes = 39 * time.Second
	}
	if at, known := b.finished[id]; !known {
		b.finished[id] = time.Now().Add(takes)
	} else if time.Now().Before(at) {
		b.twice++
	}
	return takes, responds
}

func (b *busyBank) Transfer(ctx context.Context, _ prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	sent := time.Now()
	takes, responds := b.send(p.RequestID)
	if err := pause.For(ctx, takes); err != nil || !responds {
		return nil, &prepaid.CallError{Attempts: 1, FirstSent: sent, LastSent: sent, NotBefore: b.NotBefore(sent), Err: errors.Join(errCut, err)}
	}
	return &prepaid.TransferResult{TransactionID: "7", RequestID: p.RequestID}, nil
}

// A program that is killed and restarted after some 5 s completes its list, although many payments must rest for 40 s: by PayAll, by
// Resume and by Workers.
func TestAnOftenRestartedProgramCompletesItsList(t *testing.T) {
	t.Parallel()
	const payments = 300
	options := sealing(t, 1)
	for name, run := range map[string]func(context.Context, *Journal, journal.Sender, []journal.Payment){
		"PayAll": func(ctx context.Context, j *Journal, b journal.Sender, list []journal.Payment) {
			for _, err := range j.PayAll(ctx, b, 40, slices.Values(list)) {
				_ = err
			}
		},
		"Resume": func(ctx context.Context, j *Journal, b journal.Sender, _ []journal.Payment) {
			for _, err := range j.Resume(ctx, b, 40) {
				_ = err
			}
		},
		"Workers": func(ctx context.Context, j *Journal, b journal.Sender, _ []journal.Payment) {
			_ = journal.Workers{N: 40, Seal: options.Seal, DigestKey: options.DigestKey, CallTimeout: 30 * time.Second, Grace: time.Millisecond}.Run(ctx, j, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &busyBank{waits: waits{wait: 40 * time.Second}, requests: map[prepaid.RequestID]int{}, finished: map[prepaid.RequestID]time.Time{}}
				j, m := openMemoryWith(t, nil, options)
				list := make([]journal.Payment, payments)
				for n := range list {
					list[n] = journal.Payment{Account: "from", Params: payment(n)}
					if p := list[n]; name != "PayAll" {
						e, err := journal.NewEntry(options.DigestKey, p.Account, p.Params)
						require.NoError(t, err)
						e.Sealed, err = e.Seal(options.Seal, p.Params)
						require.NoError(t, err)
						require.NoError(t, j.record(e))
					}
				}
				for lives := 0; len(done(j)) < payments; lives++ {
					require.Less(t, lives, 60, "%d payments are done", len(done(j)))
					j, m = openMemoryWith(t, m.data, options)
					ctx, end := context.WithCancel(t.Context()) // no deadline: its end is unexpected
					// Not 5 s each, since 40 s is a multiple of that.
					killed := time.AfterFunc(4*time.Second+rand.N(2*time.Second), func() {
						m.mu.Lock()
						defer m.mu.Unlock()
						m = &memory{data: bytes.Clone(m.data)} // writes of the dead process are lost
						end()
					})
					run(ctx, j, b, list)
					killed.Stop()
					end()
				}
				require.Zero(t, b.twice)
			})
		})
	}
}
