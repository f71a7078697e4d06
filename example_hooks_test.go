package prepaid_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/webhook"
)

// hookParams describes a hook of company 42 that is not enabled, so that the service does not ping its address.
func hookParams(uri string) prepaid.CreateHookParams {
	return prepaid.CreateHookParams{
		URI: uri, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable,
		HMACKeyID:       "k1", HMACKeySecret: prepaid.NewSecret(strings.Repeat("0f", 32)),
	}
}

// withHook starts an emulator with a hook. Close it at the end.
func withHook() (*prepaidtest.Server, prepaid.HookID) {
	srv := emulator(prepaidtest.Options{})
	created, err := srv.Client().Hooks.Create(context.Background(), hookParams("https://cards.example.com/hooks"))
	check(err)
	return srv, created
}

// missedMessages starts an emulator with a hook whose receiver responds to the ping and then goes down while the service
// sends it count transactions. Close the emulator at the end.
func missedMessages(count int) (srv *prepaidtest.Server, hook prepaid.HookID) {
	var down atomic.Bool
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer receiver.Close()
	srv = emulator(prepaidtest.Options{WebhookRoots: rootsOf(receiver)})
	params := hookParams(receiver.URL)
	params.Enabled = true
	created, err := srv.Client().Hooks.Create(context.Background(), params)
	check(err)
	down.Store(true)
	for range count {
		seed(srv, "25.50") // a load, of which the hook is notified
	}
	check(srv.WaitIdle(context.Background()))
	return srv, created
}

// rootsOf returns a pool with the certificate of a test server.
func rootsOf(server *httptest.Server) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return roots
}

// If the receiver does not respond to the ping of an enabled hook, nothing is registered.
func ExampleHooksService_Create_noResponse() {
	receiver := httptest.NewTLSServer(http.NotFoundHandler()) // not the right path
	defer receiver.Close()
	srv := emulator(prepaidtest.Options{WebhookRoots: rootsOf(receiver)})
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()

	params := hookParams(receiver.URL)
	params.Enabled = true
	_, err := client.Hooks.Create(ctx, params)
	fmt.Println(errors.Is(err, prepaid.CodeNoResponse), prepaid.OutcomeOf(err))
	hooks, err := prepaid.Collect(client.Hooks.List(ctx, prepaid.Paging{}), 100)
	fmt.Println(len(hooks), err)
	// Output:
	// true rejected
	// 0 <nil>
}

// Messages that cannot be delivered are stored if the hook says so, and are returned as they were sent.
func ExampleHooksService_Undeliverable() {
	srv, hook := missedMessages(2)
	defer srv.Close()

	for message, err := range srv.Client().Hooks.Undeliverable(context.Background(), hook, prepaid.Paging{}) {
		check(err)
		var body struct { // the operator specifies the format; this is the emulator's
			Transaction prepaid.Transaction `json:"transaction"`
		}
		check(message.Decode(&body))
		fmt.Println(message.Type, message.HookID == hook, body.Transaction.Amount)
	}
	// Output:
	// transaction true 25.50
	// transaction true 25.50
}

// Dismiss handled messages, always from the first page: dismissing while iterating would shift the pages. Package
// webhook's Drain does this for you.
func ExampleHooksService_Dismiss() {
	srv, hook := missedMessages(3)
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()

	for {
		page, err := client.Hooks.UndeliverablePage(ctx, hook, prepaid.Paging{Size: 2})
		check(err)
		if len(page.Items) == 0 {
			break
		}
		var done []prepaid.MessageID
		for _, message := range page.Items { // handle each here
			done = append(done, message.ID)
		}
		if err := client.Hooks.Dismiss(ctx, hook, done...); err != nil {
			fmt.Println(err, prepaid.OutcomeOf(err))
			return
		}
		fmt.Println(len(done), "dismissed")
	}
	// Output:
	// 2 dismissed
	// 1 dismissed
}

// A message is read without a handler, for example from a queue. Unknown members are kept.
func ExampleMessage() {
	var message prepaid.Message
	err := message.UnmarshalJSON([]byte(
		`{"id":"m-1","hook_id":"h-1","timestamp":"2026-11-20T01:02:03Z","type":"transaction","transaction":{"amount":-9.50}}`))
	check(err)
	var body struct {
		Transaction struct {
			Amount prepaid.Amount `json:"amount"`
		} `json:"transaction"`
	}
	check(message.Decode(&body))
	fmt.Println(message.ID, message.Type, message.Timestamp, body.Transaction.Amount)
	// Output: m-1 transaction 2026-11-20 01:02:03 +0000 UTC -9.50
}

// When an enabled hook is registered, the service pings the receiver, which must already be listening.
func ExampleHooksService_Create() {
	key := prepaid.NewSecret(strings.Repeat("0f", 32))
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{ // the operator specifies header, encoding and key form
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, Keys: webhook.StaticKeys{"k1": key},
		},
		OnTransaction: func(_ context.Context, m *prepaid.Message) error {
			fmt.Println("received", m.Type)
			return nil
		},
	})
	check(err)
	receiver := httptest.NewTLSServer(handler)
	defer receiver.Close()
	srv := emulator(prepaidtest.Options{WebhookRoots: rootsOf(receiver)})
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()

	created, err := client.Hooks.Create(ctx, prepaid.CreateHookParams{
		URI: receiver.URL, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "k1", HMACKeySecret: key,
	})
	check(err)
	fmt.Println("registered", created != "")
	seed(srv, "25.50") // a load, of which the hook is notified
	fmt.Println(srv.WaitIdle(ctx))
	// Output:
	// registered true
	// received transaction
	// <nil>
}
