// Package stored makes IDs that are not stored, are taken from what is, or are used twice.
package stored

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

type order struct {
	ID     string
	From   prepaid.AccountID
	Params prepaid.TransferParams
	Time   time.Time
}

type store interface {
	Save(ctx context.Context, order string, id prepaid.RequestID) error
	Paid(ctx context.Context, order string) (bool, error)
}

type service struct {
	client *prepaid.Client
	store  store
	newID  func() prepaid.RequestID
	clock  interface{ Now() time.Time }
}

func (s *service) after(ctx context.Context, o order) error {
	o.Params.RequestID = prepaid.NewRequestID() // want `the request ID is not stored before Accounts.Transfer sends it`
	if _, err := s.client.Accounts.Transfer(ctx, o.From, o.Params); err != nil {
		return err
	}
	return s.store.Save(ctx, o.ID, o.Params.RequestID)
}

func (s *service) before(ctx context.Context, o order) error {
	o.Params.RequestID = prepaid.NewRequestID()
	if err := s.store.Save(ctx, o.ID, o.Params.RequestID); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, o.From, o.Params)
	return err
}

// After an error that says that the old ID was used.
func (s *service) expired(ctx context.Context, o order) error {
	_, err := s.client.Accounts.Transfer(ctx, o.From, o.Params)
	if errors.Is(err, prepaid.ErrRequestIDExpired) {
		o.Params.RequestID = prepaid.NewRequestID() // want `a new request ID after ErrRequestIDExpired: the payment recorded under the old one may have been made`
		_, err = s.client.Accounts.Transfer(ctx, o.From, o.Params)
	}
	return err
}

func (s *service) changed(ctx context.Context, j *journalfile.Journal, o order) error {
	_, err := j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	if _, ok := errors.AsType[*journal.ChangedError](err); ok {
		o.Params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(o.Time), o.ID, "2") // want `a new request ID after ErrChanged`
		_, err = j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	}
	return err
}

func (s *service) changedAs(ctx context.Context, j *journalfile.Journal, o order) error {
	_, err := j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	var changed *journal.ChangedError
	if errors.As(err, &changed) {
		o.Params.RequestID = s.newID() // want `a new request ID after ErrChanged`
		_, err = j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	}
	return err
}

func (s *service) neverRun(ctx context.Context, j *journalfile.Journal, o order, entry journal.Entry) error {
	_, err := j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	if errors.Is(err, journal.ErrWindow) {
		if entry.Runs > 0 {
			return err
		}
		o.Params.RequestID = prepaid.NewRequestID()
		_, err = j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	}
	return err
}

func (s *service) resolved(ctx context.Context, j *journalfile.Journal, o order) error {
	_, err := j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	if errors.Is(err, journal.ErrWindow) {
		if err := j.Resolve(o.Params.RequestID, journal.NotMoved()); err != nil {
			return err
		}
		o.Params.RequestID = prepaid.NewRequestID()
		_, err = j.Transfer(ctx, s.client.Accounts, o.From, o.Params)
	}
	return err
}

// One ID for several payments.
func (s *service) all(ctx context.Context, params prepaid.TransferParams, amounts []prepaid.Amount, to map[prepaid.AccountID]bool, more <-chan prepaid.Amount) error {
	for _, amount := range amounts {
		params.Amount = amount
		if _, err := s.client.Accounts.Transfer(ctx, "float", params); err != nil { // want `two payments have the same request ID: the second one is not made`
			return err
		}
	}
	for account := range to {
		params.DestinationAccountID = account
		if _, err := s.client.Accounts.Transfer(ctx, "float", params); err != nil { // want `two payments have the same request ID`
			return err
		}
	}
	for amount := range more {
		params.Amount = amount
		if _, err := s.client.Accounts.Transfer(ctx, "float", params); err != nil { // want `two payments have the same request ID`
			return err
		}
	}
	return nil
}

