package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// stage is a demonstration whose output is kept.
type stage struct {
	*demo

	screen            *screen
	out, errOut, logs safeBuffer
}

// safeBuffer is written to by several processes.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newStage prepares a demonstration on an emulator and a Postgres of its own.
func newStage(t *testing.T, service *service, orders int) *stage {
	t.Helper()
	own := pgtest.Start(t, pgtest.Options{})
	t.Cleanup(func() { require.NoError(t, service.close()) })
	s := &stage{}
	var err error
	s.screen, err = openScreen(os.Stdin, &output{to: &s.out})
	require.NoError(t, err)
	s.demo, err = newDemo(t.Context(), options{orders: orders}, service, &server{own: own, address: own.URL()}, &s.logs, newEvents(s.screen))
	require.NoError(t, err)
	t.Cleanup(s.pool.Close)
	return s
}

func emulated(t *testing.T) *service {
	t.Helper()
	service, err := emulate()
	require.NoError(t, err)
	return service
}

func (s *stage) run(t *testing.T) (int, error) {
	t.Helper()
	return s.conclude(t.Context(), s.screen, &s.out, &s.errOut)
}

// Each accident once, and the books agree. Then what the proof must see is made different, one after the other.
func TestBooksAgreeAfterAccidents(t *testing.T) {
	t.Parallel()
	service := emulated(t)
	service.call = 2 * time.Second // leaves no time for a repeat: each unknown outcome goes through the database
	s := newStage(t, service, 120)
	code, err := s.run(t)
	require.NoError(t, err, "%s", s.logs.String())
	require.Equal(t, exitProven, code)
	require.Empty(t, s.errOut.String())
	require.Contains(t, s.out.String(), "6 kills, 1 freeze, 1 crash of Postgres")
	require.Contains(t, s.out.String(), "proven ")
	require.NotEmpty(t, s.logs.String())
	for _, canary := range []string{"INVOICE", s.key.Reveal(), s.config.Credentials.ClientSecret.Reveal()} {
		require.NotContains(t, s.logs.String(), canary)
		require.NotContains(t, s.out.String(), canary)
	}
	s.requireDifferences(t)
}

func (s *stage) requireDifferences(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := s.pool.Exec(ctx, statement, args...)
		require.NoError(t, err)
	}
	differences := func() string {
		t.Helper()
		f, err := s.prove(ctx)
		require.NoError(t, err)
		return strings.Join(f.differences, "\n")
	}
	require.Empty(t, differences())

	first, fourth := s.customers.run+"-000001", s.customers.run+"-000008"
	var request prepaid.RequestID
	require.NoError(t, s.pool.QueryRow(ctx, "select request_id from orders where id = $1", first).Scan(&request))
	payee, stranger := s.service.payees[1], s.service.strangers[0]

	exec("update orders set state = 'rejected' where id = $1", first)
	require.Contains(t, differences(), "order "+first+" is rejected in the books, and its payment is done")
	require.Contains(t, differences(), "money moved for order "+first+", which is rejected")
	exec("update orders set state = 'done' where id = $1", first)

	exec("update postings set amount = amount + 0.01 where request_id = $1", request)
	require.Contains(t, differences(), "the orders of payee "+string(payee)+" add up to ")
	exec("update postings set amount = amount - 0.01 where request_id = $1", request)

	exec("update orders set amount = amount + 1 where id = $1", first)
	require.Contains(t, differences(), "order "+first+" differs from what the customer posted")
	exec("update orders set amount = amount - 1 where id = $1", first)

	exec("update orders set id = 'another' where id = $1", first)
	require.Contains(t, differences(), "order "+first+" was accepted and does not exist")
	require.Contains(t, differences(), "money moved for order "+first+", which does not exist")
	exec("update orders set id = $1 where id = 'another'", first)

	s.customers.refused[fourth] = true
	require.Contains(t, differences(), "order "+fourth+" was rolled back and exists")
	delete(s.customers.refused, fourth)

	exec("insert into orders (id, account_id, amount, request_id, state) values ('left out', $1, 1, 'left out', 'ordered')", payee)
	require.Contains(t, differences(), "order left out has no payment")
	exec("delete from orders where id = 'left out'")

	exec("delete from postings where request_id = $1", request)
	exec("update orders set request_id = 'other' where id = $1", first)
	require.Contains(t, differences(), "payment "+string(request)+" has no order")
	exec("update orders set request_id = $2 where id = $1", first, request)
	require.Contains(t, differences(), "the orders of payee "+string(payee))
	exec("insert into postings (request_id, account_id, amount, transaction_id) select request_id, account_id, amount, '1' from orders where id = $1", first)
	require.Contains(t, differences(), "order "+first+" is done in the books, and its payment is done", "in another transaction")

	s.service.emulator.Adjust(stranger, "5.00")
	require.Contains(t, differences(), "account "+string(stranger)+" has 5.00, its orders add up to 0.00")
	client, err := prepaid.NewClient(s.config)
	require.NoError(t, err)
	s.service.emulator.Decide(nil)
	_, err = client.Accounts.Transfer(ctx, s.float, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(1), DestinationAccountID: payee, Type: prepaid.TransferTypeLoad,
		SourceReference: sourceReference(first), DestinationReference: "x",
	})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.Contains(t, differences(), "order "+first+" was paid 2 times")
	require.Contains(t, differences(), "0.01 moved for order "+first)
}

