package main

import (
	"context"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/gin-gonic/gin"
)

var started = time.Now()

// No fix: the call is in a branch, or the names are taken.
func (h *handler) branches(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		_, err := h.client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{}) // want `Accounts.Transfer is called with the context of the HTTP request`
		h.done <- err
	}
	if r.Method == http.MethodPut {
		_, err := h.client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{}) // want `Accounts.Transfer is called with the context of the HTTP request`
		h.done <- err
	}
}

func (h *handler) taken(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if r.Method == http.MethodPost {
		ctx = context.WithoutCancel(ctx)
	}
	_, err := h.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{}) // want `Accounts.Transfer is called with the context of the HTTP request`
	h.done <- err
	_, err = h.client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{}) // want `Accounts.Transfer is called with the context of the HTTP request`
	h.done <- err
}

func current(c *gin.Context) *http.Request { return c.Request }

type session struct{ request *http.Request }

func (h *handler) sessions(next func() context.Context, find func() *http.Request, s *session) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx := current(c).Context()
		_, err := h.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{}) // want `Accounts.Transfer is called with the context of the HTTP request`
		h.done <- err
		_, err = h.client.Accounts.Transfer(next(), "float", prepaid.TransferParams{}) // of elsewhere, perhaps with a deadline
		h.done <- err
		_, err = h.client.Accounts.Transfer(find().Context(), "float", prepaid.TransferParams{})
		h.done <- err
		_, err = h.client.Accounts.Transfer(s.request.Context(), "float", prepaid.TransferParams{})
		h.done <- err
		_, err = h.client.Accounts.Transfer(requests[c.Request.Host].Context(), "float", prepaid.TransferParams{})
		h.done <- err
	}
}

var requests = map[string]*http.Request{}
