package prepaidpg_test

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/journal"
)

const benchClaim = 20

// BenchmarkPayments pays the same number of payments with a full store and by hand, in turns. The sender responds at once, so that only
// the database is measured.
func BenchmarkPayments(b *testing.B) {
	for _, workers := range []int{1, 4, 16} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			server := pgtest.Start(b, pgtest.Options{})
			x, hand := newBench(b, server), newBench(b, server)
			const turns = 8
			part := max(b.N/turns, 8*benchClaim)
			var baseline, ours time.Duration
			for turn := range turns {
				x.enqueue(b, part)
				hand.enqueue(b, part)
				if turn%4 == 0 || turn%4 == 3 { // baseline, ours, ours, baseline
					baseline += hand.payByHand(b, workers)
				}
				ours += x.pay(b, part, workers)
				if turn%4 == 1 || turn%4 == 2 {
					baseline += hand.payByHand(b, workers)
				}
			}
			report(b, turns*part, baseline, ours)
		})
	}
}

// bench is a store with the books of a partner.
type bench struct {
	pool  *pgxpool.Pool
	store *prepaidpg.Store
	next  int // payment
}

func newBench(b testing.TB, server *pgtest.Server) *bench {
	b.Helper()
	config, err := pgxpool.ParseConfig(server.NewDatabase(b))
	require.NoError(b, err)
	config.MaxConns = 32
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	require.NoError(b, prepaidpg.Migrate(b.Context(), pool, "prepaid"))
	seal, err := journal.NewAEAD([]byte("0123456789abcdef0123456789abcdef"))
	require.NoError(b, err)
	store, err := prepaidpg.Open(b.Context(), pool, prepaidpg.Options{DigestKey: prepaid.NewSecret("digests"), Seal: seal})
	require.NoError(b, err)
	_, err = pool.Exec(b.Context(), `create table orders (request_id text primary key, state text not null) with (fillfactor = 70)`)
	require.NoError(b, err)
	return &bench{pool: pool, store: store}
}

// payment is a direct entry that was not used before.
func (x *bench) payment() prepaid.DirectEntryOutParams {
	x.next++
	number := strconv.Itoa(x.next)
	return prepaid.DirectEntryOutParams{
		RequestID: prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), "bench", number), Amount: prepaid.Cents(int64(x.next)),
		SourceReference: "order " + number, DestinationReference: "order " + number, BSB: "012345",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "A Payee"},
	}
}

// enqueue adds payments with their orders.
func (x *bench) enqueue(b *testing.B, n int) {
	b.Helper()
	batch, orders := make([]journal.Payment, n), make([][]any, n)
	for i := range batch {
		p := x.payment()
		batch[i], orders[i] = journal.Payment{Account: "EA52174568995001", Params: p}, []any{string(p.RequestID), "open"}
	}
	require.NoError(b, pgx.BeginFunc(b.Context(), x.pool, func(tx pgx.Tx) error {
		if _, err := x.store.EnqueueBatch(b.Context(), tx, eachOf(batch)); err != nil {
			return err
		}
		_, err := tx.CopyFrom(b.Context(), pgx.Identifier{"orders"}, []string{"request_id", "state"}, pgx.CopyFromRows(orders))
		return err
	}))
}

// pay returns how long it takes to pay n payments and to write the books.
func (x *bench) pay(b *testing.B, n, workers int) time.Duration {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var recorded atomic.Int64
	began := time.Now()
	err := x.store.Run(ctx, instant{}, prepaidpg.Workers{
		N: workers, Claim: benchClaim,
		Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
			return book(ctx, tx, e.RequestID, e.State)
		},
		Trace: journal.Trace{Recorded: func(journal.Entry) {
			if recorded.Add(1) == int64(n) {
				cancel() // Run returns when all are settled
			}
		}},
	})
	took := time.Since(began)
	require.NoError(b, err)
	var open int
	require.NoError(b, x.pool.QueryRow(b.Context(), `select count(*) from orders where state = 'open'`).Scan(&open))
	require.Zero(b, open)
	return took
}

// book writes the outcome of a payment to the books.
func book(ctx context.Context, tx pgx.Tx, id prepaid.RequestID, state journal.State) error {
	_, err := tx.Exec(ctx, `update orders set state = $2 where request_id = $1`, id, state)
	return err
}

// instant is a service that pays at once.
type instant struct{}

func (instant) NotBefore(lastSent time.Time) time.Time { return lastSent.Add(40 * time.Second) }

func (instant) AwaitRepeat(context.Context, prepaid.AccountID, time.Time) error { return nil }

func (instant) Transfer(_ context.Context, _ prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return &prepaid.TransferResult{TransactionID: "7", CorrelationID: "7", RequestID: p.RequestID}, nil
}

func (instant) DirectEntryOut(_ context.Context, _ prepaid.AccountID, p prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	return &prepaid.TransferResult{TransactionID: "7", CorrelationID: "7", RequestID: p.RequestID}, nil
}

// What a program for one bank would write by hand, on the same tables: a claim of 20 with its history, and one transaction for their
// outcomes, history and books. It opens no params, and has no other outcomes, fences or rules for an unsafe server.
const (
	claimByHand = `with d as (select request_id from prepaid.payments where due <= now() order by due limit $1 for update skip locked
		), p as (update prepaid.payments f set state = 'intended', lease = f.lease + 1, runs = runs + 1, changed = now(), began = now(),
			due = now() + interval '1 hour', sends_until = now() + interval '1 minute' from d where f.request_id = d.request_id
			returning f.number, f.request_id, f.account_id, f.sealed, f.lease
		), h as (insert into prepaid.history (payment, lease, event, state, attempts) select number, lease, 'begin', 'intended', 0 from p)
		select request_id, account_id, sealed, lease from p`
	endByHand = `with p as (update prepaid.payments f set state = 'done', due = null, sends_until = null, changed = now(), transaction_id = '7',
			sealed = null from unnest($1::text[], $2::bigint[]) as o (id, lease) where f.request_id = o.id and f.lease = o.lease
			returning f.number, f.lease
		) insert into prepaid.history (payment, lease, event, state, attempts) select number, lease, 'end', 'done', 1 from p`
)

