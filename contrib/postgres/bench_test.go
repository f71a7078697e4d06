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

// BenchmarkPayments has the same number of payments paid by a store with everything on and by its floor, in turns.
// The sender responds at once, so that the database is what is measured.
func BenchmarkPayments(b *testing.B) {
	x := newBench(b, pgtest.Start(b, pgtest.Options{}))
	f := newFloor(b, x.pool)
	payments := max(b.N, 4*benchWorkers*benchClaim)
	const turns = 8
	var floor, ours time.Duration
	for turn := range turns {
		part := payments / turns
		f.fill(b, part)
		x.enqueue(b, part)
		if turn%4 == 0 || turn%4 == 3 { // floor, ours, ours, floor
			floor += f.pay(b)
			ours += x.pay(b, part)
		} else {
			ours += x.pay(b, part)
			floor += f.pay(b)
		}
	}
	report(b, payments, floor, ours)
}

// bench is a store with the books of a partner.
type bench struct {
	pool  *pgxpool.Pool
	store *prepaidpg.Store
	next  int // payment
}

func newBench(b *testing.B, server *pgtest.Server) *bench {
	b.Helper()
	config, err := pgxpool.ParseConfig(server.NewDatabase(b))
	require.NoError(b, err)
	config.MaxConns = 4 * benchWorkers
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
	batch, orders := make([]prepaidpg.Payment, n), make([][]any, n)
	for i := range batch {
		p := x.payment()
		batch[i], orders[i] = prepaidpg.Payment{Account: "EA52174568995001", Params: p}, []any{string(p.RequestID), "open"}
	}
	require.NoError(b, pgx.BeginFunc(b.Context(), x.pool, func(tx pgx.Tx) error {
		if _, err := x.store.EnqueueBatch(b.Context(), tx, eachOf(batch)); err != nil {
			return err
		}
		_, err := tx.CopyFrom(b.Context(), pgx.Identifier{"orders"}, []string{"request_id", "state"}, pgx.CopyFromRows(orders))
		return err
	}))
}

// pay returns how long n payments take.
func (x *bench) pay(b *testing.B, n int) time.Duration {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var settled atomic.Int64
	began := time.Now()
	var took time.Duration
	err := x.store.Run(ctx, instant{}, prepaidpg.Workers{
		N: benchWorkers, Claim: benchClaim,
		Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
			_, err := tx.Exec(ctx, `update orders set state = $2 where request_id = $1`, e.RequestID, e.State)
			return err
		},
		Trace: prepaidpg.Trace{Recorded: func(journal.Entry) {
			if settled.Add(1) == int64(n) {
				took = time.Since(began)
				cancel()
			}
		}},
	})
	require.NoError(b, err)
	require.EqualValues(b, n, settled.Load())
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

// floor is the least that workers on several machines can do: a claim of 20 and an update for each payment, on a table that has
// nothing else. It stores neither what is sent nor what happened, and knows nothing of an unknown outcome.
type floor struct{ pool *pgxpool.Pool }

func newFloor(b *testing.B, pool *pgxpool.Pool) floor {
	b.Helper()
	_, err := pool.Exec(b.Context(), `create table floor (id bigint primary key, state text not null, due timestamptz,
			lease bigint not null default 0);
		create index on floor (due) where due is not null`)
	require.NoError(b, err)
	return floor{pool}
}

func (f floor) fill(b *testing.B, n int) {
	b.Helper()
	_, err := f.pool.Exec(b.Context(), `truncate floor`)
	require.NoError(b, err)
	_, err = f.pool.Exec(b.Context(), `insert into floor (id, state, due) select i, 'queued', now() from generate_series(1, $1) i`, n)
	require.NoError(b, err)
}

const (
	claimFloor = `with d as (select id from floor where due <= now() order by due limit $1 for update skip locked)
		update floor f set state = 'intended', lease = f.lease + 1, due = now() + interval '1 hour' from d where f.id = d.id
		returning f.id, f.lease`
	updateFloor = `update floor set state = 'done', due = null where id = $1 and lease = $2`
)

// pay returns how long it takes to pay all.
func (f floor) pay(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	var workers sync.WaitGroup
	for range benchWorkers {
		workers.Go(func() {
			for f.batch(b) {
			}
		})
	}
	workers.Wait()
	return time.Since(began)
}

// batch claims and pays, and reports whether there was anything to pay.
func (f floor) batch(b *testing.B) bool {
	type claim struct{ ID, Lease int64 }
	rows, _ := f.pool.Query(b.Context(), claimFloor, benchClaim) // the error is that of rows
	claims, err := pgx.CollectRows(rows, pgx.RowToStructByPos[claim])
	if err != nil {
		b.Error(err)
		return false
	}
	for _, c := range claims {
		if _, err := f.pool.Exec(b.Context(), updateFloor, c.ID, c.Lease); err != nil {
			b.Error(err)
			return false
		}
	}
	return len(claims) > 0
}

// BenchmarkEnqueueBatch has a batch enqueued by a store and copied by COPY into a table of as many bytes, in turns.
func BenchmarkEnqueueBatch(b *testing.B) {
	x := newBench(b, pgtest.Start(b, pgtest.Options{}))
	_, err := x.pool.Exec(b.Context(), `create table bare (request_id text primary key, amount numeric, params bytea, due timestamptz)`)
	require.NoError(b, err)
	const turns = 4
	part := max(b.N/turns, 1)
	var floor, ours time.Duration
	for range turns {
		rows := make([][]any, part)
		batch := make([]prepaidpg.Payment, part)
		for i := range batch {
			p := x.payment()
			plain, err := json.Marshal(p)
			require.NoError(b, err)
			rows[i] = []any{string(p.RequestID), p.Amount.String(), plain, time.Now()}
			batch[i] = prepaidpg.Payment{Account: "EA52174568995001", Params: p}
		}
		began := time.Now()
		_, err := x.pool.CopyFrom(b.Context(), pgx.Identifier{"bare"}, []string{"request_id", "amount", "params", "due"}, pgx.CopyFromRows(rows))
		require.NoError(b, err)
		floor += time.Since(began)
		began = time.Now()
		require.NoError(b, pgx.BeginFunc(b.Context(), x.pool, func(tx pgx.Tx) error {
			_, err := x.store.EnqueueBatch(b.Context(), tx, eachOf(batch))
			return err
		}))
		ours += time.Since(began)
	}
	report(b, turns*part, floor, ours)
}

// report adds both rates and their ratio.
func report(b *testing.B, payments int, floor, ours time.Duration) {
	b.Helper()
	b.ReportMetric(float64(payments)/floor.Seconds(), "floor/s")
	b.ReportMetric(float64(payments)/ours.Seconds(), "payments/s")
	b.ReportMetric(floor.Seconds()/ours.Seconds(), "ratio")
	b.ReportMetric(float64(ours)/float64(payments), "ns/op")
}

// BenchmarkGrowth has payments paid next to few and to many settled ones, and next to many that are not due yet, in turns. The
// cost of one must not grow. It is that of the fastest turn: on a machine that does other work, the others measure that.
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
			if took := tables[i].pay(b, part); turn == 0 || took < least[i] {
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

func eachOf(batch []prepaidpg.Payment) iter.Seq2[prepaidpg.Payment, error] {
	return func(yield func(prepaidpg.Payment, error) bool) {
		for _, p := range batch {
			if !yield(p, nil) {
				return
			}
		}
	}
}
