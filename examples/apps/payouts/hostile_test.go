package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/journal"
)

// harnessed returns the settings of a process under the harness.
func harnessed(job hostile.Job, config prepaid.Config, database string) settings {
	return settings{
		config: config, float: job.Payments[0].SourceAccountID, call: time.Second, database: database,
		key: prepaid.NewSecret(strings.Repeat("5a", 32)), log: slog.New(slog.DiscardHandler),
	}
}

// harnessedWorker is the part "work", until every order has an outcome.
func harnessedWorker(ctx context.Context, job hostile.Job) error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	s := harnessed(job, config, os.Getenv("PREPAID_PAYOUTS_DATABASE"))
	pool, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	working, finished := context.WithCancel(ctx)
	defer finished()
	go func() {
		for working.Err() == nil {
			sleep(working, 100*time.Millisecond)
			var open int // orders without an outcome, or not yet created
			err := pool.QueryRow(working, "select $1 - count(*) from orders where state in ('done', 'rejected')", len(job.Payments)).Scan(&open)
			if err == nil && open == 0 {
				finished()
			}
		}
	}()
	if err := work(working, s); err != nil {
		return err
	}
	return summarize(ctx, pool, job)
}

// summarize reports the states in the books to the harness.
func summarize(ctx context.Context, pool *pgxpool.Pool, job hostile.Job) error {
	states := map[string]hostile.State{string(journal.StateDone): hostile.StatePaid, string(journal.StateRejected): hostile.StateRejected}
	var claims []hostile.Claim
	for n, p := range job.Payments {
		var state string
		if err := pool.QueryRow(ctx, "select state from orders where id = $1", fmt.Sprint(n)).Scan(&state); err != nil {
			return err
		}
		claims = append(claims, hostile.Claim{RequestID: p.RequestID, State: states[state]})
	}
	return job.Summarize(claims)
}

// Handler, hook and worker run under the harness: kills, freezes, cut connections, overlapping repeats that pay, closed
// cards. The books agree with the accounts on each payment.
func TestHostile(t *testing.T) {
	t.Parallel()
	var pool *pgxpool.Pool
	server := pgtest.Start(t, pgtest.Options{})
	var ordering sync.WaitGroup
	prepare := func(ctx context.Context, job hostile.Job) error {
		s := harnessed(job, prepaid.Config{}, server.URL())
		var err error
		if pool, err = s.connect(ctx); err != nil {
			return err
		}
		if err := migrate(ctx, pool); err != nil {
			return err
		}
		for _, p := range job.Payments {
			if _, err := pool.Exec(ctx, "insert into payees values ($1) on conflict do nothing", p.DestinationAccountID); err != nil {
				return err
			}
		}
		store, err := s.openStore(ctx, pool)
		web := &web{pool: pool, store: store, float: s.float, log: s.log}
		ordering.Go(func() { // while the copies run
			for n, p := range job.Payments {
				o := order{ID: fmt.Sprint(n), AccountID: p.DestinationAccountID, Amount: p.Amount, Reference: p.DestinationReference}
				for _, err := web.take(ctx, o); err != nil && ctx.Err() == nil; _, err = web.take(ctx, o) { // its connection was cut
					sleep(ctx, 10*time.Millisecond)
				}
			}
		})
		return err
	}
	report := hostile.Test(t, hostile.Options{
		Prepare: prepare, Cut: server.Cut, Env: []string{"PREPAID_PAYOUTS_DATABASE=" + server.URL()},
		Copies: 3, Payments: 40, TransfersOnly: true, Faults: 0.2, Freezes: 1, Freeze: 4 * time.Second, ServiceFreezes: 1,
		Timeout: 6 * time.Minute, // a busy machine needs many attempts, after which the store waits up to 5 minutes
	})
	ordering.Wait()
	defer pool.Close()
	require.Positive(t, report.Kills)
	require.Positive(t, report.Cuts)
	var postings int
	require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from postings p join orders o using (request_id) where o.state = 'done' and p.amount = o.amount").Scan(&postings))
	require.Equal(t, report.Paid, postings)
}
