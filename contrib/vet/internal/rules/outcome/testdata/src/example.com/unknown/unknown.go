// Package unknown does what is right only if the money certainly did not move.
package unknown

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/transport"
)

type stock interface {
	Restock(ctx context.Context, order string) error
	SetStatus(ctx context.Context, order, status string) error
	MarkUnknown(ctx context.Context, order string, sent ...time.Time) error
}

type shop struct {
	client *prepaid.Client
	db     *sql.DB
	stock  stock
}

type order struct {
	ID, Status string
	SentAt     time.Time
	Params     prepaid.TransferParams
}

func (s *shop) restocked(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err != nil {
		return errors.Join(err, s.stock.Restock(ctx, o.ID)) // want `this takes an error of Accounts.Transfer for a failure: its outcome may be unknown`
	}
	return nil
}

func (s *shop) certain(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		return errors.Join(err, s.stock.Restock(ctx, o.ID))
	}
	return err
}

func (s *shop) notSent(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err == nil {
		return nil
	}
	unsent, moved := transport.NotSent(err), !prepaid.ProvesNotApplied(err, time.Now())
	if unsent || !moved || errors.Is(err, prepaid.ErrTransferFailed) {
		return errors.Join(err, s.stock.Restock(ctx, o.ID))
	}
	if _, invalid := errors.AsType[*prepaid.ValidationError](err); invalid {
		return s.cancelOrder(ctx, o)
	}
	return err
}

// A code of the service leaves the outcome open.
func (s *shop) vague(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if errors.Is(err, prepaid.ErrServer) {
		return s.cancelOrder(ctx, o) // want `takes an error of Accounts.Transfer for a failure`
	}
	return err
}

func (s *shop) cancelOrder(ctx context.Context, o *order) error {
	_, err := s.db.ExecContext(ctx, "UPDATE orders SET open = false WHERE id = $1", o.ID)
	return err
}

func (s *shop) asked(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err != nil {
		return s.failOrder(ctx, o, err)
	}
	return nil
}

func (s *shop) failOrder(ctx context.Context, o *order, err error) error {
	if prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown {
		return err
	}
	return s.stock.SetStatus(ctx, o.ID, "failed")
}

func (s *shop) chosen(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	status := "paid"
	if err != nil {
		slog.Error("pay", "err", err)
		status = "failed"
	}
	return s.stock.SetStatus(ctx, o.ID, status) // want `takes an error`
}

func (s *shop) opened(ctx context.Context, o *order) error {
	if err := s.stock.SetStatus(ctx, o.ID, "failed"); err != nil { // until it is paid
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	status := "sent"
	if err != nil {
		slog.Error("pay", "err", err)
	}
	return s.stock.SetStatus(ctx, o.ID, status)
}

func (s *shop) field(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err != nil {
		o.Status = "failed" // want `takes an error`
		return err
	}
	o.Status = "paid"
	return nil
}

func (s *shop) statement(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err != nil {
		_, _ = s.db.ExecContext(ctx, "UPDATE orders SET status = 'failed' WHERE id = $1", o.ID) // want `takes an error`
	}
	return err
}

func (s *shop) argument(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err != nil {
		_, _ = s.db.ExecContext(ctx, "UPDATE orders SET status = $2 WHERE id = $1", o.ID, "failed") // want `takes an error`
	}
	return err
}

type receipt struct{ order, status string }

func (s *shop) result(ctx context.Context, o *order) (receipt, error) {
	if _, err := s.client.Accounts.Transfer(ctx, "a", o.Params); err != nil {
		slog.Error("pay", "err", err)
		return receipt{o.ID, "declined"}, nil // want `takes an error`
	}
	return receipt{o.ID, "paid"}, nil
}

func (s *shop) otherwise(ctx context.Context, o *order, out prepaid.DirectEntryOutParams) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err != nil {
		slog.Warn("transfer", "err", err)
		_, err = s.client.Accounts.DirectEntryOut(ctx, "a", out) // want `this pays in another way after an error of Accounts.Transfer`
	}
	return err
}

func (s *shop) funded(ctx context.Context, o *order, load prepaid.RedeemFundingParams) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err == nil {
		return nil
	}
	_, other := s.client.Funding.Redeem(ctx, load) // want `this pays in another way`
	return errors.Join(err, other)
}

func (s *shop) hidden(ctx context.Context, o *order) error {
	if _, err := s.client.Accounts.Transfer(ctx, "a", o.Params); err != nil {
		return fmt.Errorf("pay %s: %v", o.ID, err) // want `the outcome of Accounts.Transfer is lost: a caller cannot ask an error without %w`
	}
	return nil
}

func (s *shop) hiddenText(ctx context.Context, o *order) (failed error) {
	if _, err := s.client.Accounts.Transfer(ctx, "a", o.Params); err != nil {
		failed = errors.New("pay: " + err.Error()) // want `the outcome of Accounts.Transfer is lost`
	}
	slog.Info("done", "order", o.ID)
	return failed
}

func (s *shop) shown(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if err != nil {
		slog.Error("pay", "err", fmt.Errorf("order %s: %v", o.ID, err))
		err = fmt.Errorf("pay: %w", err)
	}
	return err
}

func (s *shop) deferred(ctx context.Context, o *order) (err error) {
	defer func() {
		if err != nil {
			_ = s.stock.Restock(ctx, o.ID) // want `takes an error`
		}
	}()
	_, err = s.client.Accounts.Transfer(ctx, "a", o.Params)
	return err
}

