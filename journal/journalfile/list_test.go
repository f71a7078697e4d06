package journalfile

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A program that is killed and restarted after some 5 s completes its list, although one payment in ten gets no response and must then
// rest for 40 s, and for two responses: by PayAll, by Resume and by Workers.
func TestAnOftenRestartedProgramCompletesItsList(t *testing.T) {
	t.Parallel()
	const payments = 150
	options := sealing(t, 1)
	for name, run := range map[string]func(context.Context, *Journal, journal.Sender, []journal.Payment){
		"PayAll": func(ctx context.Context, j *Journal, b journal.Sender, list []journal.Payment) {
			for _, err := range j.PayAll(ctx, b, 16, slices.Values(list)) {
				_ = err
			}
		},
		"Resume": func(ctx context.Context, j *Journal, b journal.Sender, _ []journal.Payment) {
			for _, err := range j.Resume(ctx, b, 16) {
				_ = err
			}
		},
		"Workers": func(ctx context.Context, j *Journal, b journal.Sender, _ []journal.Payment) {
			_ = journal.Workers{N: 16, Seal: options.Seal, DigestKey: options.DigestKey, Grace: time.Millisecond}.Run(ctx, j, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv, list := payroll(t, payments)
				j, m := openMemoryWith(t, nil, options)
				if name != "PayAll" {
					enqueue(t, j, list)
				}
				for lives := 0; len(done(j)) < payments; lives++ {
					require.Less(t, lives, 100, "%d payments are done", len(done(j)))
					evidence := m.evidence
					j, m = openMemoryWith(t, m.data, options)
					m.evidence = evidence
					client, err := prepaid.NewClient(srv.Config())
					require.NoError(t, err)
					ctx, end := context.WithCancel(t.Context()) // no deadline: its end is unexpected
					// Not 5 s each, since 40 s is a multiple of that.
					killed := time.AfterFunc(4*time.Second+rand.N(2*time.Second), func() {
						m.mu.Lock()
						defer m.mu.Unlock()
						m = &memory{data: bytes.Clone(m.data), evidence: m.evidence} // writes of the dead process are lost
						end()
					})
					run(ctx, j, client.Accounts, list)
					killed.Stop()
					end()
					require.NoError(t, client.Close())
				}
				require.Empty(t, srv.PaidTwice())
			})
		})
	}
}

// All payments rest, so that only the reads of the wait get responses, and each run begins with another call: the responses of the runs
// count together all the same.
func TestAProgramThatReadsFirstCompletesItsList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, list := payroll(t, 5)
		srv.ClearFaults()
		srv.Inject("POST /accounts/{id}/transfer", slices.Repeat([]prepaidtest.Fault{prepaidtest.CommitThenDrop()}, 5)...)
		j, m := openMemory(t, nil)
		for lives := 0; len(done(j)) < len(list); lives++ {
			require.Less(t, lives, 15, "%d payments are done", len(done(j)))
			evidence := m.evidence
			j, m = openMemory(t, m.data)
			m.evidence = evidence
			client, err := prepaid.NewClient(srv.Config())
			require.NoError(t, err)
			_, err = client.Accounts.Summary(t.Context(), list[0].Account)
			require.NoError(t, err)
			time.Sleep(time.Second)
			ctx, end := context.WithCancel(t.Context()) // no deadline: its end is unexpected
			time.AfterFunc(14*time.Second, end)
			for _, err := range j.PayAll(ctx, client.Accounts, 5, slices.Values(list)) {
				_ = err
			}
			end()
			require.NoError(t, client.Close())
		}
		require.Empty(t, srv.PaidTwice())
	})
}

// While the rate limit holds all payments back, a progress display gets a report each second.
func TestALongListReportsThatItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
		config := srv.Config()
		config.RateShare = 0.01 // 10 requests in 10 s
		client, err := prepaid.NewClient(config)
		require.NoError(t, err)
		defer client.Close()
		list := make([]journal.Payment, 15)
		for n := range list {
			params := payment(n)
			params.DestinationAccountID = to
			list[n] = journal.Payment{Account: from, Params: params}
		}
		var reports atomic.Int64
		ctx := prepaid.WithTrace(t.Context(), &prepaid.Trace{
			Waiting: func(_ context.Context, op prepaid.Operation, _ time.Duration) {
				require.Equal(t, "Accounts.Transfer", op.Name)
				reports.Add(1)
			},
		})
		j, _ := openMemory(t, nil)
		for _, err := range j.PayAll(ctx, client.Accounts, 2, slices.Values(list)) {
			require.NoError(t, err)
		}
		require.Greater(t, reports.Load(), int64(8))
	})
}

// Places send all the time until the last payment was sent once, although one payment in ten then waits for 40 s.
func TestAWaitingPaymentGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	const places = 16
	options := sealing(t, 1)
	for name, pay := range map[string]func(context.Context, *Journal, journal.Sender, []journal.Payment){
		"PayAll": func(ctx context.Context, j *Journal, sender journal.Sender, list []journal.Payment) {
			for _, err := range j.PayAll(ctx, sender, places, slices.Values(list)) {
				_ = err // one in 10,000 stays unknown
			}
		},
		"Workers": func(ctx context.Context, j *Journal, sender journal.Sender, list []journal.Payment) {
			enqueue(t, j, list)
			ctx, end := context.WithCancel(ctx)
			workers := journal.Workers{N: places, Seal: options.Seal, DigestKey: options.DigestKey}
			var left atomic.Int64
			left.Store(int64(len(list)))
			workers.Trace.Recorded = func(e journal.Entry) {
				if e.State == journal.StateDone && left.Add(-1) == 0 {
					end()
				}
			}
			require.NoError(t, workers.Run(ctx, j, sender))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv, list := payroll(t, 600)
				j, _ := openMemoryWith(t, nil, options)
				began := time.Now()
				pay(t.Context(), j, srv.Client().Accounts, list)
				sent, working := map[string]bool{}, time.Duration(0)
				for _, r := range srv.Requests() {
					if id := r.RequestID; id != "" && len(sent) < len(list) {
						sent[string(id)] = true
						working += r.Duration
						if len(sent) == len(list) {
							share := float64(working) / float64(places*r.Time.Sub(began))
							t.Logf("a place sends for %.0f %% of the time", 100*share)
							require.Greater(t, share, 0.9)
						}
					}
				}
				require.Len(t, sent, len(list))
				require.Empty(t, srv.PaidTwice())
			})
		})
	}
}

const responseTime = 200 * time.Millisecond

// enqueue adds the payments of a list for workers.
func enqueue(t *testing.T, j *Journal, list []journal.Payment) {
	t.Helper()
	for _, p := range list {
		e, err := journal.NewEntry(j.options.DigestKey, p.Account, p.Params)
		require.NoError(t, err)
		e.Sealed, err = e.Seal(j.options.Seal, p.Params)
		require.NoError(t, err)
		require.NoError(t, j.record(e))
	}
}

// payroll returns a service that loses one response in ten, and a list of payments.
func payroll(t *testing.T, payments int) (*prepaidtest.Server, []journal.Payment) {
	t.Helper()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "1000000.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop().WithProbability(0.05), prepaidtest.DropBeforeCommit().WithProbability(0.05),
		prepaidtest.Delay(responseTime).Always())
	list := make([]journal.Payment, payments)
	for n := range list {
		params := payment(n)
		params.DestinationAccountID = to
		list[n] = journal.Payment{Account: from, Params: params}
	}
	return srv, list
}
