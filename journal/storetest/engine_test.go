package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/storetest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// teller makes payments by a function for each request ID, or just makes them.
type teller struct {
	journal.Sender

	odd   map[prepaid.RequestID]func()
	await func() // called by AwaitRepeat; may be nil
}

func (teller) NotBefore(lastSent time.Time) time.Time { return lastSent.Add(40 * time.Second) }

func (s teller) AwaitRepeat(ctx context.Context, _ prepaid.AccountID, lastSent time.Time) error {
	if s.await != nil {
		s.await()
	}
	select {
	case <-time.After(time.Until(s.NotBefore(lastSent))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s teller) Transfer(_ context.Context, _ prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	if f := s.odd[params.RequestID]; f != nil {
		f()
	}
	return &prepaid.TransferResult{RequestID: params.RequestID, TransactionID: "t-" + prepaid.TransactionID(params.RequestID)}, nil
}

// runs runs workers over a store that may be broken, until stop is called.
func runs(t *testing.T, b *broken, s journal.Sender, n int, trace func(stop func()) journal.Trace, ids ...prepaid.RequestID) error {
	t.Helper()
	for _, id := range ids {
		b.enqueue(storetest.NewEntry(t, "payer", prepaid.TransferParams{RequestID: id, Amount: prepaid.Cents(1)}))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := journal.Workers{N: n, DigestKey: storetest.DigestKey(), Seal: storetest.Seal(), Trace: trace(stop)}
	return w.Run(ctx, b, s)
}

// A missing payment is reported with its transaction. The others are recorded.
func TestGoneIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &broken{database: newDatabase(0)}
		s := teller{odd: map[prepaid.RequestID]func(){"a": func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.rows, "a")
		}}}
		var gone []journal.Entry
		began := time.Now()
		require.NoError(t, runs(t, b, s, 1, func(stop func()) journal.Trace {
			return journal.Trace{Gone: func(e journal.Entry) { gone = append(gone, e) }, Recorded: func(journal.Entry) { stop() }}
		}, "a", "b"))
		require.Len(t, gone, 1)
		require.Equal(t, journal.StateDone, gone[0].State)
		require.Equal(t, prepaid.TransactionID("t-a"), gone[0].TransactionID)
		require.Equal(t, journal.StateDone, b.rows["b"].entry.State)
		require.Less(t, time.Since(began), time.Second)
	})
}

// A sender that panics or ends its goroutine may have sent until then. Workers continue, also after a panic in the wait for a repeat.
func TestSenderThatBreaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &broken{database: newDatabase(0)}
		var once, twice, thrice sync.Once
		s := teller{odd: map[prepaid.RequestID]func(){
			"a": func() { once.Do(func() { time.Sleep(time.Minute); panic("broken") }) }, "b": func() { twice.Do(runtime.Goexit) },
		}, await: func() { thrice.Do(func() { panic("broken") }) }}
		states := make(map[prepaid.RequestID][]journal.State)
		began := time.Now()
		require.NoError(t, runs(t, b, s, 3, func(stop func()) journal.Trace {
			var mu sync.Mutex
			return journal.Trace{Sent: func(e journal.Entry, _ time.Duration, err error) {
				if e.RequestID == "a" && e.State == journal.StateUnknown {
					assert.ErrorContains(t, err, "panic")
				}
			}, Recorded: func(e journal.Entry) {
				mu.Lock()
				defer mu.Unlock()
				states[e.RequestID] = append(states[e.RequestID], e.State)
				if len(states["a"])+len(states["b"])+len(states["c"]) == 5 {
					stop()
				}
			}}
		}, "a", "b", "c"))
		require.Equal(t, map[prepaid.RequestID][]journal.State{
			"a": {journal.StateUnknown, journal.StateDone}, "b": {journal.StateUnknown, journal.StateDone}, "c": {journal.StateDone},
		}, states)
		require.GreaterOrEqual(t, time.Since(began), time.Minute+40*time.Second)
	})
}

