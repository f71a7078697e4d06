package main

import (
	"context"
	"net/http"

	"github.com/cardprograms/prepaid"
	"github.com/gin-gonic/gin"

	"made/factory"
	"made/payments"
)

type handler struct {
	config prepaid.Config
	done   chan error
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	client, err := prepaid.NewClient(h.config) // want `a client is made for each HTTP request: each client fetches a token`
	if err != nil {
		return
	}
	defer client.Close()
	_, err = client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{})
	h.done <- err
}

func (h *handler) method(w http.ResponseWriter, r *http.Request) {
	config, _ := prepaid.ConfigFromEnv()
	client, err := prepaid.NewClient(config) // want `a client is made for each HTTP request`
	if err != nil {
		return
	}
	go func() {
		_, err := client.Accounts.Transfer(context.Background(), "float", prepaid.TransferParams{})
		h.done <- err
	}()
}

func (h *handler) tenant(w http.ResponseWriter, r *http.Request) {
	client := factory.For(settings(r.PathValue("tenant"))) // want `a client is made for each HTTP request`
	for t := range client.Accounts.Transactions(r.Context(), "float", prepaid.ListTransactionsParams{}) {
		_ = t
	}
}

func (h *handler) helper(w http.ResponseWriter, r *http.Request) {
	client, _ := factory.New() // want `a client is made for each HTTP request`
	h.done <- pay(r.Context(), client, prepaid.TransferParams{})
	_, err := factory.Balance(r.Context(), "a") // want `Balance makes a client for each HTTP request`
	h.done <- err
	h.done <- payments.Once(r.Context(), h.config, prepaid.TransferParams{}) // want `Once makes a client for each HTTP request`
}

func (h *handler) wrapped(w http.ResponseWriter, r *http.Request) {
	client, _ := prepaid.NewClient(h.config) // want `a client is made for each HTTP request`
	payer := factory.NewPayer(client)
	h.done <- payer.Pay(r.Context(), prepaid.TransferParams{})
	other, _ := prepaid.NewClient(h.config) // want `a client is made for each HTTP request`
	s := &service{accounts: other.Accounts}
	h.done <- s.pay(r.Context())
}

type payer interface {
	Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)
}

type service struct{ accounts payer }

func (s *service) pay(ctx context.Context) error { // want pay:"uses clients"
	_, err := s.accounts.Transfer(ctx, "float", prepaid.TransferParams{})
	return err
}

func pay(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error { // want pay:"uses clients"
	_, err := client.Accounts.Transfer(ctx, "float", params)
	return err
}

func settings(tenant string) prepaid.Config { return prepaid.Config{BaseURL: tenant} }

func generic[P any](ctx context.Context, config prepaid.Config, list []P, params func(P) prepaid.TransferParams) error {
	for _, p := range list {
		client, err := prepaid.NewClient(config) // want `a client is made in each round of a loop, with the same settings`
		if err != nil {
			return err
		}
		if err := pay(ctx, client, params(p)); err != nil {
			return err
		}
	}
	return nil
}

func queue(ctx context.Context, list <-chan prepaid.TransferParams) {
	for p := range list {
		config, _ := prepaid.ConfigFromEnv()
		client, _ := prepaid.NewClient(config) // want `a client is made in each round of a loop`
		_ = pay(ctx, client, p)
		_ = payments.Once(ctx, config, p) // want `Once makes a client in each round of a loop`
	}
}

func workers(ctx context.Context, config prepaid.Config, list []prepaid.TransferParams) {
	for _, p := range list {
		go func() {
			client, _ := prepaid.NewClient(config) // want `a client is made in each round of a loop`
			_ = pay(ctx, client, p)
		}()
	}
}

func routes(config prepaid.Config) {
	http.HandleFunc("POST /pay", func(w http.ResponseWriter, r *http.Request) {
		client, _ := prepaid.NewClient(config) // want `a client is made for each HTTP request`
		_ = pay(r.Context(), client, prepaid.TransferParams{})
	})
	gin.Default().POST("/refund", func(c *gin.Context) {
		client := factory.For(config) // want `a client is made for each HTTP request`
		_, err := client.Funding.Refund(c, prepaid.RefundFundingParams{})
		c.JSON(200, err)
	})
}
