package webhook_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/webhook"
)

// A receiver, from its registration to catching up on messages that it missed while it was down. Replicas
// share a ClaimStore.
func Example() {
	key := prepaid.NewSecret(strings.Repeat("0f", 32))
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{ // ask the operator for header, encoding and key form
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, Keys: webhook.StaticKeys{"k1": key},
		},
		OnTransaction: func(_ context.Context, m *prepaid.Message) error {
			var payload struct { // the operator defines the shape; this is the emulator's
				Transaction prepaid.Transaction `json:"transaction"`
			}
			if err := m.Decode(&payload); err != nil {
				return err
			}
			fmt.Println(m.Type, payload.Transaction.Amount)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var down atomic.Bool
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	srv, err := prepaidtest.Start(prepaidtest.Options{WebhookRoots: roots})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()

	hook, err := webhook.Ensure(ctx, client.Hooks, prepaid.CreateHookParams{ // at every start
		URI: receiver.URL, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "k1", HMACKeySecret: key,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	account := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	fmt.Println(srv.WaitIdle(ctx))
	down.Store(true)
	srv.Adjust(account, "-1.00")
	srv.Adjust(account, "-2.00")
	fmt.Println(srv.WaitIdle(ctx), "nothing came")
	down.Store(false)
	fmt.Println(webhook.Drain(ctx, client.Hooks, hook, handler.Handle))
	fmt.Println(webhook.Drain(ctx, client.Hooks, hook, handler.Handle))
	// Output:
	// transaction 100.00
	// <nil>
	// <nil> nothing came
	// transaction -1.00
	// transaction -2.00
	// 2 <nil>
	// 0 <nil>
}
