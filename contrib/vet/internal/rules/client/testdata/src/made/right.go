package main

import (
	"context"
	"log"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/cardprograms/prepaid"

	"made/factory"
	"made/payments"
)

func main() { // want main:"makes a client for each call"
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	nightly, _ := client.With(prepaid.Overrides{})
	http.HandleFunc("POST /pay", func(w http.ResponseWriter, r *http.Request) {
		_ = pay(r.Context(), client, prepaid.TransferParams{})
		users, _ := client.With(prepaid.Overrides{})
		_ = pay(r.Context(), users, prepaid.TransferParams{})
	})
	_ = pay(context.Background(), nightly, prepaid.TransferParams{})
	_ = payments.All(context.Background(), config, nil)
}

// A client for each tenant is kept.
type tenants struct {
	mu      sync.Mutex
	clients map[string]*prepaid.Client
	synced  sync.Map
	current atomic.Pointer[prepaid.Client]
}

func (t *tenants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := r.PathValue("tenant")
	client, ok := t.clients[name]
	if !ok {
		client, _ = prepaid.NewClient(settings(name))
		t.clients[name] = client
	}
	_ = pay(r.Context(), client, prepaid.TransferParams{})
}

func (t *tenants) loaded(w http.ResponseWriter, r *http.Request) {
	fresh, _ := prepaid.NewClient(settings("a"))
	client, _ := t.synced.LoadOrStore("a", fresh)
	_ = pay(r.Context(), client.(*prepaid.Client), prepaid.TransferParams{})
}

// Another secret is checked, then used by all.
func (t *tenants) rotate(w http.ResponseWriter, r *http.Request) {
	client, _ := prepaid.NewClient(settings("a"))
	if _, err := client.Check(r.Context()); err == nil {
		t.current.Store(client)
	}
}

// The credentials of a new tenant are tried.
func (t *tenants) try(w http.ResponseWriter, r *http.Request) {
	client, _ := prepaid.NewClient(settings(r.FormValue("id")))
	if _, err := client.Check(r.Context()); err != nil {
		http.Error(w, "wrong", http.StatusBadRequest)
	}
	_ = client.Close()
}

func open(list []prepaid.Config) map[string]*prepaid.Client {
	clients := map[string]*prepaid.Client{}
	for _, config := range list {
		clients[config.BaseURL], _ = prepaid.NewClient(config)
	}
	return clients
}

// One after the other, each with its settings.
func reports(ctx context.Context, list []prepaid.Config) { // want reports:"makes a client for each call"
	for _, config := range list {
		client, _ := prepaid.NewClient(config)
		_, _ = client.Accounts.Get(ctx, "a")
		config.BaseURL += "/"
		_ = payments.Once(ctx, config, prepaid.TransferParams{})
	}
	var config prepaid.Config
	for _, url := range []string{"a", "b"} {
		config.BaseURL = url
		client, _ := prepaid.NewClient(config)
		go func() { _, _ = client.Accounts.Get(ctx, "a") }()
	}
}

// Until the settings are there.
func wait(ctx context.Context) (*prepaid.Account, error) { // want wait:"makes a client for each call"
	for {
		config, err := prepaid.ConfigFromEnv()
		if err != nil {
			continue
		}
		client, err := prepaid.NewClient(config)
		if err != nil {
			continue
		}
		return client.Accounts.Get(ctx, "a")
	}
}

func (h *handler) shared(w http.ResponseWriter, r *http.Request) {
	_ = pay(r.Context(), factory.Shared(), prepaid.TransferParams{})
}

func run(ctx context.Context) error { // want run:"makes a client for each call"
	client, err := factory.New()
	if err != nil {
		return err
	}
	return pay(ctx, client, prepaid.TransferParams{})
}

type server struct{ client *prepaid.Client }

func newServer(config prepaid.Config) (*server, error) { // want newServer:"returns a new client"
	client, err := prepaid.NewClient(config)
	if err != nil {
		return nil, err
	}
	if _, err := client.Accounts.Get(context.Background(), "a"); err != nil {
		return nil, err
	}
	return &server{client: client}, nil
}

type transport struct{ sent int }

func (t *transport) RoundTrip(*http.Request) (*http.Response, error) { t.sent++; return nil, nil }

// Each measurement has a transport of its own.
func measure(ctx context.Context, config prepaid.Config) int { // want measure:"makes a client for each call"
	counted := &transport{}
	config.Transport = counted
	client, _ := prepaid.NewClient(config)
	_, _ = client.Accounts.Get(ctx, "a")
	return counted.sent
}

func measurements(ctx context.Context, config prepaid.Config) { // want measurements:"makes a client for each call"
	for range 10 {
		_ = measure(ctx, config)
		config.Transport = &transport{}
		client, _ := prepaid.NewClient(config)
		_, _ = client.Accounts.Get(ctx, "a")
	}
}
