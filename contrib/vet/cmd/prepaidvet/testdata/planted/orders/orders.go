// Package orders is a payments service over SQL.
package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
)

type Service struct {
	db     *sql.DB
	client *prepaid.Client
	log    *slog.Logger
	float  prepaid.AccountID
	newID  func() prepaid.RequestID
}

type Order struct {
	ID        string
	Placed    prepaid.Date
	Account   prepaid.AccountID
	Amount    prepaid.Amount
	RequestID prepaid.RequestID
	LastSent  time.Time
}

func (s *Service) params(o Order) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: o.RequestID, Amount: o.Amount, DestinationAccountID: o.Account,
		SourceReference: "order " + o.ID, DestinationReference: "order " + o.ID}
}

// Mistake: new id after ErrRequestIDReused.

func (s *Service) PayReused(ctx context.Context, o Order) error {
	params := s.params(o)
	_, err := s.client.Accounts.Transfer(ctx, s.float, params)
	if errors.Is(err, prepaid.ErrRequestIDReused) {
		params.RequestID = prepaid.NewRequestID() // want: requestid
		_, err = s.client.Accounts.Transfer(ctx, s.float, params)
	}
	return err
}

// The right form.

func (s *Service) PayReusedRight(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if errors.Is(err, prepaid.ErrRequestIDReused) {
		s.log.ErrorContext(ctx, "the order's request ID belongs to another payment", "order", o.ID)
		return fmt.Errorf("order %s for review: %w", o.ID, err)
	}
	return err
}

// Mistake: marked failed on any error.

func (s *Service) SettleFailed(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	state := "paid"
	if err != nil {
		state = "failed"
		s.log.ErrorContext(ctx, "transfer", "order", o.ID, "err", err)
	}
	_, err = s.db.ExecContext(ctx, `UPDATE orders SET state = $1 WHERE id = $2`, state, o.ID) // want: outcome
	return err
}

// The right form.

func (s *Service) SettleFailedRight(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	state := "paid"
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
	case prepaid.OutcomeRejected:
		state = "failed"
	default:
		state = "unknown"
	}
	_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = $1 WHERE id = $2`, state, o.ID)
	return errors.Join(err, dbErr)
}

// Mistake: refund on timeout.

func (s *Service) ChargeTimeout(ctx context.Context, o Order, customer prepaid.AccountID) error {
	_, err := s.client.Accounts.Transfer(ctx, customer, s.params(o))
	if errors.Is(err, context.DeadlineExceeded) {
		if err := s.creditCustomer(ctx, o); err != nil { // want: outcome
			return err
		}
		return fmt.Errorf("order %s timed out and was cancelled", o.ID)
	}
	return err
}

// The right form.

func (s *Service) ChargeTimeoutRight(ctx context.Context, o Order, customer prepaid.AccountID) error {
	_, err := s.client.Accounts.Transfer(ctx, customer, s.params(o))
	if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		if err := s.creditCustomer(ctx, o); err != nil {
			return err
		}
		return fmt.Errorf("order %s was refused and is cancelled: %w", o.ID, err)
	}
	return err
}

func (s *Service) creditCustomer(ctx context.Context, o Order) error {
	_, err := s.db.ExecContext(ctx, `UPDATE customers SET credit = credit + $1 WHERE order_id = $2`, o.Amount, o.ID)
	return err
}

// Mistake: status code decides.

func (s *Service) ByStatus(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if response, ok := errors.AsType[*prepaid.APIError](err); ok && response.StatusCode >= 400 && response.StatusCode < 500 {
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'failed' WHERE id = $1`, o.ID) // want: outcome
		return dbErr
	}
	return err
}

// The right form.

func (s *Service) ByStatusRight(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if response, ok := errors.AsType[*prepaid.APIError](err); ok {
		s.log.WarnContext(ctx, "refused", "status", response.StatusCode, "code", response.Code)
	}
	if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'failed' WHERE id = $1`, o.ID)
		return dbErr
	}
	return err
}

// Mistake: compensation when outcome unknown.

func (s *Service) Compensate(ctx context.Context, o Order, from prepaid.AccountID) error {
	_, err := s.client.Accounts.Transfer(ctx, from, s.params(o))
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		return nil
	case prepaid.OutcomeRejected, prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'failed', refunded = true WHERE id = $1`, o.ID) // want: outcome
		return dbErr
	}
	return nil
}

// The right form.

func (s *Service) CompensateRight(ctx context.Context, o Order, from prepaid.AccountID) error {
	_, err := s.client.Accounts.Transfer(ctx, from, s.params(o))
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		return nil
	case prepaid.OutcomeRejected:
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'failed', refunded = true WHERE id = $1`, o.ID)
		return dbErr
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'open' WHERE id = $1`, o.ID)
		return errors.Join(err, dbErr)
	}
	return nil
}

