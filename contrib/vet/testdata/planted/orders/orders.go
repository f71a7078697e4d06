// Package orders is a payments service over SQL.
package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

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

// Mistake: status code decides.
func (s *Service) ByStatus(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if response, ok := errors.AsType[*prepaid.APIError](err); ok && response.StatusCode >= 400 && response.StatusCode < 500 {
		_, dbErr := s.db.ExecContext(ctx, `UPDATE orders SET state = 'failed' WHERE id = $1`, o.ID) // want: outcome
		return dbErr
	}
	return err
}

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
	params := tip(o, prepaid.NewRequestID()) // want: requestid
	result, err := s.client.Accounts.Transfer(ctx, s.float, params)
	if err != nil {
		return fmt.Errorf("pay order %s: %w", o.ID, err)
	}
	_, err = s.db.ExecContext(ctx, `UPDATE orders SET request_id = $1, transaction_id = $2 WHERE id = $3`, string(params.RequestID), string(result.TransactionID), o.ID)
	return err
}

func tip(o Order, id prepaid.RequestID) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.Account}
}

func (s *Service) StoreBefore(ctx context.Context, o Order) error {
	params := tip(o, prepaid.NewRequestID())
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

// Mistake: %v.
func (s *Service) Wrapped(ctx context.Context, o Order) error {
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil {
		return fmt.Errorf("order %s: %v", o.ID, err) // want: outcome
	}
	return nil
}

func (s *Service) WrappedRight(ctx context.Context, o Order) error {
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil {
		return fmt.Errorf("order %s: %w", o.ID, err)
	}
	return nil
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

// Mistake: payment between Begin and Commit.
func (s *Service) PayInside(ctx context.Context, o Order) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `INSERT INTO payments (id) VALUES ($1)`, o.ID); err != nil {
		return err
	}
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil { // want: outcome
		return err
	}
	return tx.Commit()
}

func (s *Service) PayAfterwards(ctx context.Context, o Order) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO payments (id) VALUES ($1)`, o.ID); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	return err
}

// Mistake: only the text.
func (s *Service) Text(ctx context.Context, o Order) error {
	if _, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o)); err != nil {
		return errors.New("order " + o.ID + ": " + err.Error()) // want: outcome
	}
	return nil
}

func (s *Service) TextRight(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
		return errors.New("refused: " + err.Error())
	}
	return err
}

// Mistake: new id from a helper that stores it.
func (s *Service) renew(ctx context.Context, o Order) (prepaid.RequestID, error) {
	id := prepaid.NewRequestID()
	_, err := s.db.ExecContext(ctx, `UPDATE orders SET request_id = $1 WHERE id = $2`, string(id), o.ID)
	return id, err
}

func (s *Service) PayRenewed(ctx context.Context, o Order) error {
	_, err := s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	if errors.Is(err, prepaid.ErrRequestIDExpired) {
		if o.RequestID, err = s.renew(ctx, o); err == nil { // want: requestid
			_, err = s.client.Accounts.Transfer(ctx, s.float, s.params(o))
		}
	}
	return err
}

func (s *Service) PayRenewedRight(ctx context.Context, o Order) (err error) {
	if o.RequestID == "" {
		if o.RequestID, err = s.renew(ctx, o); err != nil {
			return err
		}
	}
	_, err = s.client.Accounts.Transfer(ctx, s.float, s.params(o))
	return err
}
