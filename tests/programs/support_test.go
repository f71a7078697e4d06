package programs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A decision of examples/apps/support about a payment in Postgres is written to the books of payouts.
func TestSupportWritesToTheBooks(t *testing.T) {
	t.Parallel()
	atRoot(t)
	srv, pool := prepaidtest.NewServer(t, prepaidtest.Options{}), pgtest.Start(t, pgtest.Options{}).NewPool(t)
	tables, err := os.ReadFile(filepath.Join("examples", "apps", "payouts", "orders.sql"))
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), string(tables))
	require.NoError(t, err)
	require.NoError(t, prepaidpg.Migrate(t.Context(), pool, ""))
	aead, err := journal.NewAEAD(make([]byte, 32))
	require.NoError(t, err)
	store, err := prepaidpg.Open(t.Context(), pool, prepaidpg.Options{Seal: aead, DigestKey: prepaid.NewSecret("key")})
	require.NoError(t, err)

	float, payee := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	params := prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: payee,
		Type: prepaid.TransferTypeLoad, SourceReference: "INVOICE 7", DestinationReference: "INVOICE 7",
	}
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `with p as (insert into payees values ($1))
			insert into orders (id, account_id, amount, request_id) values ('o-1', $1, $2, $3)`, payee, params.Amount, params.RequestID)
		require.NoError(t, err)
		return store.Enqueue(t.Context(), tx, float, params)
	}))
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Truncate())
	config := srv.Config()
	config.Retry.MaxAttempts = 1
	payer, err := prepaid.NewClient(config)
	require.NoError(t, err)
	defer payer.Close()
	working, stop := context.WithCancel(t.Context())
	defer stop()
	trace := journal.Trace{Recorded: func(journal.Entry) { stop() }}
	require.NoError(t, store.Run(working, payer.Accounts, prepaidpg.Workers{Trace: trace}))

	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("00", 32)), 0o600))
	environment := append(environmentOf(srv), "PAYOUTS_KEY_FILE="+key, "PAYOUTS_DATABASE="+pool.Config().ConnString())
	id := string(params.RequestID)
	code, out, errOut := run(t, environment, "support", "search", id)
	require.Zero(t, code, errOut)
	_, candidate, _ := strings.Cut(out, "candidate ")
	transaction, _, _ := strings.Cut(candidate, ":")
	code, _, errOut = run(t, environment, "support", "decide", id, "moved", transaction)
	require.Zero(t, code, errOut)
	var state, booked string
	require.NoError(t, pool.QueryRow(t.Context(), `select o.state, b.transaction_id from orders o join postings b using (request_id, account_id, amount)`).
		Scan(&state, &booked))
	require.Equal(t, []string{string(journal.StateDone), transaction}, []string{state, booked})
	code, _, errOut = run(t, environment, "support", "decide", id, "retry")
	require.NotZero(t, code)
	require.Contains(t, errOut, "not possible, the payment is done")

	path := filepath.Join(t.TempDir(), "payments")
	j, err := journalfile.Open(path, journalfile.Options{})
	require.NoError(t, err)
	code, _, errOut = run(t, environment, "support", "-journal", path, "show", id)
	require.NotZero(t, code)
	require.Contains(t, errOut, journalfile.ErrLocked.Error())
	require.NoError(t, j.Close())
}