// down is a service that processes nothing for a while.
type down struct {
	teller

	until time.Time
	sent  *atomic.Int64
}

func (s down) Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	time.Sleep(time.Millisecond)
	if s.sent.Add(1); time.Now().Before(s.until) {
		return nil, &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: errMistake}
	}
	return s.teller.Transfer(ctx, source, params)
}

// While the service is down, workers call it rarely, also for payments of unknown outcome. Then all payments are made soon.
func TestServiceThatIsDown(t *testing.T) {
	t.Parallel()
	const payments = 200
	for _, sent := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			b, began := &broken{database: newDatabase(0)}, time.Now()
			for n := range payments {
				params := prepaid.TransferParams{RequestID: prepaid.RequestID(fmt.Sprint(n)), Amount: prepaid.Cents(1)}
				if sent > 0 {
					params.LastSent = began.Add(-sent)
				}
				b.enqueue(storetest.NewEntry(t, "payer", params))
			}
			s, paid := down{until: began.Add(5 * time.Second), sent: new(atomic.Int64)}, 0
			require.NoError(t, runs(t, b, s, 10, func(stop func()) journal.Trace {
				var mu sync.Mutex
				return journal.Trace{Recorded: func(e journal.Entry) {
					mu.Lock()
					defer mu.Unlock()
					if e.State == journal.StateDone {
						if paid++; paid == payments {
							stop()
						}
					}
				}}
			}))
			t.Log(time.Since(began), s.sent.Load())
			require.Positive(t, s.sent.Load()-payments)
			require.Less(t, s.sent.Load(), int64(payments+150), "without a brake there would be hundreds")
			require.Less(t, time.Since(began), 20*time.Second)
		})
	}
}

// muted is a service that does not respond to reads of one account.
type muted struct {
	teller

	responded *atomic.Bool
}

func (s muted) AwaitRepeat(ctx context.Context, source prepaid.AccountID, lastSent time.Time) error {
	if source == "mute" && !s.responded.Load() {
		time.Sleep(80 * time.Second)
		return errMistake
	}
	s.responded.Store(true)
	return s.teller.AwaitRepeat(ctx, source, lastSent)
}

// If the service does not respond to reads of one account, workers ask for another one, and then admit all payments.
func TestMuteAccountStopsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, began, paid := &broken{database: newDatabase(0)}, time.Now(), 0
		for n, account := range []prepaid.AccountID{"mute", "mute", "mute", "well", "mute"} {
			params := prepaid.TransferParams{RequestID: prepaid.RequestID(fmt.Sprint(n)), Amount: prepaid.Cents(1)}
			params.LastSent = began.Add(time.Duration(n-100) * time.Second)
			b.enqueue(storetest.NewEntry(t, account, params))
			time.Sleep(time.Millisecond) // another due time
		}
		require.NoError(t, runs(t, b, muted{responded: new(atomic.Bool)}, 1, func(stop func()) journal.Trace {
			return journal.Trace{Recorded: func(e journal.Entry) {
				if paid++; paid == 5 {
					stop()
				}
			}}
		}))
		require.Less(t, time.Since(began), 100*time.Second)
	})
}

// after calls stop when n outcomes are recorded.
func after(n int, stop func()) func(journal.Entry) {
	var recorded atomic.Int64
	return func(journal.Entry) {
		if recorded.Add(1) == int64(n) {
			stop()
		}
	}
}

func numbered(n int) (ids []prepaid.RequestID) {
	for i := range n {
		ids = append(ids, prepaid.RequestID(fmt.Sprint(i)))
	}
	return ids
}

