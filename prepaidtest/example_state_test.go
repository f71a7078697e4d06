package prepaidtest_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The clock is frozen until the test moves it.
func ExampleServer_Advance() {
	srv, err := prepaidtest.Start(prepaidtest.Options{FrozenClock: true, StartAt: time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	fmt.Println(srv.Now().Format(time.DateTime))
	srv.Advance(36 * time.Hour)
	fmt.Println(srv.Now().Format(time.DateTime))
	// Output:
	// 2030-01-31 12:00:00
	// 2030-02-02 00:00:00
}

// A saved state starts another server.
func ExampleServer_Save() {
	first, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer first.Close()
	id := first.AddAccount(prepaidtest.SeedAccount{Balance: "25.50"})
	var state bytes.Buffer
	if err := first.Save(&state); err != nil {
		fmt.Println(err)
		return
	}
	first.Adjust(id, "100.00") // not in the state

	second, err := prepaidtest.Start(prepaidtest.Options{State: &state})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer second.Close()
	fmt.Println(first.Balance(id), second.Balance(id))
	// Output: 125.50 25.50
}

// A test's own account, and a debit with a status that blocks payments.
func ExampleServer_Adjust() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	id := srv.AddAccount(prepaidtest.SeedAccount{ID: "emp-1", Balance: "25.50", Status: "lost_or_stolen", PlasticDisabled: true})
	srv.Adjust(id, "-5.00")
	fmt.Println(id, srv.Status(id), srv.Balance(id), len(srv.Transactions(id)))
	// Output: emp-1 lost_or_stolen 20.50 2
}

// A message arrives twice, signed as the receiver expects.
func ExampleServer_InjectDelivery() {
	var signed atomic.Int64
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Sum"), "v1=") {
			signed.Add(1)
		}
	}))
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	srv, err := prepaidtest.Start(prepaidtest.Options{WebhookRoots: roots, Signature: &prepaidtest.Signature{Header: "X-Sum", Prefix: "v1=", Base64: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	ctx := context.Background()
	hook, err := srv.Client().Hooks.Create(ctx, prepaid.CreateHookParams{
		URI: receiver.URL, Scope: []prepaid.CompanyID{prepaidtest.DefaultCompany}, FilterSpec: prepaid.FilterAll,
		Enabled: true, ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable,
		HMACKeyID: "k1", HMACKeySecret: prepaid.NewSecret(strings.Repeat("0f", 32)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	srv.InjectDelivery(hook, prepaidtest.DuplicateMessage(1))
	srv.AddAccount(prepaidtest.SeedAccount{Balance: "25.50"}) // a load, which the hook receives
	if err := srv.WaitIdle(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(signed.Load(), "messages: the ping, and one twice")
	// Output: 3 messages: the ping, and one twice
}
