// Package journal is the public API of the SDK's package as far as the rules need it, without bodies.
package journal

import (
	"context"
	"time"

	"github.com/cardprograms/prepaid"
)

type Sender interface {
	Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error)
	DirectEntryOut(context.Context, prepaid.AccountID, prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error)
	NotBefore(time.Time) time.Time
}

type (
	Resolution struct{ _ int }
	Entry      struct {
		RequestID prepaid.RequestID
		Amount    prepaid.Amount
		Runs      int
	}
	Run          struct{ Entry Entry }
	ChangedError struct{ Entry Entry }
)

func (*ChangedError) Error() string { return "" }

var ErrWindow, ErrChanged error

func Moved(prepaid.TransactionID) Resolution { return Resolution{} }
func NotMoved() Resolution                   { return Resolution{} }
func NewEntry(prepaid.Secret, prepaid.AccountID, prepaid.PaymentParams) (Entry, error) {
	return Entry{}, nil
}

func (Entry) Begin(time.Time, time.Time) (Run, error)                    { return Run{}, nil }
func (Entry) NeedsPerson(time.Time) error                                { return nil }
func (Run) End(time.Time, *prepaid.TransferResult, error) (Entry, error) { return Entry{}, nil }
func (Run) Send(context.Context, Sender, prepaid.PaymentParams) (*prepaid.TransferResult, error) {
	return nil, nil
}