// Payments that waited too long are given back, and fewer wait from then on. They are claimed again when the service is fast again. A
// service that is always slower than the store gets no more payments than one claim takes, and none is given back.
func TestSlowService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, payments int
		call, lasts time.Duration
		least, most int64 // payments given back
	}{{100, 120, 70 * time.Second, time.Minute, 1, 120}, {1, 120, 20 * time.Second, time.Hour, 1, 200}, {1, 60, 2500 * time.Millisecond, time.Hour, 0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			b, began, s, ids := &broken{database: newDatabase(0)}, time.Now(), teller{odd: map[prepaid.RequestID]func(){}}, numbered(c.payments)
			for _, id := range ids {
				s.odd[id] = func() {
					if time.Since(began) < c.lasts {
						time.Sleep(c.call)
					}
				}
			}
			var given atomic.Int64
			require.NoError(t, runs(t, b, s, c.n, func(stop func()) journal.Trace {
				time.AfterFunc(time.Hour, stop)
				return journal.Trace{
					GivenBack: func(_ prepaid.RequestID, why error) {
						assert.ErrorContains(t, why, "too much of the lease")
						given.Add(1)
					},
					Recorded: after(c.payments, stop),
				}
			}, ids...))
			require.Less(t, time.Since(began), time.Hour, "all are paid")
			require.GreaterOrEqual(t, given.Load(), c.least)
			require.LessOrEqual(t, given.Load(), c.most, "each claim would take as many again")
		})
	}
}

// If claims at the same time fail, as serializable transactions do, single claims follow.
func TestClaimsThatConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, began, ids := &broken{database: newDatabase(0)}, time.Now(), numbered(1000)
		var claims, failed atomic.Int64
		b.claim = func(c journal.Claim) ([]journal.Held, error) {
			defer claims.Add(-1)
			if claims.Add(1) > 1 {
				failed.Add(1)
				return nil, errors.New("conflict")
			}
			time.Sleep(time.Millisecond)
			return b.database.Claim(context.Background(), c)
		}
		require.NoError(t, runs(t, b, teller{}, 100, func(stop func()) journal.Trace {
			return journal.Trace{Recorded: after(len(ids), stop)}
		}, ids...))
		require.NotZero(t, failed.Load())
		require.Less(t, time.Since(began), 10*time.Second)
	})
}

// Many payments of unknown outcome, each with its own due time, are sent faster than one address may send.
func TestManyUnknownPayments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, began, ids := &broken{database: newDatabase(0)}, time.Now(), numbered(2000)
		for _, id := range ids {
			params := prepaid.TransferParams{RequestID: id, Amount: prepaid.Cents(1), LastSent: began.Add(-time.Hour)}
			b.enqueue(storetest.NewEntry(t, "payer", params))
			time.Sleep(time.Millisecond) // another due time
		}
		began = time.Now()
		require.NoError(t, runs(t, b, teller{}, 100, func(stop func()) journal.Trace {
			return journal.Trace{Recorded: after(len(ids), stop)}
		}))
		require.Less(t, time.Since(began), time.Duration(len(ids))*2*time.Millisecond)
	})
}

// When the store works again, outcomes are recorded; nothing was sent twice.
func TestStoreThatFailsForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &broken{database: newDatabase(0)}
		began, failures := time.Now(), 0
		b.record = func(ends []journal.End) ([]journal.Recorded, error) {
			if time.Since(began) < time.Minute {
				return nil, errMistake
			}
			return b.database.Record(t.Context(), ends)
		}
		sent := 0
		require.NoError(t, runs(t, b, teller{odd: map[prepaid.RequestID]func(){"a": func() { sent++ }}}, 1, func(stop func()) journal.Trace {
			return journal.Trace{
				Failed: func(error) { failures++ }, Recorded: func(e journal.Entry) { require.Equal(t, journal.StateDone, e.State); stop() },
			}
		}, "a"))
		require.Positive(t, failures)
		require.Equal(t, 1, sent)
	})
}

