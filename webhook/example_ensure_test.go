package webhook_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/webhook"
)

// newHandler creates the receiver's handler. The operator defines the form of the signature.
func newHandler(ring webhook.KeyRing, claims webhook.ClaimStore, book func(context.Context, *prepaid.Message) error) (*webhook.Handler, error) {
	return webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, Keys: ring,
			KeyID: func(header http.Header) string { return header.Get("X-Hmac-Key-Id") },
		},
		Claims:        claims,
		OnTransaction: book,
		OnFailure:     func(_ context.Context, status int, err error) { fmt.Println("responded", status, err) },
	})
}

// mount listens with TLS, as a proxy in front of the receiver would, and returns an emulator that trusts it.
func mount(handler *atomic.Pointer[webhook.Handler]) (*httptest.Server, *prepaidtest.Server) {
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.Load().ServeHTTP(w, r)
	}))
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	srv, err := prepaidtest.Start(prepaidtest.Options{WebhookRoots: roots})
	if err != nil {
		panic(err)
	}
	return receiver, srv
}

// Ensure may run at every start: it creates the hook, changes fields that differ, or sends nothing.
func ExampleEnsure() {
	var handler atomic.Pointer[webhook.Handler]
	receiver, srv := mount(&handler)
	defer receiver.Close()
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	key := prepaid.NewSecret(strings.Repeat("0f", 32))
	h, err := newHandler(webhook.StaticKeys{"2026-11": key}, webhook.Memory(0, 0), func(context.Context, *prepaid.Message) error { return nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	handler.Store(h)

	want := prepaid.CreateHookParams{
		URI: receiver.URL, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "2026-11", HMACKeySecret: key,
	}
	for range 2 {
		if _, err := webhook.Ensure(ctx, client.Hooks, want); err != nil {
			fmt.Println(err)
			return
		}
	}
	want.Enabled = false // for a maintenance window, for example: a disabled hook stores nothing either
	if _, err := webhook.Ensure(ctx, client.Hooks, want); err != nil {
		fmt.Println(err)
		return
	}
	for _, request := range srv.Requests() {
		if request.Template != "/token" {
			fmt.Println(request.Method, request.Template)
		}
	}
	fmt.Println(len(srv.Hooks()), srv.Hooks()[0].Enabled)
	// Output:
	// GET /hooks
	// POST /hooks
	// GET /hooks
	// GET /hooks
	// PATCH /hooks/{id}
	// 1 false
}

// Changing the key at a restart: both keys are in the ring until the hook has changed, and no message is refused.
func ExampleRotateIn() {
	var handler atomic.Pointer[webhook.Handler]
	receiver, srv := mount(&handler)
	defer receiver.Close()
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	account := srv.AddAccount(prepaidtest.SeedAccount{})

	start := func(keyID string, keys webhook.StaticKeys) error {
		ring, err := webhook.NewKeys(keys)
		if err != nil {
			return err
		}
		h, err := newHandler(ring, webhook.Memory(0, 0), func(context.Context, *prepaid.Message) error {
			fmt.Println("taken")
			return nil
		})
		if err != nil {
			return err
		}
		handler.Store(h)
		_, err = webhook.Ensure(ctx, client.Hooks, prepaid.CreateHookParams{
			URI: receiver.URL, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
			ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: keyID, HMACKeySecret: keys[keyID],
		}, webhook.RotateIn(ring, time.Hour))
		fmt.Println("the hook signs with", srv.Hooks()[0].KeyID, err)
		return err
	}
	older, newer := prepaid.NewSecret(strings.Repeat("0f", 32)), prepaid.NewSecret(strings.Repeat("f0", 32))
	for _, err := range []error{
		start("2025", webhook.StaticKeys{"2025": older}),
		start("2026", webhook.StaticKeys{"2025": older, "2026": newer}),
	} {
		if err != nil {
			fmt.Println(err)
		}
	}
	srv.Adjust(account, "1.00")
	fmt.Println(srv.WaitIdle(ctx))
	// Output:
	// the hook signs with 2025 <nil>
	// the hook signs with 2026 <nil>
	// taken
	// <nil>
}

// The caller that claims an ID first handles it. A released ID can be claimed again, one that is done cannot.
func ExampleMemory() {
	claims, ctx := webhook.Memory(0, 0), context.Background()
	claim := func() webhook.Claim {
		c, err := claims.Claim(ctx, "h1/m1", time.Minute)
		if err != nil {
			panic(err)
		}
		fmt.Println(c.State())
		return c
	}
	first := claim()
	claim() // by another receiver, meanwhile
	fmt.Println(first.Release(ctx))
	second := claim()
	fmt.Println(second.Done(ctx))
	claim()
	fmt.Println(first.Done(ctx))
	// Output:
	// won
	// in flight
	// <nil>
	// won
	// <nil>
	// done
	// webhook: claim lost
}

// registered is a fake of the service's hooks, for tests of code that registers itself.
type registered struct{ hooks []*prepaid.Hook }

func (r *registered) List(context.Context, prepaid.Paging) iter.Seq2[*prepaid.Hook, error] {
	return func(yield func(*prepaid.Hook, error) bool) {
		for _, hook := range r.hooks {
			if !yield(hook, nil) {
				return
			}
		}
	}
}

func (r *registered) Get(_ context.Context, id prepaid.HookID) (*prepaid.Hook, error) {
	for _, hook := range r.hooks {
		if hook.ID == id {
			return hook, nil
		}
	}
	return nil, &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Err: &prepaid.APIError{StatusCode: 404}}
}

func (r *registered) Create(_ context.Context, p prepaid.CreateHookParams) (prepaid.HookID, error) {
	r.hooks = append(r.hooks, &prepaid.Hook{
		ID: "h-1", URI: p.URI, Scope: p.Scope, FilterSpec: p.FilterSpec, Enabled: p.Enabled, ReliabilityMode: p.ReliabilityMode, HMACKeyID: p.HMACKeyID,
	})
	return "h-1", nil
}

func (r *registered) Update(ctx context.Context, id prepaid.HookID, p prepaid.UpdateHookParams) error {
	hook, err := r.Get(ctx, id)
	if err == nil && p.HMACKeyID != "" {
		hook.HMACKeyID = p.HMACKeyID
	}
	return err
}

// A registration is tested without a service: the fake has one hook, whose key changes with the second start.
func ExampleRegistrations() {
	hooks := &registered{}
	for _, keyID := range []string{"k1", "k2", "k2"} {
		id, err := webhook.Ensure(context.Background(), hooks, prepaid.CreateHookParams{
			URI: "https://partner.example/hook", Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
			ReliabilityMode: prepaid.ReliabilityModeNone, HMACKeyID: keyID, HMACKeySecret: prepaid.NewSecret(strings.Repeat("0f", 32)),
		})
		fmt.Println(id, hooks.hooks[0].HMACKeyID, len(hooks.hooks), err)
	}
	// Output:
	// h-1 k1 1 <nil>
	// h-1 k2 1 <nil>
	// h-1 k2 1 <nil>
}

// Messages that arrive twice, out of order, and again because a response was lost: each is booked once.
func TestGuideDuplicatesAndOrder(t *testing.T) {
	t.Parallel()
	var handler atomic.Pointer[webhook.Handler]
	receiver, srv := mount(&handler)
	defer receiver.Close()
	defer srv.Close()
	key := prepaid.NewSecret(strings.Repeat("0f", 32))
	var booked atomic.Int64
	h, err := newHandler(webhook.StaticKeys{"k1": key}, webhook.Memory(0, 0), func(context.Context, *prepaid.Message) error {
		booked.Add(1)
		return nil
	})
	require.NoError(t, err)
	handler.Store(h)
	client := srv.Client()
	hook, err := webhook.Ensure(t.Context(), client.Hooks, prepaid.CreateHookParams{
		URI: receiver.URL, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "k1", HMACKeySecret: key,
	})
	require.NoError(t, err)

	srv.InjectDelivery(hook, prepaidtest.DelayMessage(time.Minute), prepaidtest.DuplicateMessage(2), prepaidtest.LoseResponse())
	account := srv.AddAccount(prepaidtest.SeedAccount{})
	for range 3 {
		srv.Adjust(account, "1.00")
	}
	require.NoError(t, srv.WaitIdle(t.Context()))
	srv.Advance(time.Minute) // the other messages overtake the first
	require.NoError(t, srv.WaitIdle(t.Context()))
	require.EqualValues(t, 3, booked.Load())

	handled, err := webhook.Drain(t.Context(), client.Hooks, hook, h.Handle) // messages that the service could not deliver
	require.NoError(t, err)
	require.Equal(t, 1, handled)
	require.EqualValues(t, 3, booked.Load())
}
