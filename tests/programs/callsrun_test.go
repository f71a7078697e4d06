package programs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/webhook"
)

const transfer = "POST /accounts/{id}/transfer"

func TestClientFromEnvironment(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	config := srv.Config()
	t.Setenv("PREPAID_BASE_URL", config.BaseURL)
	t.Setenv("PREPAID_VENDOR", config.Vendor)
	t.Setenv("PREPAID_CLIENT_ID", config.ClientID)
	t.Setenv("PREPAID_CLIENT_SECRET", config.ClientSecret.Reveal())
	client, err := newClient(t.Context())
	require.NoError(t, err)
	require.NoError(t, client.Close())

	t.Setenv("PREPAID_CLIENT_SECRET", "another")
	_, err = newClient(t.Context())
	require.ErrorIs(t, err, prepaid.ErrUnauthorized)
}

// One card exists after each run, whatever happened to the previous response.
func TestIssue(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	holder := &prepaid.Cardholder{
		FirstName: "Ada", LastName: "Lovelace", DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 1},
		PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
	}
	srv.Inject("POST /accounts", prepaidtest.CommitThenDrop())
	for _, tried := range []bool{false, true, true} {
		account, err := issue(t.Context(), srv.Client(), "order-7", holder, tried)
		require.NoError(t, err)
		require.Equal(t, "order-7", account.ClientAccountKey)
		require.Len(t, srv.AccountIDs(), 1)
	}

	// Created, and not found at once.
	srv.Inject("GET /accounts", prepaidtest.Delay(0), prepaidtest.Respond(403, "forbidden"))
	account, err := issue(t.Context(), srv.Client(), "order-8", holder, false)
	require.NoError(t, err)
	require.Equal(t, "order-8", account.ClientAccountKey)
	require.Len(t, srv.AccountIDs(), 2)

	srv.Inject("GET /accounts", prepaidtest.Respond(403, "forbidden"))
	_, err = issue(t.Context(), srv.Client(), "order-9", holder, false)
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	require.Len(t, srv.AccountIDs(), 2)
}

func TestBlock(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := srv.AddAccount(prepaidtest.SeedAccount{})
	require.NoError(t, block(t.Context(), srv.Client(), id))
	require.Equal(t, "inactive", srv.Status(id))
	require.ErrorIs(t, block(t.Context(), srv.Client(), "EA00000000000000"), prepaid.ErrNotFound)
}

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

func TestPayAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
		var list []journal.Payment
		for _, order := range []string{"7", "8"} {
			p, err := newPayment(order, prepaid.DateOf(time.Now().UTC()), from, to, prepaid.Cents(100))
			require.NoError(t, err)
			list = append(list, journal.Payment{Account: p.From, Params: p.Params})
		}
		payments := slices.Values(list)
		path, key := filepath.Join(t.TempDir(), "payments"), prepaid.NewSecret("a key for digests")
		srv.Inject(transfer, prepaidtest.Respond(500, "server_error"))
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(payAll(t.Context(), srv.Client(), path, key, payments)))
		require.NoError(t, payAll(t.Context(), srv.Client(), path, key, payments))
		require.Equal(t, "98.00", srv.Balance(from))
	})
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

func TestTotal(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	srv.Adjust(id, "-12.30")
	sum, err := total(t.Context(), srv.Client(), id, time.Time{}, time.Time{})
	require.NoError(t, err)
	require.Equal(t, prepaid.MustAmount("87.70"), sum)
	_, err = total(t.Context(), srv.Client(), "EA00000000000000", time.Time{}, time.Time{})
	require.ErrorIs(t, err, prepaid.ErrNotFound)
}

func TestDownload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
		srv.AddReportCSV("two", "number,name\n1,a\n2,b\n")
		rows := 0
		count := func([]string) error { rows++; return nil }
		require.NoError(t, download(t.Context(), srv.Client(), "two", count))
		require.Equal(t, 2, rows)
		require.ErrorIs(t, download(t.Context(), srv.Client(), "none", count), prepaid.ErrBadRequest)
		full := errors.New("disk full")
		require.ErrorIs(t, download(t.Context(), srv.Client(), "two", func([]string) error { return full }), full)
	})
}

func TestChangePIN(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := srv.AddAccount(prepaidtest.SeedAccount{})
	started, err := srv.Client().PIN.Initiate(t.Context(), prepaid.InitiatePINParams{
		AccountID: id, CommunicationMethod: "sms", DeviceID: "phone-1", IPAddress: "203.0.113.7",
	})
	require.NoError(t, err)
	var response struct {
		OperationID string `json:"operation_id"`
	}
	require.NoError(t, started.Decode(&response))
	otp := prepaid.NewSecret(srv.OTP(response.OperationID))
	sealed, err := seal(srv.PINCertificate(), otp, prepaid.NewSecret("4711"))
	require.NoError(t, err)
	require.NoError(t, changePIN(t.Context(), srv.Client(), response.OperationID, "phone-1", "203.0.113.7", sealed))
	require.Equal(t, "4711", srv.PINOf(id))
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	key := prepaid.NewSecret(strings.Repeat("0f", 32))
	var booked []string
	server, err := receiver(key, func(_ context.Context, once string, _ *prepaid.Message) error {
		booked = append(booked, once)
		return nil
	}, func(_ context.Context, status int, err error) {
		require.Equal(t, http.StatusUnauthorized, status)
		require.ErrorIs(t, err, webhook.ErrSignatureMissing)
	})
	require.NoError(t, err)
	body := []byte(`{"id":"m-1","hook_id":"h-1","type":"transaction","timestamp":"2026-11-20T03:00:00Z"}`)
	signature := http.Header{}
	form := webhook.HMAC{
		Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, Keys: webhook.StaticKeys{"2026-11": key},
	}
	require.NoError(t, form.Sign(signature, "2026-11", body))
	for status, header := range map[int]http.Header{http.StatusUnauthorized: {}, http.StatusOK: signature} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
		request.Header = header
		response := httptest.NewRecorder()
		server.Handler.ServeHTTP(response, request)
		require.Equal(t, status, response.Code)
	}
	require.Len(t, booked, 1)
}
