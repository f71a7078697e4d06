package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"service"
)

type payer interface {
	Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)
}

type handler struct {
	client   *prepaid.Client
	payer    payer
	payments *service.Payments
	done     chan error
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := h.client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{}); err != nil { // want `Accounts.Transfer is called with the context of the HTTP request, which has no deadline: no time-out of http.Server sets one.*#deadline$`
		http.Error(w, "no", http.StatusBadGateway)
	}
}

func (h *handler) method(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	_, err := h.payer.Transfer(ctx, "float", prepaid.TransferParams{}) // want `payer.Transfer is called with the context of the HTTP request`
	h.done <- err
}

func (h *handler) detached(w http.ResponseWriter, r *http.Request) {
	_, err := h.client.Funding.Redeem(context.WithoutCancel(r.Context()), prepaid.RedeemFundingParams{}) // want `Funding.Redeem is called in an HTTP handler with a context that has no deadline`
	h.done <- err
}

func (h *handler) goroutine(w http.ResponseWriter, r *http.Request) {
	go func() {
		_, err := h.client.Accounts.Transfer(context.Background(), "float", prepaid.TransferParams{}) // want `Accounts.Transfer is called in an HTTP handler with a context that has no deadline`
		h.done <- err
	}()
	w.WriteHeader(http.StatusAccepted)
}

func (h *handler) helpers(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(service.Labelled(r.Context(), "web"))
	defer cancel()
	err := h.payments.Pay(ctx, prepaid.TransferParams{}) // want `Accounts.Transfer is called with the context of the HTTP request`
	bounded, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	err = errors.Join(err, h.payments.Detached(bounded, prepaid.TransferParams{})) // want `Accounts.Transfer is called in an HTTP handler with a context that has no deadline`
	h.done <- err
}

func pay[P prepaid.PaymentParams](ctx context.Context, client *prepaid.Client, params P) error { // want pay:"Accounts.Transfer with the caller's context"
	_, err := client.Accounts.Transfer(ctx, "float", any(params).(prepaid.TransferParams))
	return err
}

func routes(client *prepaid.Client) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /pay", func(w http.ResponseWriter, r *http.Request) {
		if err := pay(r.Context(), client, prepaid.TransferParams{}); err != nil { // want `Accounts.Transfer is called with the context of the HTTP request`
			http.Error(w, "no", http.StatusBadGateway)
		}
	})
	router := chi.NewRouter()
	router.Use(middleware.RequestID)
	router.Post("/refund", func(w http.ResponseWriter, r *http.Request) {
		_, err := client.Funding.Refund(r.Context(), prepaid.RefundFundingParams{}) // want `Funding.Refund is called with the context of the HTTP request`
		_ = err
	})
	engine := gin.Default()
	engine.POST("/issue", func(c *gin.Context) {
		_, err := client.Accounts.Issue(c, prepaid.IssueParams{})                     // want `Accounts.Issue is called with the context of the HTTP request`
		_, other := client.Accounts.Issue(c.Request.Context(), prepaid.IssueParams{}) // want `Accounts.Issue is called with the context of the HTTP request`
		c.JSON(200, errors.Join(err, other))
	})
	return mux
}

func audited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), "who", "me")))
	})
}

func main() { _ = http.ListenAndServe("", audited(routes(nil))) }