func (s *service) fee(ctx context.Context, id prepaid.RequestID, amount, fee prepaid.Amount) error {
	if _, err := s.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{RequestID: id, Amount: amount}); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{RequestID: id, Amount: fee}) // want `two payments have the same request ID`
	return err
}

func (s *service) operations(ctx context.Context, id prepaid.RequestID, amount prepaid.Amount) error {
	if _, err := s.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{RequestID: id, Amount: amount}); err != nil {
		return err
	}
	_, err := s.client.Accounts.DirectEntryOut(ctx, "float", prepaid.DirectEntryOutParams{RequestID: id, Amount: amount}) // want `two payments have the same request ID`
	return err
}

func (s *service) each(ctx context.Context, day prepaid.Date, amounts map[prepaid.AccountID]prepaid.Amount) error {
	for account, amount := range amounts {
		params := prepaid.TransferParams{RequestID: prepaid.DeriveRequestID(day, string(account)), Amount: amount, DestinationAccountID: account}
		if _, err := s.client.Accounts.Transfer(ctx, "float", params); err != nil {
			return err
		}
	}
	return nil
}

// The ID is in a message, a row, or params that a function makes.
func (s *service) message(ctx context.Context, queued <-chan order, orders map[string]order) error {
	for range 3 {
		_, err := s.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{RequestID: (<-queued).Params.RequestID})
		if err == nil {
			return nil
		}
	}
	_, err := s.client.Accounts.Transfer(ctx, "float", prepaid.TransferParams{RequestID: orders["first"].Params.RequestID})
	return err
}

func params(o order, id prepaid.RequestID) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: id, Amount: o.Params.Amount}
}

func (s *service) built(ctx context.Context, o order) (err error) {
	for range 3 {
		p := params(o, s.newID()) // want `sent again under a new request ID`
		if _, err = s.client.Accounts.Transfer(ctx, o.From, p); err == nil {
			return nil
		}
	}
	return err
}

// The month, or another day than today.
func (s *service) monthly(ctx context.Context, o order) error {
	o.Params.RequestID = prepaid.RequestID("rent-" + time.Now().Format("2006-01") + "-" + o.ID)
	_, err := s.client.Accounts.Transfer(ctx, o.From, o.Params)
	return err
}

func (s *service) heartbeat(ctx context.Context, o order) error {
	o.Params.RequestID = prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), "heartbeat")
	_, err := s.client.Accounts.Transfer(ctx, o.From, o.Params)
	return err
}

func (s *service) clocked(ctx context.Context, o order) error {
	o.Params.RequestID = prepaid.RequestID(o.ID + s.clock.Now().Format(time.RFC3339)) // want `request ID made from the time \(a clock\)`
	_, err := s.client.Accounts.Transfer(ctx, o.From, o.Params)
	return err
}

// A text that is the key of an order.
func (s *service) keyed(ctx context.Context, o order, open map[string]order, keys chan<- string) error {
	key, other := uuid.NewString(), uuid.NewString()
	open[key] = o
	keys <- other
	if _, err := s.client.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: prepaid.RequestID(key)}); err != nil {
		return err
	}
	_, err := s.client.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: prepaid.RequestID(other)})
	return err
}

// What decides about the next try.
func (s *service) paid(ctx context.Context, o order) bool {
	paid, err := s.store.Paid(ctx, o.ID)
	return paid || err != nil
}

func (s *service) asks(ctx context.Context, o order) (err error) {
	for range 3 {
		if s.paid(ctx, o) {
			return nil
		}
		o.Params.RequestID = prepaid.NewRequestID()
		if _, err = s.client.Accounts.Transfer(ctx, o.From, o.Params); err == nil {
			return nil
		}
	}
	return err
}

func (s *service) named(ctx context.Context, o order) error {
	for {
		o.Params.RequestID = prepaid.NewRequestID()
		_, err := s.client.Accounts.Transfer(ctx, o.From, o.Params)
		if prepaid.OutcomeOf(err).String() != "rejected" {
			return err
		}
	}
}
