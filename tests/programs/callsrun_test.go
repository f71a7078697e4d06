package programs

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const transfer = "POST /accounts/{id}/transfer"

func TestPaysOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // pauses take no time
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
		to := srv.AddAccount(prepaidtest.SeedAccount{})
		p, err := newPayment("7", prepaid.DateOf(time.Now().UTC()), from, to, prepaid.MustAmount("25.50"))
		require.NoError(t, err)
		srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop()) // also Truncate() …
		require.NoError(t, pay(t.Context(), srv.Client(), &p, time.Time{}, func(*payment) error { return nil }))
		require.Equal(t, 1, srv.Movements(p.Params.RequestID))
		require.Equal(t, "74.50", srv.Balance(from))
	})
}

// Each process has its own client, as after a restart, and stores rows as JSON.
func TestPayInManyProcesses(t *testing.T) {
	t.Parallel()
	type step struct {
		fault prepaidtest.Fault
		state string
	}
	for name, steps := range map[string][]step{
		"refused, then paid": {{prepaidtest.Respond(404, "not_found"), "refused"}, {prepaidtest.Delay(0), "paid"}},
		"moved, and then refused": {
			{prepaidtest.CommitThenDrop(), "unknown"}, {prepaidtest.Respond(404, "not_found"), "unknown"}, {prepaidtest.Delay(0), "paid"},
		},
		"moved, and then throttled": {
			{prepaidtest.CommitThenDrop(), "unknown"}, {prepaidtest.TooManyRequests(time.Second), "unknown"}, {prepaidtest.Delay(0), "paid"},
		},
		"throttled": {{prepaidtest.TooManyRequests(time.Second), "new"}, {prepaidtest.Delay(0), "paid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
				from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
				p, err := newPayment("7", prepaid.DateOf(time.Now().UTC()), from, to, prepaid.MustAmount("25.50"))
				require.NoError(t, err)
				stored, err := json.Marshal(p)
				require.NoError(t, err)
				for _, step := range steps {
					srv.Inject(transfer, step.fault)
					p, stored = process(t, srv, stored)
					require.Equal(t, step.state, p.State)
				}
				require.Equal(t, 1, srv.Movements(p.Params.RequestID))
			})
		})
	}
}

// process pays the stored row with its own client, and returns the row as last saved.
func process(t *testing.T, srv *prepaidtest.Server, stored []byte) (p payment, saved []byte) {
	t.Helper()
	require.NoError(t, json.Unmarshal(stored, &p))
	config := srv.Config()
	config.AttemptTimeout, config.Retry.MaxAttempts = time.Second, 1
	config.Retry.MaxThrottleWait = time.Millisecond
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	defer client.Close()
	_ = pay(t.Context(), client, &p, time.Now(), func(p *payment) (err error) {
		saved, err = json.Marshal(p)
		return err
	})
	require.NoError(t, json.Unmarshal(saved, &p))
	return p, saved
}

// A process that died may have sent a request, so a refusal of the next request proves nothing.
func TestPayAfterCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
		p, err := newPayment("7", prepaid.DateOf(time.Now().UTC()), from, to, prepaid.MustAmount("25.50"))
		require.NoError(t, err)
		p.State = "sending"
		stored, err := json.Marshal(p)
		require.NoError(t, err)
		srv.Inject(transfer, prepaidtest.Respond(404, "not_found"))
		p, stored = process(t, srv, stored)
		require.Equal(t, "unknown", p.State)
		p, _ = process(t, srv, stored)
		require.Equal(t, "paid", p.State)
	})
}

func TestPayStopsForAPerson(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	client, save := srv.Client(), func(*payment) error { return nil }
	today := prepaid.DateOf(time.Now().UTC())
	for _, order := range []struct {
		amount string
		day    prepaid.Date
		state  string
	}{
		{"1.00", today, "paid"},
		{"2.00", today, "review"}, // other params under the ID
		{"1.00", prepaid.DateOf(time.Now().AddDate(0, -2, 0)), "review"},
	} {
		p, err := newPayment("7", order.day, from, to, prepaid.MustAmount(order.amount))
		require.NoError(t, err)
		_ = pay(t.Context(), client, &p, time.Time{}, save)
		require.Equal(t, order.state, p.State, order)
	}
	require.Equal(t, "99.00", srv.Balance(from))

	p, err := newPayment("8", today, from, to, prepaid.Cents(0))
	require.Error(t, err)
	full := errors.New("disk full")
	require.ErrorIs(t, pay(t.Context(), client, &p, time.Time{}, func(*payment) error { return full }), full)
	require.Len(t, srv.Requests(), 2) // a token and one payment
}

func TestRedeem(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	params := prepaid.RedeemFundingParams{
		Amount: prepaid.MustAmount("12.30"), AccountID: id, Exception: prepaid.FundingExceptionNone,
		MerchantNameLocation: "SHOP", OriginatingTransaction: 1, Currency: "036", CardAcceptorID: "M1", CorrelationID: "c-1",
		MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
	}
	moved, err := redeem(t.Context(), srv.Client(), params)
	require.NoError(t, err)
	require.NotEmpty(t, moved)

	params.Amount = prepaid.MustAmount("1000.00")
	_, err = redeem(t.Context(), srv.Client(), params)
	require.EqualError(t, err, "declined")

	params.Amount = prepaid.MustAmount("23.40")
	srv.Inject("POST /funding/redemptions", prepaidtest.CommitThenDrop())
	moved, err = redeem(t.Context(), srv.Client(), params)
	require.NoError(t, err)
	require.NotEmpty(t, moved)
	require.Equal(t, "64.30", srv.Balance(id))

	params.Amount = prepaid.Cents(0)
	_, err = redeem(t.Context(), srv.Client(), params)
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	require.Equal(t, "64.30", srv.Balance(id))
}