// Mistake: payment in a closure of a transaction.

func (s *Service) Cashout(ctx context.Context, o Order) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE balances SET amount = amount - $1 WHERE id = $2`, o.Amount, o.ID); err != nil {
			return err
		}
		_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)) // want: outcome
		return err
	})
}

// The right form.

func (s *Service) CashoutRight(ctx context.Context, o Order) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE balances SET amount = amount - $1 WHERE id = $2`, o.Amount, o.ID)
		return err
	})
	if err != nil {
		return err
	}
	_, err = s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	return err
}

// Mistake: stored after the call.

func (s *Service) StoreAfter(ctx context.Context, o Order) error {
	params := s.params(o)
	params.RequestID = prepaid.NewRequestID() // want: requestid
	result, err := s.client.Accounts.Transfer(ctx, s.float, params)
	if err != nil {
		return fmt.Errorf("pay order %s: %w", o.ID, err)
	}
	_, err = s.db.ExecContext(ctx, `UPDATE orders SET request_id = $1, transaction_id = $2 WHERE id = $3`, string(params.RequestID), string(result.TransactionID), o.ID)
	return err
}

// The right form.

func (s *Service) StoreBefore(ctx context.Context, o Order) error {
	params := s.params(o)
	params.RequestID = prepaid.NewRequestID()
	if _, err := s.db.ExecContext(ctx, `UPDATE orders SET request_id = $1 WHERE id = $2`, string(params.RequestID), o.ID); err != nil {
		return err
	}
	result, err := s.client.Accounts.Transfer(ctx, s.float, params)
	if err != nil {
		return fmt.Errorf("pay order %s: %w", o.ID, err)
	}
	_, err = s.db.ExecContext(ctx, `UPDATE orders SET transaction_id = $1 WHERE id = $2`, string(result.TransactionID), o.ID)
	return err
}

// Mistake: generator in a field.

func (s *Service) Tip(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, prepaid.TransferParams{
		RequestID: s.newID(), Amount: o.Amount, DestinationAccountID: o.Account,
		SourceReference: "tip", DestinationReference: "tip",
	})
	if err != nil && prepaid.OutcomeOf(err) != prepaid.OutcomeRejected {
		_, err = s.client.Accounts.Transfer(ctx, s.float, prepaid.TransferParams{
			RequestID: s.newID(), Amount: o.Amount, DestinationAccountID: o.Account, // want: requestid
			SourceReference: "tip", DestinationReference: "tip",
		})
	}
	return err
}

// The right form.

func (s *Service) TipRight(ctx context.Context, o Order) error {
	params := prepaid.TransferParams{
		RequestID: s.newID(), Amount: o.Amount, DestinationAccountID: o.Account,
		SourceReference: "tip", DestinationReference: "tip",
	}
	if _, err := s.db.ExecContext(ctx, `INSERT INTO tips (request_id, account) VALUES ($1, $2)`, string(params.RequestID), string(o.Account)); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, s.float, params)
	if err != nil && prepaid.OutcomeOf(err) != prepaid.OutcomeRejected {
		_, err = s.client.Accounts.Transfer(ctx, s.float, params)
	}
	return err
}

// Mistake: fee and amount under one id.

func (s *Service) WithFee(ctx context.Context, o Order, fee prepaid.Amount, fees prepaid.AccountID) error {
	params := s.params(o)
	if _, err := s.client.Accounts.Transfer(ctx, s.float, params); err != nil {
		return err
	}
	params.Amount, params.DestinationAccountID = fee, fees
	_, err := s.client.Accounts.Transfer(ctx, s.float, params) // want: requestid
	return err
}

// The right form.

func (s *Service) WithFeeRight(ctx context.Context, o Order, fee prepaid.Amount, fees prepaid.AccountID) error {
	params := s.params(o)
	if _, err := s.client.Accounts.Transfer(ctx, s.float, params); err != nil {
		return err
	}
	params.RequestID = prepaid.DeriveRequestID(o.Placed, "fee", o.ID)
	params.Amount, params.DestinationAccountID = fee, fees
	_, err := s.client.Accounts.Transfer(ctx, s.float, params)
	return err
}

// Mistake: transfer and direct entry.

func (s *Service) Split(ctx context.Context, o Order, bank prepaid.BankAccount, rest prepaid.Amount) error {
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil {
		return err
	}
	_, err := s.client.Accounts.DirectEntryOut(ctx, s.float, prepaid.DirectEntryOutParams{ // want: requestid
		RequestID: o.RequestID, Amount: rest, Destination: bank, BSB: bank.BSB,
		SourceReference: "rest", DestinationReference: "rest",
	})
	return err
}

// The right form.

