// Package journal is the public API of the SDK's package as far as the rules need it, without bodies.
package journal

import (
	"context"
	"iter"
	"time"

	"github.com/cardprograms/prepaid"
)

type Sender interface {
	Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error)
	DirectEntryOut(context.Context, prepaid.AccountID, prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error)
	NotBefore(time.Time) time.Time
}

type (
	Options    struct{ DigestKey prepaid.Secret }
	Journal    struct{ _ int }
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

func Open(string, Options) (*Journal, error) { return nil, nil }
func Moved(prepaid.TransactionID) Resolution { return Resolution{} }
func NotMoved() Resolution                   { return Resolution{} }
func NewEntry(prepaid.Secret, prepaid.AccountID, prepaid.PaymentParams) (Entry, error) {
	return Entry{}, nil
}

func (*Journal) Transfer(context.Context, Sender, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return nil, nil
}

func (*Journal) DirectEntryOut(context.Context, Sender, prepaid.AccountID, prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	return nil, nil
}
func (*Journal) Close() error                                                { return nil }
func (*Journal) Resolve(prepaid.RequestID, Resolution) error                 { return nil }
func (*Journal) Retry(prepaid.RequestID) error                               { return nil }
func (*Journal) Withdraw(prepaid.RequestID) error                            { return nil }
func (*Journal) Resume(context.Context, Sender, int) iter.Seq2[Entry, error] { return nil }
func (*Journal) All() iter.Seq[Entry]                                        { return nil }
func (Entry) Begin(time.Time, time.Time) (Run, error)                        { return Run{}, nil }
func (Entry) NeedsPerson(time.Time) error                                    { return nil }
func (Run) End(time.Time, *prepaid.TransferResult, error) (Entry, error)     { return Entry{}, nil }
func (Run) Send(context.Context, Sender, prepaid.PaymentParams) (*prepaid.TransferResult, error) {
	return nil, nil
}