// Run returns an error if it cannot record an outcome before the lease is over. The next run sends the payment again, under its request ID.
func TestRunThatCannotRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &broken{database: newDatabase(0)}
		b.record = func([]journal.End) ([]journal.Recorded, error) { return nil, errMistake }
		once := func(stop func()) journal.Trace {
			return journal.Trace{Sent: func(journal.Entry, time.Duration, error) { stop() }, Recorded: func(journal.Entry) { stop() }}
		}
		require.ErrorIs(t, runs(t, b, teller{}, 1, once, "a"), journal.ErrNotRecorded)
		require.Equal(t, journal.StateIntended, b.rows["a"].entry.State)
		b.record = nil
		require.NoError(t, runs(t, b, teller{}, 1, once))
		require.Equal(t, journal.StateDone, b.rows["a"].entry.State)
		require.Equal(t, 2, b.rows["a"].entry.Runs)
	})
}

// silent is a store, and a sender, that responds only when its context has ended.
type silent struct {
	teller
	*broken

	claims int
}

func (s *silent) Claim(ctx context.Context, c journal.Claim) ([]journal.Held, error) {
	if s.claims++; s.claims == 1 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.broken.Claim(ctx, c)
}

func (s *silent) Transfer(ctx context.Context, _ prepaid.AccountID, _ prepaid.TransferParams) (*prepaid.TransferResult, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Errors say which limit was over. After Grace, calls are cancelled, and their unknown outcomes are recorded.
func TestErrorsNameTheLimit(t *testing.T) {
	t.Parallel()
	for grace, limit := range map[time.Duration]string{time.Minute: "CallTimeout is over", 10 * time.Second: "context canceled"} {
		synctest.Test(t, func(t *testing.T) {
			s, began := &silent{broken: &broken{database: newDatabase(0)}}, time.Now()
			s.enqueue(storetest.NewEntry(t, "payer", prepaid.TransferParams{RequestID: "a", Amount: prepaid.Cents(1)}))
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			var failed, sent []string
			w := journal.Workers{N: 1, CallTimeout: time.Minute, Grace: grace, DigestKey: storetest.DigestKey(), Seal: storetest.Seal(), Trace: journal.Trace{
				Failed: func(err error) { failed = append(failed, err.Error()) },
				Sent:   func(_ journal.Entry, _ time.Duration, err error) { sent = append(sent, err.Error()) },
			}}
			require.NoError(t, w.Run(ctx, s, s))
			require.Equal(t, []string{"journal: the store did not respond within 30s: context deadline exceeded"}, failed)
			require.Len(t, sent, 1)
			require.Contains(t, sent[0], limit)
			require.Less(t, time.Since(began), grace+time.Minute+time.Second)
			require.Equal(t, journal.StateUnknown, s.rows["a"].entry.State)
		})
	}
}

// The response to the first request is lost after the money moved. The second process receives a 404, which proves nothing about the
// first request: the payment stays unknown. Each waits until the request before can no longer be in progress.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
		store, began := newDatabase(0), time.Now()
		store.enqueue(storetest.NewEntry(t, from, prepaid.TransferParams{
			RequestID: "invoice-7", Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to, SourceReference: "s", DestinationReference: "d",
		}))
		for i, fault := range []prepaidtest.Fault{prepaidtest.CommitThenDrop(), prepaidtest.Respond(404, "not_found"), {}} {
			srv.Inject("POST /accounts/{id}/transfer", fault)
			config := srv.Config()
			config.Retry.MaxAttempts = 1
			client, err := prepaid.NewClient(config) // a new process
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			workers := journal.Workers{DigestKey: storetest.DigestKey(), Seal: storetest.Seal(), Trace: journal.Trace{Recorded: func(journal.Entry) { stop() }}}
			require.NoError(t, workers.Run(ctx, store, client.Accounts))
			require.NoError(t, client.Close())
			require.Equal(t, []journal.State{journal.StateUnknown, journal.StateUnknown, journal.StateDone}[i], store.rows["invoice-7"].entry.State)
			require.Equal(t, "74.50", srv.Balance(from))
			require.GreaterOrEqual(t, time.Since(began), time.Duration(i)*40*time.Second)
		}
		require.Equal(t, 1, srv.Movements("invoice-7"))
	})
}
