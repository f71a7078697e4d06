package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// shop pays orders.
type shop struct {
	client   *prepaid.Client
	payments *journalfile.Journal
	worker   journal.Workers // sends the payments that a handler or a dead process left open
	float    prepaid.AccountID
	orders   map[string]prepaid.TransferParams // your table of orders, which also stores their request IDs and params
}

func open(client *prepaid.Client, path string, float prepaid.AccountID, orders map[string]prepaid.TransferParams) (*shop, error) {
	digests := prepaid.NewSecret("a key for digests") // real keys are random, and in a vault
	seal, err := journal.NewAEAD(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		return nil, err
	}
	payments, err := journalfile.Open(path, journalfile.Options{DigestKey: digests, Seal: seal})
	return &shop{client: client, payments: payments, worker: journal.Workers{DigestKey: digests, Seal: seal}, float: float, orders: orders}, err
}

// ServeHTTP pays an order (POST) or reads the state of its payment (GET).
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	params, known := s.orders[r.PathValue("id")] // also check that this user may pay the order
	code := http.StatusNotFound
	if known && r.Method == http.MethodPost {
		code = s.pay(r.Context(), params)
	}
	e, recorded := s.payments.Get(params.RequestID)
	if recorded && r.Method == http.MethodGet {
		code = status(e)
	}
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, e.State) // the client may have left, and then asks again
}

// pay makes a payment once, however often it is called, and returns the HTTP status.
func (s *shop) pay(ctx context.Context, params prepaid.TransferParams) int {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, err := s.payments.Transfer(ctx, s.client.Accounts, s.float, params)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		return http.StatusOK
	case prepaid.OutcomeRejected:
		if errors.Is(err, prepaid.ErrRequestIDReused) {
			return http.StatusConflict // the order has changed: an operator decides
		}
		return http.StatusUnprocessableEntity
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown: // the worker sends it
	}
	e, _ := s.payments.Get(params.RequestID)
	return status(e)
}

// status returns the HTTP status for the journal's entry of a payment.
func status(e journal.Entry) int {
	switch {
	case e.State == "": // not recorded, so not sent
		return http.StatusServiceUnavailable
	case e.State == journal.StateDone:
		return http.StatusOK
	case e.NeedsPerson(time.Now()) != nil:
		return http.StatusConflict
	case e.State.Pending():
		return http.StatusAccepted
	}
	return http.StatusUnprocessableEntity
}
