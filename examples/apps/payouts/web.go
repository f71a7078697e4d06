package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
)

// order is a customer's order. Posting it again changes nothing.
type order struct {
	ID        string            `json:"id"`
	AccountID prepaid.AccountID `json:"account_id"`
	Amount    prepaid.Amount    `json:"amount"`
	Reference string            `json:"reference"` // for the payee's statement
}

// accepted is the response to an accepted order.
type accepted struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// web takes orders.
type web struct {
	pool  *pgxpool.Pool
	store *prepaidpg.Store
	float prepaid.AccountID
}

// A known order keeps its request ID: another ID would pay the order again.
const (
	insertOrder = `insert into orders (id, account_id, amount, request_id) values ($1, $2, $3, $4) on conflict do nothing`
	selectOrder = `select id, state, request_id from orders where id = $1`
)

// take writes the order and its payment in one transaction: both are committed, or neither.
func (w *web) take(ctx context.Context, o order) (a accepted, err error) {
	err = pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		id := prepaid.DeriveRequestID(prepaid.DateOf(time.Now().UTC()), "payouts", o.ID)
		if _, err := tx.Exec(ctx, insertOrder, o.ID, o.AccountID, o.Amount, id); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, selectOrder, o.ID).Scan(&a.ID, &a.State, &id); err != nil {
			return err
		}
		return w.store.Enqueue(ctx, tx, w.float, prepaid.TransferParams{
			RequestID: id, Amount: o.Amount, DestinationAccountID: o.AccountID, Type: prepaid.TransferTypeLoad,
			SourceReference: "payouts/" + o.ID, DestinationReference: o.Reference,
		})
	})
	return a, err
}

// ServeHTTP handles POST /orders. After a 503 or no response, post the same order again.
func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var o order
	in := json.NewDecoder(http.MaxBytesReader(rw, r.Body, 4<<10))
	in.DisallowUnknownFields()
	if in.Decode(&o) != nil || o.ID == "" || len(o.ID) > 60 || o.AccountID == "" || o.Amount.Sign() <= 0 || o.Reference == "" {
		http.Error(rw, "an order has id, account_id, amount and reference", http.StatusBadRequest)
		return
	}
	a, err := w.take(r.Context(), o)
	invalid, _ := errors.AsType[*prepaid.ValidationError](err)
	refused, _ := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(rw).Encode(a) // the customer may have left, and then posts again
	case errors.Is(err, journal.ErrChanged):
		http.Error(rw, "this order exists with other content", http.StatusConflict)
	case errors.Is(err, prepaid.ErrRequestIDExpired):
		http.Error(rw, "this order is weeks old", http.StatusGone)
	case invalid != nil:
		http.Error(rw, invalid.Error(), http.StatusBadRequest) // fields and rules, never values
	case refused != nil && refused.Code == "23503": // the failed commit rolls back the payment too
		http.Error(rw, "this account is not a payee", http.StatusUnprocessableEntity)
	default:
		slog.Warn("order not taken", "order", o.ID, "error", err)
		rw.Header().Set("Retry-After", "1")
		http.Error(rw, "try again", http.StatusServiceUnavailable)
	}
}

// serve takes orders until ctx ends. After that, it completes the requests in progress.
func serve(ctx context.Context, listener net.Listener, orders *web) error {
	mux := http.NewServeMux()
	mux.Handle("POST /orders", orders)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
