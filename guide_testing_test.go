package prepaid_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// The tests that docs/testing.md shows.

// A response that never comes whole: the outcome is unknown, and sending the same params again makes it known.
func TestGuideUnknownOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		client, from, to := srv.Client(), seed(srv, "100.00"), seed(srv, "0")
		params := prepaid.TransferParams{
			RequestID: "invoice-7", Amount: prepaid.Cents(2550), DestinationAccountID: to,
			SourceReference: "invoice 7", DestinationReference: "invoice 7",
		}

		srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Truncate().Always())
		_, err := client.Accounts.Transfer(t.Context(), from, params)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))

		srv.ClearFaults()
		_, err = client.Accounts.Transfer(t.Context(), from, params)
		require.NoError(t, err)
		require.Equal(t, 1, srv.Movements("invoice-7"))
	})
}

// A client that gives up after the first attempt shows how your own code handles an unknown outcome.
func TestGuideOneAttempt(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	config := srv.Config()
	config.Retry.MaxAttempts = 1
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	defer client.Close()

	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	state, err := settle(t.Context(), client.Accounts, seed(srv, "100.00"), seed(srv, "0"), "7", prepaid.Cents(2550))
	require.Equal(t, "again", state)
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
}

// Every tenth request goes wrong, the same ones in each run.
func TestGuideBadDay(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{RandomSeed: new(uint64(7))})
	client, from, to := srv.Client(), seed(srv, "100.00"), seed(srv, "0")
	srv.Inject(prepaidtest.AnyOperation, prepaidtest.CommitThenDrop().WithProbability(0.1))
	order := takeOrder("bad day")
	for i := range 20 {
		key := prepaid.DeriveRequestID(order.Day, order.Number, string(rune('a'+i)))
		for tries := 0; ; tries++ {
			require.Less(t, tries, 10)
			_, err := client.Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
				RequestID: key, Amount: prepaid.Cents(100), DestinationAccountID: to, SourceReference: "s", DestinationReference: "d",
			})
			if err == nil {
				break
			}
		}
	}
	require.Equal(t, "20.00", srv.Balance(to))
}

// Time is moved, not waited for.
func TestGuideFaultsByRequest(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	config := srv.Config()
	config.Retry.MaxAttempts = 1
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	defer client.Close()
	srv.Decide(func(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
		if a.RequestID == "invoice-7" && a.Sending == 1 {
			return prepaidtest.CommitThenDrop() // the first time only
		}
		return prepaidtest.Fault{}
	})
	from, to := seed(srv, "100.00"), seed(srv, "0")
	for _, id := range []prepaid.RequestID{"invoice-6", "invoice-7"} {
		_, err = client.Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
			RequestID: id, Amount: prepaid.Cents(1), DestinationAccountID: to, SourceReference: "s", DestinationReference: "d",
		})
		require.Equal(t, id == "invoice-7", prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown)
	}
}

func TestGuideClock(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{SimulationDelay: time.Minute})
	client, card := srv.Client(), seed(srv, "100.00")
	purchase := prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: card, Amount: prepaid.Cents(3000),
		AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: "5411",
	}
	approved, err := client.Simulation.Transact(t.Context(), purchase)
	require.NoError(t, err)

	purchase.AuthorizationID = approved.AuthorizationID
	_, err = client.Simulation.Clear(t.Context(), purchase)
	require.NoError(t, err)
	require.Len(t, srv.Transactions(card), 2) // the load and the authorisation
	srv.Advance(time.Minute)
	require.Len(t, srv.Transactions(card), 4) // also the credit back and the clearing
}

// A state that was saved is where another test begins.
func TestGuideSavedState(t *testing.T) {
	t.Parallel()
	var state bytes.Buffer
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	card := seed(srv, "100.00")
	require.NoError(t, srv.Save(&state))

	again := prepaidtest.NewServer(t, prepaidtest.Options{State: &state})
	require.Equal(t, "100.00", again.Balance(card))
}

