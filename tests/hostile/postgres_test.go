package hostile_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/journal"
)

func openStore(ctx context.Context, pool *pgxpool.Pool) (*prepaidpg.Store, error) {
	aead, err := journal.NewAEAD(make([]byte, 32))
	if err = errors.Join(err, prepaidpg.Migrate(ctx, pool, "")); err != nil {
		return nil, err
	}
	return prepaidpg.Open(ctx, pool, prepaidpg.Options{DigestKey: prepaid.NewSecret("key"), Seal: aead, CallTimeout: 600 * time.Millisecond})
}

// stored pays from the store until each payment has an outcome.
func stored(ctx context.Context, job hostile.Job) error {
	client, err := fromEnv()
	if err != nil {
		return err
	}
	defer client.Close()
	pool, err := pgxpool.New(ctx, os.Getenv("STORED_DATABASE")+"&pool_max_conns=10")
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := openStore(ctx, pool)
	if err != nil {
		return err // cut off: run me again
	}
	working, finish := context.WithCancel(ctx)
	defer finish()
	ended := make(chan error, 1)
	go func() { ended <- store.Run(working, client.Accounts, prepaidpg.Workers{N: 8, Claim: 4}) }()
	final := map[journal.State]hostile.State{journal.StateDone: hostile.StatePaid, journal.StateRejected: hostile.StateRejected}
	for {
		var claims []hostile.Claim
		for e, err := range store.All(ctx) {
			if state := final[e.State]; err == nil && state != "" {
				claims = append(claims, hostile.Claim{RequestID: e.RequestID, State: state})
			}
		}
		if len(claims) == len(job.Payments) {
			finish()
			return errors.Join(<-ended, job.Summarize(claims))
		}
		select {
		case err := <-ended:
			return errors.Join(err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{})
	pool := server.NewPool(t)
	store, err := openStore(t.Context(), pool)
	require.NoError(t, err)
	order := func(ctx context.Context, job hostile.Job) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
			for _, p := range job.Payments {
				err = errors.Join(err, store.Enqueue(ctx, tx, p.SourceAccountID, p.Params()))
			}
			return err
		})
	}
	report := hostile.Test(t, hostile.Options{
		Env: []string{"WORKER_IS=stored", "STORED_DATABASE=" + pool.Config().ConnString()}, Prepare: order, Cut: server.Cut,
		Payments: 24, Faults: -1, NetworkCuts: -1, Freeze: 3 * time.Second, Timeout: 8 * time.Minute, // the lease takes 1.9 s
	})
	require.Positive(t, report.Kills)
	require.Positive(t, report.Cuts)
}