// A hook that fails keeps no payment from being made, and does not go unnoticed.
func TestHookThatFails(t *testing.T) {
	t.Parallel()
	service := emulated(t)
	service.call = 500 * time.Millisecond
	s := newStage(t, service, 10)
	_, err := s.pool.Exec(t.Context(), "alter table postings add check (amount < 0)")
	require.NoError(t, err)
	code, err := s.run(t)
	require.Equal(t, exitDifferent, code)
	require.ErrorContains(t, err, " between orders, payments and accounts")
	require.Contains(t, s.out.String(), "nothing has changed for 6 s: the comparison shows what is left")
	require.Contains(t, s.out.String(), "9 payments out of the float account")
	require.Contains(t, s.errOut.String(), "is ordered in the books, and its payment is done")
}

func TestDifferencesAreListed(t *testing.T) {
	t.Parallel()
	f := found{orders: 1, tally: "1 kill"}
	f.differ("order %s was paid %s", "7", plural(2, "time"))
	var out, errOut bytes.Buffer
	code, err := f.print(&out, &errOut)
	require.Equal(t, exitDifferent, code)
	require.EqualError(t, err, "1 difference between orders, payments and accounts")
	require.Equal(t, "difference: order 7 was paid 2 times\n", errOut.String())
	require.NotContains(t, out.String(), "proven ")
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := newStage(t, emulated(t), 600)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	code, err := s.conclude(ctx, s.screen, &s.out, &s.errOut)
	require.Equal(t, exitUnfinished, code)
	require.ErrorIs(t, err, errInterrupted)
	require.NotContains(t, s.out.String(), "proven ")
}

// A service with other accounts than the emulator's: what is compared is what any client sees.
func TestTestEnvironment(t *testing.T) { //nolint:paralleltest // it sets the environment
	emulator := prepaidtest.NewServer(t)
	float, payee := emulator.AddAccount(prepaidtest.SeedAccount{Balance: "10.00"}), emulator.AddAccount(prepaidtest.SeedAccount{Balance: "3.00"})
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("5a", 32)+"\n"), 0o600))
	config := emulator.Config()
	for name, value := range map[string]string{
		"PREPAID_BASE_URL": config.BaseURL, "PREPAID_VENDOR": config.Vendor, "PREPAID_ENVIRONMENT": "test",
		"PREPAID_CLIENT_ID": config.Credentials.ClientID, "PREPAID_CLIENT_SECRET": config.Credentials.ClientSecret.Reveal(),
		"PREPAID_ATTEMPT_TIMEOUT": "1s", "PREPAID_RETRY_IN_FLIGHT_WAIT": "1s", "PREPAID_PAYOUTS_CALL": "2s",
		"PREPAID_FLOAT_ACCOUNT": string(float), "PREPAID_PAYOUTS_PAYEES": " " + string(payee) + ",", "PREPAID_PAYOUTS_KEY_FILE": key,
	} {
		t.Setenv(name, value)
	}
	_, err := openServer(t.Context(), false, pgtest.Options{})
	require.EqualError(t, err, "nothing was started: PREPAID_PAYOUTS_DATABASE is required: what was paid must outlive this program")
	service, err := openService()
	require.NoError(t, err)
	service.booking = 0
	s := newStage(t, service, 20)
	code, err := s.run(t)
	require.NoError(t, err, "%s", s.logs.String())
	require.Equal(t, exitProven, code)
	require.Contains(t, s.out.String(), "3 kills, 0 freezes, 0 crashes of Postgres")
	require.Equal(t, "3.60", emulator.Balance(payee), "20 orders of 1 to 5 cents")

	t.Setenv("PREPAID_ENVIRONMENT", "production")
	_, err = openService()
	require.ErrorIs(t, err, errWrong)
	t.Setenv("PREPAID_ENVIRONMENT", "test")
	t.Setenv("PREPAID_PAYOUTS_PAYEES", "")
	_, err = openService()
	require.EqualError(t, err, "nothing was started: PREPAID_FLOAT_ACCOUNT and PREPAID_PAYOUTS_PAYEES are required")
}

func TestPostgresIsNotInstalled(t *testing.T) {
	t.Parallel()
	_, err := openServer(t.Context(), true, pgtest.Options{Binaries: t.TempDir()})
	require.ErrorIs(t, err, errWrong)
	require.ErrorContains(t, err, "no Postgres is installed: install it (Debian: apt install postgresql;")
	require.NotContains(t, err.Error(), "\n")
}

// The emulator's payments end with it, so they get a database that does.
func TestNamedPostgres(t *testing.T) { //nolint:paralleltest // it sets the environment
	own := pgtest.Start(t, pgtest.Options{})
	t.Setenv("DATABASE_URL", own.URL())
	s, err := openServer(t.Context(), true, pgtest.Options{})
	require.NoError(t, err)
	pool, err := settings{database: s.address, name: s.name}.connect(t.Context())
	require.NoError(t, err)
	var name string
	require.NoError(t, pool.QueryRow(t.Context(), "select current_database()").Scan(&name))
	require.Equal(t, s.name, name)
	require.NoError(t, s.close(t.Context()))
	require.Error(t, pool.Ping(t.Context()))
	pool.Close()
	s, err = openServer(t.Context(), false, pgtest.Options{})
	require.NoError(t, err)
	require.Equal(t, &server{address: own.URL()}, s)
	require.NoError(t, s.close(t.Context()))

	t.Setenv("PREPAID_PAYOUTS_DATABASE", "postgres://u:hunter2@%zz")
	_, err = openServer(t.Context(), true, pgtest.Options{})
	require.ErrorIs(t, err, errWrong)
	require.NotContains(t, err.Error(), "hunter2")
}
