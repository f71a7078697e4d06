// Package right has only right code, as people write it: each report is false.
package right

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/avast/retry-go/v4"
	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/transport"
)

type Service struct {
	client  *prepaid.Client
	log     *slog.Logger
	db      *sql.DB
	last    error
	lastErr atomic.Pointer[error]
	results map[string]*prepaid.FundingResult
	ids     map[string]prepaid.RequestID
}

type Order struct {
	ID     string
	Key    string
	To     prepaid.AccountID
	Amount prepaid.Amount
}

func (o Order) Params() prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: prepaid.RequestID(o.Key), Amount: o.Amount, DestinationAccountID: o.To}
}

type Result struct {
	ID  string
	Err error
}

func (s *Service) fail(ctx context.Context, op string, err error) {
	s.log.ErrorContext(ctx, op, "err", err)
}

func (s *Service) StructResult(ctx context.Context, os []Order) (rs []Result) {
	for _, o := range os {
		_, err := s.client.Accounts.Transfer(ctx, "EA1", o.Params())
		rs = append(rs, Result{o.ID, err})
	}
	return rs
}

func (s *Service) Field(ctx context.Context, o Order) bool {
	_, s.last = s.client.Accounts.Transfer(ctx, "EA1", o.Params())
	return s.last == nil
}

func (s *Service) Atomic(ctx context.Context, o Order) bool {
	_, err := s.client.Accounts.Transfer(ctx, "EA1", o.Params())
	if err != nil {
		s.lastErr.Store(&err)
		return false
	}
	return true
}

func (s *Service) Switch(ctx context.Context, o Order) string {
	_, err := s.client.Accounts.Transfer(ctx, "EA1", o.Params())
	switch {
	case err == nil:
		return "paid"
	case errors.Is(err, prepaid.ErrTransferFailed):
		return "no balance"
	case prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown:
		return "unknown"
	}
	return "refused"
}

func (s *Service) AsType(ctx context.Context, o Order) time.Time {
	_, err := s.client.Accounts.Transfer(ctx, "EA1", o.Params())
	if call, ok := errors.AsType[*prepaid.CallError](err); ok {
		return call.LastSent
	}
	return time.Time{}
}

func (s *Service) Insert(ctx context.Context, o Order) error {
	result, err := s.client.Accounts.Transfer(ctx, "EA1", o.Params())
	var id sql.NullString
	if result != nil {
		id = sql.NullString{String: string(result.TransactionID), Valid: true}
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	_, dbErr := s.db.ExecContext(ctx, "insert into results values ($1,$2,$3)", o.ID, id, text)
	return dbErr
}

func (s *Service) RetryUntilKnown(ctx context.Context, o Order) error {
	p := o.Params()
	for {
		_, err := s.client.Accounts.Transfer(ctx, "EA1", p)
		if prepaid.OutcomeOf(err) != prepaid.OutcomeUnknown {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(time.Minute):
		}
	}
}

func (s *Service) NewIDAfterRejected(ctx context.Context, o Order) (err error) {
	p := o.Params()
	for range 3 {
		_, err = s.client.Accounts.Transfer(ctx, "EA1", p)
		if prepaid.OutcomeOf(err) != prepaid.OutcomeRejected {
			return err
		}
		p.RequestID = prepaid.NewRequestID()
	}
	return err
}

func (s *Service) StoredUUID(ctx context.Context, o Order) error {
	o.Key = uuid.NewString()
	if _, err := s.db.ExecContext(ctx, "insert into orders values ($1,$2)", o.ID, o.Key); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, "EA1", o.Params())
	return err
}

func (s *Service) RowsLoop(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, "select id, dest, amount from orders")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o Order
		if err := rows.Scan(&o.ID, &o.To, &o.Amount); err != nil {
			return err
		}
		p := o.Params()
		p.RequestID = prepaid.NewRequestID()
		if _, err := s.client.Accounts.Transfer(ctx, "EA1", p); err != nil {
			log.Println(o.ID, err)
		}
	}
	return rows.Err()
}

func (s *Service) Two(ctx context.Context, o Order, fee prepaid.Amount) error {
	p := o.Params()
	p.RequestID = prepaid.NewRequestID()
	if _, err := s.client.Accounts.Transfer(ctx, "EA1", p); err != nil {
		return err
	}
	p.RequestID, p.Amount, p.DestinationAccountID = prepaid.NewRequestID(), fee, "EA9"
	_, err := s.client.Accounts.Transfer(ctx, "EA1", p)
	return err
}

func (s *Service) FundingMap(ctx context.Context, id string, p prepaid.RedeemFundingParams) (err error) {
	s.results[id], err = s.client.Funding.Redeem(ctx, p)
	return err
}

func (s *Service) FundingNamed(ctx context.Context, p prepaid.RedeemFundingParams) (res *prepaid.FundingResult, err error) {
	defer func() {
		if err == nil && !res.Approved() {
			err = errors.New("declined")
		}
	}()
	res, err = s.client.Funding.Redeem(ctx, p)
	return
}

func (s *Service) NotSent(ctx context.Context, p prepaid.RefundFundingParams) (res *prepaid.FundingResult, err error) {
	err = retry.Do(func() error {
		res, err = s.client.Funding.Refund(ctx, p)
		return err
	}, retry.RetryIf(transport.NotSent))
	return res, err
}

// The names of its functions say nothing: these store no order for a repeat.
func (s *Service) Names(ctx context.Context, p prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	res, err := s.client.Funding.Redeem(ctx, p)
	if err != nil {
		s.putAudit(ctx, p)
		return nil, errors.Join(err, s.pushFailure(p.CorrelationID), s.cancelLookups(ctx, p))
	}
	return res, s.commit(ctx)
}

func (s *Service) DB(ctx context.Context, o Order) error {
	_, err := backoff.Retry(ctx, func() (sql.Result, error) { return s.db.ExecContext(ctx, "update x") })
	if err != nil {
		return err
	}
	_, err = s.client.Accounts.Transfer(ctx, "EA1", o.Params())
	return err
}

func (s *Service) Joined(ctx context.Context, id prepaid.AccountID) (n int, all error) {
	for t, err := range s.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		if err == nil && t.Amount.Sign() > 0 {
			n++
		}
		all = errors.Join(all, err)
	}
	return n, all
}

func (s *Service) Yield(ctx context.Context, id prepaid.AccountID, yield func(*prepaid.Transaction, error) bool) {
	for t, err := range s.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(t, nil) {
			return
		}
	}
}

func (s *Service) Found(ctx context.Context, id prepaid.AccountID, want prepaid.TransactionID) (bool, error) {
	var failed error
	for t, err := range s.client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{}) {
		if failed = err; err != nil {
			break
		}
		if t.ID == want {
			return true, nil
		}
	}
	return false, failed
}

func (s *Service) JournalRun(ctx context.Context, j *journalfile.Journal, os []Order) error {
	sem := make(chan struct{}, 8)
	errs := make(chan error, len(os))
	for _, o := range os {
		sem <- struct{}{}
		go func() {
			defer func() { <-sem }()
			_, err := j.Transfer(ctx, s.client.Accounts, "EA1", o.Params())
			errs <- err
		}()
	}
	var all error
	for range os {
		all = errors.Join(all, <-errs)
	}
	return all
}

func (s *Service) putAudit(context.Context, prepaid.RedeemFundingParams)            {}
func (s *Service) pushFailure(string) error                                         { return nil }
func (s *Service) cancelLookups(context.Context, prepaid.RedeemFundingParams) error { return nil }
func (s *Service) commit(context.Context) error                                     { return nil }
