package engines_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/tests/engines"
)

// payment is an order's payment, with the order's request ID.
func payment(srv *prepaidtest.Server) engines.Payment {
	return engines.Payment{
		From: srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}),
		Params: prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: srv.AddAccount(prepaidtest.SeedAccount{}),
			SourceReference: "order 7", DestinationReference: "order 7",
		},
	}
}

// another is a client in a process without earlier calls. It makes no repeats itself.
func another(t testing.TB, srv *prepaidtest.Server) *prepaid.AccountsService {
	config := srv.Config()
	config.AttemptTimeout, config.Retry.MaxAttempts = 2*time.Second, 1
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client.Accounts
}

const transfer = "POST /accounts/{id}/transfer"

// run makes Temporal execute the workflow, with each run of the activity in another process.
func run(t *testing.T, srv *prepaidtest.Server, p engines.Payment, change func(*engines.Payment)) error {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	env.RegisterActivityWithOptions(func(ctx context.Context, p engines.Payment) error {
		change(&p)
		return (&engines.TemporalActivities{Accounts: another(t, srv)}).Pay(ctx, p)
	}, activity.RegisterOptions{Name: "Pay"})
	env.ExecuteWorkflow(engines.Payout, p)
	require.True(t, env.IsWorkflowCompleted())
	return env.GetWorkflowError()
}

func same(*engines.Payment) {}

// The first run's response is lost. The second run gets a 404, which proves nothing about the first. The third run gets
// the cached response.
func TestTemporalPaysOnce(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	p := payment(srv)
	srv.Inject(transfer, prepaidtest.CommitThenDrop(), prepaidtest.Respond(404, "invalid_uri"))
	require.NoError(t, run(t, srv, p, same))
	require.Equal(t, 1, srv.Movements(p.Params.RequestID))
	require.Equal(t, "74.50", srv.Balance(p.From))
	require.Zero(t, srv.FaultsLeft())
}

// If a run is given up while its transfer is running, the next run does not overtake that transfer.
func TestTemporalWaitsForTheEarlierRun(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	p := payment(srv)
	srv.Inject(transfer, prepaidtest.ProxyPage(504).CommitAfter(500*time.Millisecond))
	require.NoError(t, run(t, srv, p, same))
	require.NoError(t, srv.WaitIdle(t.Context()))
	require.Equal(t, 1, srv.Movements(p.Params.RequestID))
	require.Equal(t, "74.50", srv.Balance(p.From))
}

// A refused payment does not run again. The workflow fails with the known outcome of the money.
func TestTemporalEndsWithARefusal(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	p := payment(srv)
	p.Params.Amount = prepaid.MustAmount("500.00")
	failure, ok := errors.AsType[*temporal.ApplicationError](run(t, srv, p, same))
	require.True(t, ok)
	require.Equal(t, "rejected", failure.Type())
	require.Equal(t, "100.00", srv.Balance(p.From))
	require.Len(t, paths(srv), 1)
}

// An activity that makes its own request ID pays again in each run.
func TestANewIDInARetryPaysAgain(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	p := payment(srv)
	srv.Inject(transfer, prepaidtest.CommitThenDrop())
	require.NoError(t, run(t, srv, p, func(p *engines.Payment) { p.Params.RequestID = prepaid.NewRequestID() }))
	require.Equal(t, "49.00", srv.Balance(p.From), "paid twice")
}

// paths are the transfers that arrived.
func paths(srv *prepaidtest.Server) []prepaidtest.Request {
	var found []prepaidtest.Request
	for _, r := range srv.Requests() {
		if r.Template == transfer[5:] {
			found = append(found, r)
		}
	}
	return found
}
