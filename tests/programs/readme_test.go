package programs_test

// The code of the README after its first program, which is firstcall. TestDocumentCodeIsCompiledCode checks that the README has
// the same code.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/webhook"
)

func pay(ctx context.Context, client *prepaid.Client, requestID prepaid.RequestID, from, to prepaid.AccountID) (string, error) {
	_, err := client.Accounts.Transfer(ctx, from, prepaid.TransferParams{
		RequestID: requestID, // from NewRequestID or DeriveRequestID, stored before the call
		Amount:    prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	})
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		return "paid", err
	case prepaid.OutcomeRejected: // this call moved nothing: fix the cause
		return "refused", err
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown: // nothing moved; it may have moved
	}
	return "send the same params again", err
}

func TestPay(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	client, from, to := srv.Client(), seed(srv, "100.00"), seed(srv, "0")
	state, err := pay(t.Context(), client, prepaid.NewRequestID(), from, to)
	require.NoError(t, err)
	require.Equal(t, "paid", state)
	state, err = pay(t.Context(), client, prepaid.NewRequestID(), to, "EA00000000000000")
	require.Error(t, err)
	require.Equal(t, "refused", state)
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(500, "server_error"))
	state, err = pay(t.Context(), client, prepaid.NewRequestID(), from, to)
	require.Error(t, err)
	require.Equal(t, "send the same params again", state)
}

func seed(srv *prepaidtest.Server, balance string) prepaid.AccountID {
	return srv.AddAccount(prepaidtest.SeedAccount{Balance: balance})
}

func explain(err error) string {
	if errors.Is(err, prepaid.ErrNotFound) { // matches the status; codes such as prepaid.CodeInvalidURI match too
		return "no such account"
	}
	if invalid, ok := errors.AsType[*prepaid.ValidationError](err); ok { // nothing was sent
		return fmt.Sprint("fix ", invalid.Faults)
	}
	if response, ok := errors.AsType[*prepaid.APIError](err); ok {
		return fmt.Sprint("the service refused it: ", response.StatusCode, " ", response.Code)
	}
	return err.Error() // never a secret, a name or an amount
}

func TestExplain(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	client := srv.Client()
	_, err := client.Accounts.Get(t.Context(), "EA00000000000000")
	require.Equal(t, "no such account", explain(err))
	_, err = client.Accounts.Get(t.Context(), "")
	require.Contains(t, explain(err), "fix [")
	_, err = client.Hooks.Get(t.Context(), "none")
	require.Equal(t, "the service refused it: 400 invalid_hook_id", explain(err))
	client.Close()
	_, err = client.Accounts.Get(t.Context(), "EA00000000000000")
	require.Equal(t, err.Error(), explain(err))
}

func history(ctx context.Context, client *prepaid.Client, id prepaid.AccountID) error {
	for transaction, err := range client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		if err != nil {
			return err // such as IncompleteListError: an incomplete history ends with an error
		}
		fmt.Println(transaction.OccurredAt, transaction.Amount, transaction.RunningBalance)
	}
	return nil
}

func TestHistory(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	require.NoError(t, history(t.Context(), srv.Client(), seed(srv, "100.00")))
	require.Error(t, history(t.Context(), srv.Client(), "EA00000000000000"))
}

func limits(config prepaid.Config) prepaid.Config {
	config.Retry.MaxAttempts = 3 // per call; the operation decides whether a call may be repeated
	config.RateShare = 0.25      // four processes share one address and its 1,000 requests per 10 s
	return config
}

func TestLimits(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	client, err := prepaid.NewClient(limits(srv.Config()))
	require.NoError(t, err)
	defer client.Close()
	id := seed(srv, "100.00")
	srv.Inject("GET /accounts/{id}", prepaidtest.DropBeforeCommit().Times(3))
	_, err = client.Accounts.Get(t.Context(), id)
	require.Error(t, err)
	_, err = client.Accounts.Get(t.Context(), id)
	require.NoError(t, err)
}

func receiver(keys webhook.StaticKeys, book func(context.Context, *prepaid.Message) error) (http.Handler, error) {
	return webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{ // ask the service's operator for the form
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, Keys: keys,
		},
		Claims:        webhook.Memory(0, 0), // for one process; several need a shared store
		OnTransaction: book,                 // func(context.Context, *prepaid.Message) error
	})
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	handler, err := receiver(webhook.StaticKeys{"2026-11": prepaid.NewSecret(strings.Repeat("0f", 32))},
		func(context.Context, *prepaid.Message) error { return nil })
	require.NoError(t, err)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody))
	require.Equal(t, http.StatusUnauthorized, response.Code)
}

func TestPaysOnce(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop()) // the money moves, the response is lost

	id := prepaid.NewRequestID()
	_, err := pay(t.Context(), srv.Client(), id, from, to) // your code
	if err != nil || srv.Movements(id) != 1 || srv.Balance(from) != "74.50" {
		t.Fatal(err, srv.Requests())
	}
}
