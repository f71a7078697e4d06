package main

import (
	"context"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/gin-gonic/gin"

	"service"
)

func (h *handler) bounded(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*time.Minute)
	defer cancel()
	_, err := h.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{})
	until, cancel := context.WithDeadline(r.Context(), time.Now().Add(time.Minute))
	defer cancel()
	go func() { h.done <- h.payments.Pay(context.WithValue(until, "a", "b"), prepaid.TransferParams{}) }()
	h.done <- err
}

func (h *handler) helped(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := service.Money(r.Context())
	defer cancel()
	h.done <- h.payments.Pay(ctx, prepaid.TransferParams{})
	h.done <- h.payments.Bounded(r.Context(), prepaid.TransferParams{})
	r = r.WithContext(ctx)
	h.done <- h.payments.Pay(r.Context(), prepaid.TransferParams{})
}

func (h *handler) read(w http.ResponseWriter, r *http.Request) {
	_, err := h.client.Accounts.Get(r.Context(), "a")
	h.done <- err
}

func (h *handler) unlessBounded(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		ctx = bounded
	}
	h.done <- h.payments.Pay(ctx, prepaid.TransferParams{})
}

func framework(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), time.Minute)
	defer cancel()
	_ = ctx
}

// A worker has the context of the program.
func (h *handler) worker(ctx context.Context, payments <-chan prepaid.TransferParams) { // want worker:"Accounts.Transfer with the caller's context"
	for p := range payments {
		h.done <- h.payments.Pay(ctx, p)
	}
}

func batch(client *prepaid.Client) error { // want batch:"Accounts.Transfer without a deadline"
	_, err := client.Accounts.Transfer(context.Background(), "a", prepaid.TransferParams{})
	return err
}

// The variable is made of itself, and a literal has it.
func (h *handler) itself(ctx context.Context, p prepaid.TransferParams) { // want itself:"Accounts.Transfer with the caller's context"
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { h.done <- h.payments.Pay(ctx, p) }()
}
