package engines_test

import (
	"context"
	"flag"
	"log"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/tests/engines"
)

// TestMain is also the worker that a test kills.
func TestMain(m *testing.M) {
	if database := os.Getenv("WORKER_DATABASE"); database != "" {
		log.Fatal(workUntilKilled(database))
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // tests mostly wait
		log.Fatal(err)
	}
	m.Run()
}

func workUntilKilled(database string) error {
	ctx := context.Background()
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	jobs, err := newRiver(pool, &engines.RiverWorker{Accounts: client.Accounts})
	if err != nil {
		return err
	}
	if err := jobs.Start(ctx); err != nil {
		return err
	}
	<-jobs.Stopped()
	return nil
}

func newRiver(pool *pgxpool.Pool, worker *engines.RiverWorker) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, worker)
	return river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 5}}, Workers: workers, RetryPolicy: soon{},
	})
}

// soon is for tests: River waits 1 s before the second run, and 16 s before the third.
type soon struct{}

func (soon) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

// order inserts the job in the transaction of an order.
func order(t *testing.T, pool *pgxpool.Pool, jobs *river.Client[pgx.Tx], p engines.Payment) {
	t.Helper()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := jobs.InsertTx(t.Context(), tx, p, nil)
		return err
	}))
}

// end runs jobs until one has ended.
func end(t *testing.T, jobs *river.Client[pgx.Tx]) *rivertype.JobRow {
	t.Helper()
	events, cancel := jobs.Subscribe(river.EventKindJobCompleted, river.EventKindJobCancelled)
	defer cancel()
	require.NoError(t, jobs.Start(t.Context()))
	select {
	case event := <-events:
		require.NoError(t, jobs.Stop(t.Context()))
		return event.Job
	case <-time.After(time.Minute):
		require.FailNow(t, "the job does not end")
		return nil
	}
}

// A worker is killed during its payment. River gives the job to another process an hour later. That process receives a
// 404, which proves nothing about the dead process's payment. The next run gets that payment's cached response.
func TestRiverPaysOnce(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t, pgtest.Options{})
	pool, srv := database.NewPool(t), prepaidtest.NewServer(t, prepaidtest.Options{})
	p := payment(srv)
	jobs, err := newRiver(pool, &engines.RiverWorker{Accounts: another(t, srv)})
	require.NoError(t, err)
	order(t, pool, jobs, p)
	arrived, killed := make(chan struct{}), make(chan struct{})
	srv.Decide(func(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
		switch {
		case a.Operation == transfer && a.Ordinal == 1:
			close(arrived)
			select {
			case <-killed:
			case <-t.Context().Done():
			}
		case a.Operation == transfer && a.Ordinal == 2:
			return prepaidtest.Respond(404, "invalid_uri")
		}
		return prepaidtest.Fault{}
	})

	self, err := os.Executable()
	require.NoError(t, err)
	config := srv.Config()
	worker := exec.CommandContext(t.Context(), self)
	worker.Env = append(os.Environ(), "WORKER_DATABASE="+pool.Config().ConnString(), "PREPAID_BASE_URL="+config.BaseURL,
		"PREPAID_VENDOR="+config.Vendor, "PREPAID_ENVIRONMENT=test", "PREPAID_CLIENT_ID="+config.ClientID,
		"PREPAID_CLIENT_SECRET="+config.ClientSecret.Reveal())
	worker.Stderr = os.Stderr
	require.NoError(t, worker.Start())
	select {
	case <-arrived:
	case <-time.After(time.Minute):
		require.FailNow(t, "the worker does not pay")
	}
	require.NoError(t, worker.Process.Kill())
	require.Error(t, worker.Wait())
	close(killed)
	require.Eventually(t, func() bool { return srv.Movements(p.Params.RequestID) == 1 }, time.Minute, time.Millisecond)
	_, err = pool.Exec(t.Context(), `update river_job set attempted_at = attempted_at - interval '1 hour'; delete from river_leader`)
	require.NoError(t, err)

	job := end(t, jobs)
	require.Equal(t, rivertype.JobStateCompleted, job.State)
	require.Len(t, job.Errors, 2)
	require.Equal(t, 1, srv.Movements(p.Params.RequestID))
	require.Equal(t, "74.50", srv.Balance(p.From))
	require.Len(t, paths(srv), 3)
}

// A refused payment does not run again.
func TestRiverEndsWithARefusal(t *testing.T) {
	t.Parallel()
	pool, srv := pgtest.Start(t, pgtest.Options{}).NewPool(t), prepaidtest.NewServer(t, prepaidtest.Options{})
	p := payment(srv)
	p.Params.Amount = prepaid.MustAmount("500.00")
	jobs, err := newRiver(pool, &engines.RiverWorker{Accounts: another(t, srv)})
	require.NoError(t, err)
	order(t, pool, jobs, p)
	require.Equal(t, rivertype.JobStateCancelled, end(t, jobs).State)
	require.Equal(t, "100.00", srv.Balance(p.From))
	require.Len(t, paths(srv), 1)
}
