// Package handlers: net/http handlers.
package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
)

type Server struct {
	Client *prepaid.Client
	Config prepaid.Config
}

type request struct {
	ID    prepaid.RequestID `json:"id"`
	To    prepaid.AccountID `json:"to"`
	Exact prepaid.Amount    `json:"exact"`
}

func (s *Server) BadPay(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result, err := s.Client.Accounts.Transfer(r.Context(), "EA1", prepaid.TransferParams{RequestID: in.ID, Amount: in.Exact, DestinationAccountID: in.To}) // want: outcome
	if err != nil {
		http.Error(w, "payment failed", http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(result)
}

func (s *Server) GoodPay(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*time.Minute)
	defer cancel()
	result, err := s.Client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: in.ID, Amount: in.Exact, DestinationAccountID: in.To})
	if err != nil {
		http.Error(w, prepaid.OutcomeOf(err).String(), http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(result)
}

func (s *Server) BadRedeem(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	res, err := s.Client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{CorrelationID: r.FormValue("id")}) // want: funding
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, "redeemed", res.TransactionID)
}

func (s *Server) GoodRedeem(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	res, err := s.Client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{CorrelationID: r.FormValue("id")})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(res)
}

func (s *Server) BadList(w http.ResponseWriter, r *http.Request) {
	enc := json.NewEncoder(w)
	for t, err := range s.Client.Accounts.Transactions(r.Context(), "EA1", prepaid.ListTransactionsParams{}) { // want: iterator
		if err != nil {
			return
		}
		enc.Encode(t)
	}
}

func (s *Server) GoodList(w http.ResponseWriter, r *http.Request) {
	enc := json.NewEncoder(w)
	for t, err := range s.Client.Accounts.Transactions(r.Context(), "EA1", prepaid.ListTransactionsParams{}) {
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		enc.Encode(t)
	}
}

// The request ID belongs to one HTTP request: a browser that repeats it makes another one. Not reported: the handler pays once.
func (s *Server) GoodFreshID(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*time.Minute)
	defer cancel()
	if _, err := s.Client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.NewRequestID()}); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (s *Server) BadClockID(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*time.Minute)
	defer cancel()
	id := prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), r.FormValue("order"), time.Now().String()) // want: requestid
	if _, err := s.Client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: id}); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}