func (s *Service) SplitRight(ctx context.Context, o Order, bank prepaid.BankAccount, rest prepaid.Amount) error {
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil {
		return err
	}
	_, err := s.client.Accounts.DirectEntryOut(ctx, s.float, prepaid.DirectEntryOutParams{
		RequestID: prepaid.DeriveRequestID(o.Placed, "rest", o.ID), Amount: rest, Destination: bank, BSB: bank.BSB,
		SourceReference: "rest", DestinationReference: "rest",
	})
	return err
}

// Mistake: err == sentinel.

func (s *Service) Exists(ctx context.Context, id prepaid.AccountID) (bool, error) {
	_, err := s.client.Accounts.Get(ctx, id)
	if err == prepaid.ErrNotFound { // want: outcome
		return false, nil
	}
	return err == nil, err
}

// The right form.

func (s *Service) ExistsRight(ctx context.Context, id prepaid.AccountID) (bool, error) {
	_, err := s.client.Accounts.Get(ctx, id)
	if errors.Is(err, prepaid.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Mistake: type assertion.

func (s *Service) HTTPStatus(ctx context.Context, o Order) int {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if api, ok := err.(*prepaid.APIError); ok { // want: outcome
		return api.StatusCode
	}
	if err != nil {
		s.log.ErrorContext(ctx, "transfer", "err", err)
		return http.StatusBadGateway
	}
	return http.StatusOK
}

// The right form.

func (s *Service) HTTPStatusRight(ctx context.Context, o Order) int {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if api, ok := errors.AsType[*prepaid.APIError](err); ok {
		s.log.ErrorContext(ctx, "transfer", "err", err)
		return api.StatusCode
	}
	if call, ok := err.(*prepaid.CallError); ok {
		s.log.ErrorContext(ctx, "transfer", "err", call)
		return http.StatusBadGateway
	}
	return http.StatusOK
}

// Mistake: %v.

func (s *Service) Wrapped(ctx context.Context, o Order) error {
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil {
		return fmt.Errorf("order %s: %v", o.ID, err) // want: outcome
	}
	return nil
}

// The right form.

func (s *Service) WrappedRight(ctx context.Context, o Order) error {
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil {
		return fmt.Errorf("order %s: %w", o.ID, err)
	}
	return nil
}

// Mistake: loaded but not set.

func (s *Service) Resume(ctx context.Context, id string) error {
	var o Order
	var params prepaid.TransferParams
	row := s.db.QueryRowContext(ctx, `SELECT request_id, amount, account, last_sent FROM orders WHERE id = $1 AND state = 'unknown'`, id)
	if err := row.Scan(&params.RequestID, &params.Amount, &params.DestinationAccountID, &o.LastSent); err != nil {
		return err
	}
	params.SourceReference, params.DestinationReference = "order", "order"
	_, err := s.client.Accounts.Transfer(ctx, s.float, params) // want: outcome
	if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		_, err = s.db.ExecContext(ctx, `UPDATE orders SET state = 'refused' WHERE id = $1`, id)
	}
	return err
}

// The right form.

func (s *Service) ResumeRight(ctx context.Context, id string) error {
	var params prepaid.TransferParams
	row := s.db.QueryRowContext(ctx, `SELECT request_id, amount, account, last_sent FROM orders WHERE id = $1 AND state = 'unknown'`, id)
	if err := row.Scan(&params.RequestID, &params.Amount, &params.DestinationAccountID, &params.LastSent); err != nil {
		return err
	}
	params.SourceReference, params.DestinationReference = "order", "order"
	_, err := s.client.Accounts.Transfer(ctx, s.float, params)
	if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		_, err = s.db.ExecContext(ctx, `UPDATE orders SET state = 'refused' WHERE id = $1`, id)
	}
	return err
}

// Mistake: the time of the database instead of the call.

func (s *Service) MarkUnknown(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown {
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'unknown' WHERE id = $1`, o.ID) // want: outcome
		return dbErr
	}
	return err
}

// The right form.

func (s *Service) MarkUnknownRight(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if call, ok := errors.AsType[*prepaid.CallError](err); ok && call.Outcome == prepaid.OutcomeUnknown {
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'unknown', last_sent = $2 WHERE id = $1`, o.ID, call.LastSent)
		return dbErr
	}
	return err
}

func (s *Service) inTx(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Mistake: a deferred compensation.

func (s *Service) Deferred(ctx context.Context, o Order) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.creditCustomer(ctx, o)) // want: outcome
		}
	}()
	_, err = s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	return err
}

// The right form.

func (s *Service) DeferredRight(ctx context.Context, o Order) (err error) {
	defer func() {
		if err != nil && prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
			err = errors.Join(err, s.creditCustomer(ctx, o))
		}
	}()
	_, err = s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	return err
}