// The test's own receiver, over https as the service requires.
func TestGuideLocalReceiver(t *testing.T) {
	t.Parallel()
	arrived := make(chan prepaid.MessageType, 2)
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message prepaid.Message
		if json.NewDecoder(r.Body).Decode(&message) == nil {
			arrived <- message.Type
		}
	})
	receiver := httptest.NewTLSServer(handler)
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	srv := prepaidtest.NewServer(t, prepaidtest.Options{WebhookRoots: roots})

	params := hookParams(receiver.URL)
	params.Enabled = true
	_, err := srv.Client().Hooks.Create(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, prepaid.MessageType("ping"), <-arrived)
	seed(srv, "1.00")
	require.Equal(t, prepaid.MessageTypeTransaction, <-arrived)
	require.NoError(t, srv.WaitIdle(t.Context()))

	plain := prepaidtest.NewServer(t, prepaidtest.Options{AllowHTTPOnLoopback: true}) // is of no use to this client
	_, err = plain.Client().Hooks.Create(t.Context(), hookParams("http://127.0.0.1:1/"))
	require.ErrorContains(t, err, "uri must be")
	require.Empty(t, plain.Requests())
}

// A program that serves by itself, with the certificate of a test server.
func TestGuideOwnServer(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} })
	borrowed := httptest.NewUnstartedServer(nil)
	borrowed.StartTLS()
	defer borrowed.Close()
	own := &http.Server{Handler: handler, TLSConfig: borrowed.TLS, ReadHeaderTimeout: time.Second}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- own.ServeTLS(listener, "", "") }()
	roots := x509.NewCertPool()
	roots.AddCert(borrowed.Certificate())
	srv := prepaidtest.NewServer(t, prepaidtest.Options{WebhookRoots: roots})

	params := hookParams("https://" + listener.Addr().String())
	params.Enabled = true
	_, err = srv.Client().Hooks.Create(t.Context(), params)
	require.NoError(t, err)
	<-arrived
	require.NoError(t, own.Shutdown(t.Context()))
	require.ErrorIs(t, <-served, http.ErrServerClosed)
}

// A read-only job that begins to write fails its test.
func TestGuideAllowOnly(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	client, card := srv.Client(), seed(srv, "100.00")
	srv.AllowOnly("GET /accounts/{id}", "GET /accounts/{id}/transactions")

	account, err := client.Accounts.Get(t.Context(), card)
	require.NoError(t, err)
	require.Equal(t, prepaid.Cents(10000), account.Balance)
}

// answers is a transport for one response: no network, and no emulator either.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return a(r), nil
}

// A fixture from a support case, without a server.
func TestGuideFixture(t *testing.T) {
	t.Parallel()
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: "https://test.example.com/3.0/", Vendor: "vendor",
		ClientID: "acme", ClientSecret: prepaid.NewSecret("s3cret"),
		Limiter: ratelimit.None{},
		Transport: answers(func(r *http.Request) *http.Response {
			status, body := http.StatusBadRequest, `{"error": "invalid_hook_id", "error_description": ""}`
			if strings.HasSuffix(r.URL.Path, "/token") {
				status, body = http.StatusOK, `{"access_token": "t", "token_type": "bearer", "expires_in": 3600}`
			}
			return &http.Response{
				StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body)),
				Header: http.Header{"Content-Type": {"application/vnd.vendor+json"}},
			}
		}),
	})
	require.NoError(t, err)
	defer client.Close()

	_, err = client.Hooks.Get(t.Context(), "h-1")
	require.ErrorIs(t, err, prepaid.CodeInvalidHookID)
}

// Whatever your code asks of an error, a test can build.
func TestGuideErrorsCanBeBuilt(t *testing.T) {
	t.Parallel()
	refused := &prepaid.CallError{
		Operation: "Accounts.Get", Outcome: prepaid.OutcomeRejected,
		Err: &prepaid.APIError{StatusCode: 404, Code: "account_not_found"},
	}
	require.ErrorIs(t, refused, prepaid.ErrNotFound)
	require.ErrorIs(t, &prepaid.APIError{StatusCode: 400, Code: prepaid.CodeInvalidURI}, prepaid.CodeInvalidURI)
	require.ErrorIs(t, &ratelimit.RefusedError{Wait: time.Second}, prepaid.ErrRateLimited)
	require.ErrorIs(t, &prepaid.TokenError{Err: &prepaid.APIError{StatusCode: 401}}, prepaid.ErrUnauthorized)

	invalid, ok := errors.AsType[*prepaid.ValidationError](error(&prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: "amount", Rule: "must be above zero"}}}))
	require.True(t, ok)
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(invalid))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(errors.New("not of this package")))
}
