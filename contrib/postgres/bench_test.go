package prepaidpg_test

import (
	"context"
	"encoding/json"
	"flag"
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

var benchRows = flag.Int("rows", 1000, "the most settled payments in the table of BenchmarkGrowth; docs/performance.md has 1,000,000")

const (
	benchWorkers = 8
	benchClaim   = 20
)

// BenchmarkPayments pays the same number of payments with a full store and with a baseline, in turns. The sender responds at
// once, so that only the database is measured.
func BenchmarkPayments(b *testing.B) {
	for _, workers := range []int{1, 4, 16} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			x := newBench(b, pgtest.Start(b, pgtest.Options{}))
			l := newBaseline(b, x.pool)
			payments := max(b.N, 4*16*benchClaim)
			const turns = 8
			var baseline, ours time.Duration
			for turn := range turns {
				part := payments / turns
				l.fill(b, part)
				x.enqueue(b, part)
				if turn%4 == 0 || turn%4 == 3 { // baseline, ours, ours, baseline
					baseline += l.pay(b, workers)
					ours += x.pay(b, part, workers)
				} else {
					ours += x.pay(b, part, workers)
					baseline += l.pay(b, workers)
				}
			}
			report(b, payments, baseline, ours)
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
			_, err := tx.Exec(ctx, `update orders set state = $2 where request_id = $1`, e.RequestID, e.State)
			return err
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

// baseline is the least that workers on several machines can do: a claim of 20, and one transaction that updates all of them and the
// books of each, on a table that has nothing else. It stores neither params nor outcome, and has no unknown outcomes.
type baseline struct{ pool *pgxpool.Pool }

func newBaseline(b *testing.B, pool *pgxpool.Pool) baseline {
	b.Helper()
	_, err := pool.Exec(b.Context(), `create table baseline (id bigint primary key, state text not null, due timestamptz,
			lease bigint not null default 0);
		create index on baseline (due) where due is not null;
		create table baseline_orders (id bigint primary key, state text not null) with (fillfactor = 70)`)
	require.NoError(b, err)
	return baseline{pool}
}

func (l baseline) fill(b *testing.B, n int) {
	b.Helper()
	_, err := l.pool.Exec(b.Context(), `truncate baseline, baseline_orders`)
	require.NoError(b, err)
	_, err = l.pool.Exec(b.Context(), `with o as (insert into baseline_orders select i, 'open' from generate_series(1, $1) i)
		insert into baseline (id, state, due) select i, 'queued', now() from generate_series(1, $1) i`, n)
	require.NoError(b, err)
}

const (
	claimBaseline = `with d as (select id from baseline where due <= now() order by due limit $1 for update skip locked)
		update baseline f set state = 'intended', lease = f.lease + 1, due = now() + interval '1 hour' from d where f.id = d.id
		returning f.id, f.lease`
	updateBaseline = `update baseline f set state = 'done', due = null from unnest($1::bigint[], $2::bigint[]) as o (id, lease)
		where f.id = o.id and f.lease = o.lease`
	updateOrder = `update baseline_orders set state = 'done' where id = $1`
)

// pay returns how long it takes to pay all.
func (l baseline) pay(b *testing.B, workers int) time.Duration {
	b.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for l.batch(b) {
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// batch claims and pays, and reports whether there was anything to pay.
func (l baseline) batch(b *testing.B) bool {
	var ids, leases []int64
	var id, lease int64
	rows, _ := l.pool.Query(b.Context(), claimBaseline, benchClaim) // the error is that of rows
	_, err := pgx.ForEachRow(rows, []any{&id, &lease}, func() error {
		ids, leases = append(ids, id), append(leases, lease)
		return nil
	})
	if err == nil {
		err = pgx.BeginFunc(b.Context(), l.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(b.Context(), updateBaseline, ids, leases)
			for _, id := range ids {
				if err == nil {
					_, err = tx.Exec(b.Context(), updateOrder, id)
				}
			}
			return err
		})
	}
	if err != nil {
		b.Error(err)
		return false
	}
	return len(ids) > 0
}

// In BenchmarkEnqueue 32 clients commit orders with and without their payments, in turns.
func BenchmarkEnqueue(b *testing.B) {
	x := newBench(b, pgtest.Start(b, pgtest.Options{}))
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
						if err != nil || !with {
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

// BenchmarkGrowth pays payments in tables with few and with many settled ones, and with many that are not due yet, in turns.
// The cost of a payment must not grow. The fastest turn counts: others may measure other work of the machine.
func BenchmarkGrowth(b *testing.B) {
	const turns = 9
	server := pgtest.Start(b, pgtest.Options{})
	var names []string
	var tables []*bench
	for _, kind := range []string{"settled", "waiting"} {
		for rows := min(*benchRows, 10_000); rows <= *benchRows; rows *= 10 {
			x := newBench(b, server)
			x.grow(b, kind, rows)
			names, tables = append(names, kind+"-"+strconv.Itoa(rows)), append(tables, x)
		}
	}
	part := max(b.N/turns, benchWorkers*benchClaim)
	least := make([]time.Duration, len(tables))
	for turn := range turns {
		for i := range tables {
			i := (i + turn) % len(tables)
			tables[i].enqueue(b, part)
			if took := tables[i].pay(b, part, benchWorkers); turn == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	for i, name := range names {
		b.ReportMetric(float64(least[i].Microseconds())/float64(part), name+"-us")
	}
}

// grow adds payments with their history and orders.
func (x *bench) grow(b *testing.B, kind string, rows int) {
	b.Helper()
	state, due := "done", "null"
	if kind == "waiting" {
		state, due = "queued", "now() + interval '1 day'"
	}
	for _, statement := range []string{
		`insert into prepaid.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due)
			select 'known ' || i, 'Accounts.DirectEntryOut', 'EA52174568995001', i, sha256(i::text::bytea), sha256(i::text::bytea),
				case when '` + state + `' = 'queued' then decode(repeat(md5(i::text), 10), 'hex') end, '` + state + `', ` + due + `
			from generate_series(1, $1::int) i`,
		`insert into prepaid.history (payment, lease, event, state, attempts)
			select number, 1, event, state, 1 from prepaid.payments, (values ('enqueue'), ('begin'), ('end')) e (event) where number <= $1`,
		`insert into orders select request_id, state from prepaid.payments limit $1`,
	} {
		_, err := x.pool.Exec(b.Context(), statement, rows)
		require.NoError(b, err)
	}
	_, err := x.pool.Exec(b.Context(), `vacuum analyze`)
	require.NoError(b, err)
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
