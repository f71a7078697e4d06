package prepaidpg

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// shyWorkers is a sender of many processes with their own clients. Its wrapper hides the second error of a payment.
type shyWorkers struct {
	journal.Sender
	client func() *prepaid.Client
	calls  *atomic.Int32
}

func (s shyWorkers) Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	result, err := s.client().Accounts.Transfer(ctx, source, params)
	if s.calls.Add(1) == 2 && err != nil {
		return nil, errors.New("gateway: no reply")
	}
	return result, err
}

// If an error lacks times of attempts, the payment counts as sent until now, even if an earlier run had times.
func TestErrorWithoutTimesPaysOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.options.CallTimeout = 2 * time.Second
	emulator := prepaidtest.NewServer(t, prepaidtest.Options{RateLimit: -1, ClientID: "client", ClientSecret: "secret"})
	emulator.Decide(func(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
		switch {
		case a.RequestID == "" || a.Sending > 2:
			return prepaidtest.Fault{}
		case a.Sending == 1:
			return prepaidtest.DropBeforeCommit()
		}
		return prepaidtest.DropBeforeCommit().CommitAfter(2500 * time.Millisecond)
	})
	from, to := emulator.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), emulator.AddAccount(prepaidtest.SeedAccount{})
	client := func() *prepaid.Client {
		c, err := prepaid.NewClient(prepaid.Config{
			BaseURL: emulator.URL, Vendor: "vendor", Limiter: ratelimit.None{},
			ClientID: "client", ClientSecret: prepaid.NewSecret("secret"),
			AttemptTimeout: 1500 * time.Millisecond,
			Retry:          prepaid.RetryPolicy{MaxAttempts: 1, MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: 1500 * time.Millisecond},
		})
		if err != nil {
			panic(err)
		}
		return c
	}
	params := transfer("shy")
	params.DestinationAccountID = to
	require.NoError(t, s.in(func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, from, params) }))
	require.NoError(t, s.runUntil(shyWorkers{client().Accounts, client, new(atomic.Int32)}, Workers{}, func() bool {
		time.Sleep(50 * time.Millisecond)
		return s.are(journal.StateDone, params.RequestID)()
	}))
	require.NoError(t, emulator.WaitIdle(t.Context()))
	require.Empty(t, emulator.PaidTwice())
	require.Equal(t, "90.00", emulator.Balance(from))
}
