// Package receiver reacts to webhook messages.
package receiver

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"log/slog"
	"net/http"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

type Purchase struct {
	Account prepaid.AccountID `json:"account_id"`
	Amount  prepaid.Amount    `json:"amount"`
	ID      string            `json:"transaction_id"`
}

type App struct {
	client *prepaid.Client
	db     *sql.DB
}

func (a *App) cashback(p Purchase, id prepaid.RequestID) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: id, Amount: prepaid.Cents(50), DestinationAccountID: p.Account,
		SourceReference: "cashback " + p.ID, DestinationReference: "cashback"}
}

// Mistake: new id.
func (a *App) OnTransaction(ctx context.Context, m *prepaid.Message) error {
	var p Purchase
	if err := m.Decode(&p); err != nil {
		return err
	}
	_, err := a.client.Accounts.Transfer(ctx, "EA1", a.cashback(p, prepaid.NewRequestID())) // want: webhook
	return err
}

func (a *App) OnTransactionRight(ctx context.Context, m *prepaid.Message) error {
	var p Purchase
	if err := m.Decode(&p); err != nil {
		return err
	}
	_, err := a.client.Accounts.Transfer(ctx, "EA1", a.cashback(p, prepaid.DeriveRequestID(prepaid.DateOf(m.Timestamp), "cashback", string(m.ID))))
	return err
}

// Mistake: nil after failure.
func (a *App) handlerNil() (http.Handler, error) {
	return webhook.NewHandler(webhook.Config{
		AllowUnverified: true,
		OnTransaction: func(ctx context.Context, m *prepaid.Message) error {
			if _, err := a.db.ExecContext(ctx, `INSERT INTO messages (id, raw) VALUES ($1, $2)`, string(m.ID), []byte(m.Raw)); err != nil { // want: webhook
				log.Println("store the message:", err)
				return nil
			}
			return nil
		},
	})
}

func (a *App) handlerErr() (http.Handler, error) {
	return webhook.NewHandler(webhook.Config{
		AllowUnverified: true,
		OnTransaction: func(ctx context.Context, m *prepaid.Message) error {
			if _, err := a.db.ExecContext(ctx, `INSERT INTO messages (id, raw) VALUES ($1, $2)`, string(m.ID), []byte(m.Raw)); err != nil {
				log.Println("store the message:", err)
				return err
			}
			return nil
		},
	})
}

// Mistake: goroutine.
func (a *App) handlerGo() (http.Handler, error) {
	return webhook.NewHandler(webhook.Config{
		AllowUnverified: true,
		OnTransaction: func(ctx context.Context, m *prepaid.Message) error {
			go func() { // want: webhook
				if err := a.OnTransactionRight(context.WithoutCancel(ctx), m); err != nil {
					slog.Error("cashback", "err", err)
				}
			}()
			return nil
		},
	})
}

func (a *App) handlerSync() (http.Handler, error) {
	return webhook.NewHandler(webhook.Config{
		AllowUnverified: true,
		OnTransaction: func(ctx context.Context, m *prepaid.Message) error {
			done := make(chan error, 1)
			go func() { done <- a.OnTransactionRight(ctx, m) }()
			return <-done
		},
	})
}

// Mistake: claim done before the work.
func (a *App) withClaims(ctx context.Context, claims webhook.ClaimStore, m *prepaid.Message) error {
	c, err := claims.Claim(ctx, webhook.ClaimID(m), 0)
	if err != nil {
		return err
	}
	if err := c.Done(ctx); err != nil { // want: webhook
		return err
	}
	return a.OnTransactionRight(ctx, m)
}

func (a *App) withClaimsRight(ctx context.Context, claims webhook.ClaimStore, m *prepaid.Message) error {
	c, err := claims.Claim(ctx, webhook.ClaimID(m), 0)
	if err != nil {
		return err
	}
	if err := a.OnTransactionRight(ctx, m); err != nil {
		return errors.Join(err, c.Release(ctx))
	}
	return c.Done(ctx)
}
