// Package messages handles webhook messages.
package messages

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/cardprograms/prepaid"
)

type app struct {
	c  *prepaid.Client
	db *sql.DB
}

func (a *app) newID(ctx context.Context, m *prepaid.Message) error {
	_, err := a.c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.NewRequestID()}) // want `paid under a new request ID each time`
	return err
}

func (a *app) pay(ctx context.Context, to prepaid.AccountID) error {
	_, err := a.c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.NewRequestID(), DestinationAccountID: to})
	return err
}

func (a *app) through(ctx context.Context, m *prepaid.Message) error {
	return a.pay(ctx, "EA2") // want `app.pay pays it under a new request ID each time`
}

func (a *app) right(ctx context.Context, m *prepaid.Message) error {
	_, err := a.c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.DeriveRequestID(prepaid.DateOf(m.Timestamp), m.ID)})
	return err
}

func (a *app) background(ctx context.Context, m *prepaid.Message) error {
	go a.right(ctx, m) // want `acknowledged while a goroutine still works on it`
	return nil
}

func (a *app) waits(ctx context.Context, m *prepaid.Message) error {
	done := make(chan error)
	go func() { done <- a.right(ctx, m) }()
	return <-done
}

func (a *app) calm(ctx context.Context, m *prepaid.Message) error {
	if _, err := a.db.ExecContext(ctx, "insert into inbox values ($1)", m.ID); err != nil { // want `after an error of ExecContext the message is acknowledged`
		slog.Error("inbox", "err", err)
	}
	return nil
}

func (a *app) once(ctx context.Context, m *prepaid.Message) error {
	_, err := a.db.ExecContext(ctx, "insert into inbox values ($1)", m.ID)
	if err != nil && duplicate(err) {
		return nil
	}
	return err
}

func duplicate(err error) bool { return errors.Is(err, sql.ErrNoRows) }

func (a *app) unreadable(ctx context.Context, m *prepaid.Message) error {
	var body struct{}
	if err := m.Decode(&body); err != nil {
		slog.Error("unreadable", "id", m.ID, "err", err)
		return nil
	}
	return a.right(ctx, m)
}

func (a *app) handledFirst(ctx context.Context, m *prepaid.Message) error {
	if _, err := a.db.ExecContext(ctx, "insert into handled values ($1)", m.ID); err != nil { // want `marked as done before app.right is made`
		return err
	}
	return a.right(ctx, m)
}

type delivery interface{ Ack() error }

func (a *app) queue(ctx context.Context, d delivery, p prepaid.TransferParams) error {
	if err := d.Ack(); err != nil { // want `marked as done before Accounts.Transfer is made`
		return err
	}
	_, err := a.c.Accounts.Transfer(ctx, "EA1", p)
	return err
}

func (a *app) queueRight(ctx context.Context, d delivery, p prepaid.TransferParams) error {
	if _, err := a.c.Accounts.Transfer(ctx, "EA1", p); err != nil {
		return err
	}
	return d.Ack()
}

type inbox interface {
	Add(ctx context.Context, id string) error
	Notify(ctx context.Context, id string) error
}

var errDuplicate = errors.New("duplicate")

// What is done about an error, or is not worth one.
func (a *app) inbox(ctx context.Context, box inbox, failed map[string]error, dead chan<- string, m *prepaid.Message) error {
	_ = box.Notify(ctx, m.ID)
	if err := box.Add(ctx, m.ID); errors.Is(err, errDuplicate) {
		return nil
	} else if err != nil {
		return err
	}
	if err := box.Add(ctx, "copy of "+m.ID); err != nil {
		failed[m.ID] = err
		return nil
	}
	if err := box.Add(ctx, "again "+m.ID); err != nil {
		dead <- m.ID
		return nil
	}
	return nil
}

func (a *app) inTime(ctx context.Context, m *prepaid.Message) error {
	done := make(chan error, 1)
	go func() { done <- a.right(ctx, m) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
