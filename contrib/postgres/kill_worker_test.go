package prepaidpg

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/ratelimit"
)

// workerVariable has the workerSetup of a test process that is a worker.
const workerVariable = "PREPAIDPG_TEST_WORKER"

type workerSetup struct {
	Database, Emulator string
	Naive              bool
	Defaults           bool // of the client and of Options, instead of the times below
}

// workerCommand returns a worker process that is not started yet: this very program.
func workerCommand(t *testing.T, setup workerSetup) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(setup)
	require.NoError(t, err)
	worker := exec.Command(os.Args[0]) //nolint:gosec // this very program; it is killed
	worker.Env = append(os.Environ(), workerVariable+"="+string(text))
	worker.Stderr = os.Stderr
	return worker
}

// Times of the workers that are killed. The emulator's time for a transfer is far below killAttempt and killRest.
const (
	killAttempt = 500 * time.Millisecond
	killRest    = 700 * time.Millisecond
	killCall    = 600 * time.Millisecond
	killFrozen  = 2500 * time.Millisecond // longer than a lease: 1.5 times killCall, killAttempt and killRest

	naiveAttempt = time.Minute
)

// killClient is the client of a worker that is killed.
func killClient(setup workerSetup) (*prepaid.Client, error) {
	config := prepaid.Config{
		BaseURL: setup.Emulator, Vendor: "vendor", TestEnvironment: true, InsecureHTTP: true,
		ClientID: "client", ClientSecret: prepaid.NewSecret("secret"),
		Limiter:        ratelimit.None{},
		AttemptTimeout: killAttempt,
		Retry:          prepaid.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: killRest},
	}
	switch {
	case setup.Defaults:
		config.AttemptTimeout, config.Retry = 0, prepaid.RetryPolicy{}
	case setup.Naive: // its client waits longer than any transfer takes
		config.AttemptTimeout = naiveAttempt
	}
	return prepaid.NewClient(config)
}

func killOptions(setup workerSetup) (Options, error) {
	aead, err := journal.NewAEAD(make([]byte, 32))
	options := Options{DigestKey: prepaid.NewSecret("key"), Seal: aead, CallTimeout: killCall}
	if setup.Defaults {
		options.CallTimeout = 0
	}
	return options, err
}

// workerMain is a worker process. SIGTERM ends it in order.
func workerMain(text string) int {
	if err := work(text); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return 1
	}
	return 0
}

func work(text string) error {
	var setup workerSetup
	if err := json.Unmarshal([]byte(text), &setup); err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	client, err := killClient(setup)
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, setup.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	options, err := killOptions(setup)
	if err != nil {
		return err
	}
	var store *Store
	for store == nil { // Postgres may be down at the moment
		if store, err = Open(ctx, pool, options); err != nil && ctx.Err() != nil {
			return nil
		}
	}
	if setup.Naive {
		workers := journal.Workers{N: 8, Claim: 8, CallTimeout: naiveAttempt, DigestKey: options.DigestKey, Seal: options.Seal}
		return workers.Run(ctx, naiveStore{store}, naiveSender{client.Accounts})
	}
	return store.Run(ctx, client.Accounts, Workers{N: 8, Claim: 8, Settled: writeBooks})
}

// writeBooks is the workers' Settled: one row per outcome, to detect a second call.
func writeBooks(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
	if _, err := tx.Exec(ctx, "update orders set state = $2 where request_id = $1", e.RequestID, e.State); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "insert into books (request_id, state) values ($1, $2)", e.RequestID, e.State)
	return err
}

// naiveStore leases like a job queue: for a fixed time, shorter than a call may take.
type naiveStore struct{ *Store }

func (s naiveStore) Claim(ctx context.Context, c journal.Claim) ([]journal.Held, error) {
	c.Sends, c.Rest = 50*time.Millisecond, 0
	return s.Store.Claim(ctx, c)
}

// naiveSender ignores that a request may still be in progress after its sender is gone.
type naiveSender struct{ journal.Sender }

func (naiveSender) NotBefore(lastSent time.Time) time.Time { return lastSent }

func (naiveSender) AwaitRepeat(context.Context, prepaid.AccountID, time.Time) error { return nil }

func (s naiveSender) Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	params.LastSent = time.Time{}
	return s.Sender.Transfer(ctx, source, params)
}

func (s naiveSender) DirectEntryOut(ctx context.Context, source prepaid.AccountID, params prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	params.LastSent = time.Time{}
	return s.Sender.DirectEntryOut(ctx, source, params)
}