// payByHand returns how long it takes to pay all.
func (x *bench) payByHand(b *testing.B, workers int) time.Duration {
	b.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for x.groupByHand(b) {
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// groupByHand claims and pays, and reports whether there was anything to pay.
func (x *bench) groupByHand(b *testing.B) bool {
	var ids []string
	var leases []int64
	var id, account string
	var sealed []byte
	var lease int64
	rows, _ := x.pool.Query(b.Context(), claimByHand, benchClaim) // the error is that of rows
	_, err := pgx.ForEachRow(rows, []any{&id, &account, &sealed, &lease}, func() error {
		ids, leases = append(ids, id), append(leases, lease)
		return nil
	})
	if err == nil {
		err = pgx.BeginFunc(b.Context(), x.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(b.Context(), endByHand, ids, leases)
			for _, id := range ids {
				err = cmp.Or(err, book(b.Context(), tx, prepaid.RequestID(id), journal.StateDone))
			}
			return err
		})
	}
	if err != nil {
		b.Error(err)
	}
	return err == nil && len(ids) > 0
}

// In BenchmarkEnqueue 32 clients commit orders with their payments, by Enqueue and by a bare insert of a row of the same size, in turns.
func BenchmarkEnqueue(b *testing.B) {
	x := newBench(b, pgtest.Start(b, pgtest.Options{}))
	_, err := x.pool.Exec(b.Context(), `create table bare (like prepaid.payments including all)`)
	require.NoError(b, err)
	const bare = `insert into bare (request_id, operation, account_id, amount, destination, params, sealed, state, due)
		values ($1, 'Accounts.DirectEntryOut', 'EA52174568995001', $2::text::numeric, $3, $3, $4, 'queued', now())`
	const clients, turns = 32, 8
	part := max(b.N/turns/clients, 10)
	commit := func(with bool) time.Duration {
		lists := make([][]prepaid.DirectEntryOutParams, clients)
		for i := range lists {
			for range part {
				lists[i] = append(lists[i], x.payment())
			}
		}
		began := time.Now()
		var all sync.WaitGroup
		for _, list := range lists {
			all.Go(func() {
				for _, p := range list {
					err := pgx.BeginFunc(b.Context(), x.pool, func(tx pgx.Tx) error {
						_, err := tx.Exec(b.Context(), "insert into orders values ($1, 'open')", string(p.RequestID))
						if err != nil {
							return err
						}
						if !with {
							_, err := tx.Exec(b.Context(), bare, string(p.RequestID), p.Amount.String(), make([]byte, 32), make([]byte, 340))
							return err
						}
						return x.store.Enqueue(b.Context(), tx, "EA52174568995001", p)
					})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		return time.Since(began)
	}
	var baseline, ours time.Duration
	for range turns {
		baseline += commit(false)
		ours += commit(true)
	}
	report(b, turns*part*clients, baseline, ours)
}

// BenchmarkEnqueueBatch enqueues a batch, and COPYs the same bytes into a table, in turns.
func BenchmarkEnqueueBatch(b *testing.B) {
	x := newBench(b, pgtest.Start(b, pgtest.Options{}))
	_, err := x.pool.Exec(b.Context(), `create table bare (request_id text primary key, amount numeric, params bytea, due timestamptz)`)
	require.NoError(b, err)
	const turns = 4
	part := max(b.N/turns, 1)
	var baseline, ours time.Duration
	for range turns {
		rows := make([][]any, part)
		batch := make([]journal.Payment, part)
		for i := range batch {
			p := x.payment()
			plain, err := json.Marshal(p)
			require.NoError(b, err)
			rows[i] = []any{string(p.RequestID), p.Amount.String(), plain, time.Now()}
			batch[i] = journal.Payment{Account: "EA52174568995001", Params: p}
		}
		began := time.Now()
		_, err := x.pool.CopyFrom(b.Context(), pgx.Identifier{"bare"}, []string{"request_id", "amount", "params", "due"}, pgx.CopyFromRows(rows))
		require.NoError(b, err)
		baseline += time.Since(began)
		began = time.Now()
		require.NoError(b, pgx.BeginFunc(b.Context(), x.pool, func(tx pgx.Tx) error {
			_, err := x.store.EnqueueBatch(b.Context(), tx, eachOf(batch))
			return err
		}))
		ours += time.Since(began)
	}
	report(b, turns*part, baseline, ours)
}

// report adds both rates and their ratio.
func report(b *testing.B, payments int, baseline, ours time.Duration) {
	b.Helper()
	b.ReportMetric(float64(payments)/baseline.Seconds(), "baseline/s")
	b.ReportMetric(float64(payments)/ours.Seconds(), "payments/s")
	b.ReportMetric(baseline.Seconds()/ours.Seconds(), "ratio")
	b.ReportMetric(float64(ours)/float64(payments), "ns/op")
}

func eachOf(batch []journal.Payment) iter.Seq2[journal.Payment, error] {
	return func(yield func(journal.Payment, error) bool) {
		for _, p := range batch {
			if !yield(p, nil) {
				return
			}
		}
	}
}
