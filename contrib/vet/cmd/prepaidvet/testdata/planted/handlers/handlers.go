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
	ID     prepaid.RequestID `json:"id"`
	To     prepaid.AccountID `json:"to"`
	Amount float64           `json:"amount"`
	Exact  prepaid.Amount    `json:"exact"`
}

func (s *Server) BadPay(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	amount, err := prepaid.ParseAmount(fmt.Sprint(in.Amount)) // want: amount
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result, err := s.Client.Accounts.Transfer(r.Context(), "EA1", prepaid.TransferParams{RequestID: in.ID, Amount: amount, DestinationAccountID: in.To}) // want: deadline outcome
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

func (s *Server) BadHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.Background()
		_, err := s.Client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))}) // want: deadline
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	})
}

func (s *Server) GoodHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(time.Minute))
		defer cancel()
		_, err := s.Client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	})
}

type BadServe struct{ Client *prepaid.Client }

func (h BadServe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.pay(r.Context(), prepaid.RequestID(r.FormValue("id"))); err != nil { // want: deadline
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (h BadServe) pay(ctx context.Context, id prepaid.RequestID) error {
	_, err := h.Client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: id})
	return err
}

type GoodServe struct{ Client *prepaid.Client }

func (h GoodServe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.pay(r.Context(), prepaid.RequestID(r.FormValue("id"))); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (h GoodServe) pay(ctx context.Context, id prepaid.RequestID) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := h.Client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: id})
	return err
}

func (s *Server) BadClientPerRequest(w http.ResponseWriter, r *http.Request) {
	client, err := prepaid.NewClient(s.Config) // want: client
	if err != nil {
		http.Error(w, "config", 500)
		return
	}
	defer client.Close()
	account, err := client.Accounts.Get(r.Context(), prepaid.AccountID(r.PathValue("id")))
	if err != nil {
		http.Error(w, "account", 500)
		return
	}
	json.NewEncoder(w).Encode(account)
}

func (s *Server) newClient() (*prepaid.Client, error) { return prepaid.NewClient(s.Config) }

func (s *Server) BadClientHelper(w http.ResponseWriter, r *http.Request) {
	client, err := s.newClient() // want: client
	if err != nil {
		http.Error(w, "config", 500)
		return
	}
	account, err := client.Accounts.Get(r.Context(), prepaid.AccountID(r.PathValue("id")))
	if err != nil {
		http.Error(w, "account", 500)
		return
	}
	json.NewEncoder(w).Encode(account)
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

func (s *Server) BadDebug(w http.ResponseWriter, r *http.Request) {
	fmt.Println("credentials", s.Config.ClientID, s.Config.ClientSecret.Reveal()) // want: secret
}

func (s *Server) GoodDebug(w http.ResponseWriter, r *http.Request) {
	fmt.Println("credentials", s.Config.ClientID, s.Config.ClientSecret)
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