func (s *shop) deferredRight(ctx context.Context, o *order) (err error) {
	var reserved error
	defer func() {
		slog.Info("pay", "err", err)
		if reserved != nil {
			_ = s.stock.Restock(ctx, o.ID)
		}
		if ctx.Err() != nil {
			_ = s.stock.Restock(ctx, o.ID)
		}
	}()
	if reserved = s.stock.SetStatus(ctx, o.ID, "reserved"); reserved != nil {
		return reserved
	}
	_, err = s.client.Accounts.Transfer(ctx, "a", o.Params)
	return err
}

// A row has the time of the last request.
func (s *shop) unread(ctx context.Context, id string) error {
	var o order
	if err := s.db.QueryRowContext(ctx, "SELECT id, sent_at FROM orders WHERE id = $1", id).Scan(&o.ID, &o.SentAt); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, "a", prepaid.TransferParams{RequestID: prepaid.RequestID(o.ID)}) // want `the stored time of the last request is read, and not given to Accounts.Transfer`
	return err
}

func (s *shop) unreadVariable(ctx context.Context, params prepaid.TransferParams) error {
	var sentAt time.Time
	if err := s.db.QueryRowContext(ctx, "SELECT sent_at FROM orders").Scan(&sentAt); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, "a", params) // want `the stored time of the last request is read`
	return err
}

func (s *shop) given(ctx context.Context, params prepaid.TransferParams) error {
	var o order
	if err := s.db.QueryRowContext(ctx, "SELECT id, sent_at FROM orders").Scan(&o.ID, &o.SentAt); err != nil {
		return err
	}
	params.RequestID, params.LastSent = prepaid.RequestID(o.ID), o.SentAt
	_, err := s.client.Accounts.Transfer(ctx, "a", params)
	return err
}

func (s *shop) guessed(ctx context.Context, params prepaid.TransferParams) error {
	params.LastSent = time.Now().Add(-time.Minute) // want `LastSent is a guess`
	_, err := s.client.Accounts.Transfer(ctx, "a", params)
	return err
}

func (s *shop) carried(ctx context.Context, all []prepaid.TransferParams) {
	var last time.Time
	for _, params := range all {
		params.LastSent = last // want `LastSent is that of another payment`
		if _, err := s.client.Accounts.Transfer(ctx, "a", params); err != nil {
			slog.Error("pay", "err", err)
			if call, ok := errors.AsType[*prepaid.CallError](err); ok {
				last = call.LastSent
			}
		}
	}
}

func (s *shop) recorded(ctx context.Context, o *order) {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown {
		_ = s.stock.MarkUnknown(ctx, o.ID) // want `an unknown outcome of Accounts.Transfer is recorded without CallError.LastSent`
	}
}

func (s *shop) recordedState(ctx context.Context, o *order) {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown {
		_ = s.stock.SetStatus(ctx, o.ID, "unknown") // want `recorded without CallError.LastSent`
	}
}

func (s *shop) recordedWithTime(ctx context.Context, o *order) {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if call, ok := errors.AsType[*prepaid.CallError](err); ok && call.Outcome == prepaid.OutcomeUnknown {
		_ = s.stock.MarkUnknown(ctx, o.ID, call.LastSent)
	}
}

// The caller has the time.
func (s *shop) recordedAndReturned(ctx context.Context, o *order) error {
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params)
	if prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown {
		_ = s.stock.MarkUnknown(ctx, o.ID)
		return fmt.Errorf("pay: %w", err)
	}
	return err
}

func (s *shop) transaction(ctx context.Context, o *order) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE orders SET open = false WHERE id = $1", o.ID); err != nil {
		return err
	}
	if _, err := s.client.Accounts.Transfer(ctx, "a", o.Params); err != nil { // want `Accounts.Transfer is made in a transaction`
		return err
	}
	return tx.Commit()
}

func (s *shop) committed(ctx context.Context, o *order) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE orders SET open = false WHERE id = $1", o.ID); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = s.client.Accounts.Transfer(ctx, "a", o.Params)
	return err
}

func (s *shop) within(ctx context.Context, tx *sql.Tx, o *order) error {
	if _, err := tx.ExecContext(ctx, "UPDATE orders SET open = false WHERE id = $1", o.ID); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, "a", o.Params) // want `made in a transaction`
	return err
}

// What an error of a call never is.
func never(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (string, error) {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	switch err {
	case prepaid.ErrNotFound: // want `a comparison with prepaid.ErrNotFound never matches an error of a call, which wraps it; use errors.Is`
		return "no account", err
	}
	if refused, ok := err.(*prepaid.APIError); ok { // want `an assertion of \*prepaid.APIError never matches`
		return fmt.Sprint(refused.StatusCode), err
	}
	if _, ok := err.(*ratelimit.RefusedError); ok { // want `an assertion of \*ratelimit.RefusedError never matches`
		return "later", err
	}
	return "", err
}

func permanent(err error) bool { return prepaid.ErrNotFound == err } // want `a comparison with prepaid.ErrNotFound never matches`

func read(ctx context.Context, client *prepaid.Client) bool {
	_, err := client.Accounts.Get(ctx, "a")
	return err == prepaid.ErrNotFound // want `never matches`
}

type fault struct{ error }

func (f fault) Is(target error) bool { return target == prepaid.ErrServer }

func status(v any) int {
	if refused, ok := v.(*prepaid.APIError); ok {
		return refused.StatusCode
	}
	return 0
}

func unwrapped(params prepaid.TransferParams, err error) bool {
	_, malformed := prepaid.ParseAmount("1")
	_, invalid := params.Validate().(*prepaid.ValidationError)
	return errors.Unwrap(err) == prepaid.ErrServer || invalid || cause() == prepaid.ErrServer || malformed == prepaid.ErrServer || errServer == prepaid.ErrServer
}

var errServer = prepaid.ErrServer

func cause() error { return errServer }
