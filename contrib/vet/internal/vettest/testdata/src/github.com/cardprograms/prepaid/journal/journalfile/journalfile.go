// Package journalfile is the public API of the SDK's package as far as the rules need it, without bodies.
package journalfile

import (
	"context"
	"iter"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

type (
	Options struct{ DigestKey prepaid.Secret }
	Journal struct{ _ int }
)

func Open(string, Options) (*Journal, error) { return nil, nil }

func (*Journal) Transfer(context.Context, journal.Sender, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return nil, nil
}

func (*Journal) DirectEntryOut(context.Context, journal.Sender, prepaid.AccountID, prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	return nil, nil
}
func (*Journal) Close() error                                        { return nil }
func (*Journal) Resolve(prepaid.RequestID, journal.Resolution) error { return nil }
func (*Journal) Retry(prepaid.RequestID) error                       { return nil }
func (*Journal) Withdraw(prepaid.RequestID) error                    { return nil }
func (*Journal) Resume(context.Context, journal.Sender, int) iter.Seq2[journal.Entry, error] {
	return nil
}
func (*Journal) All() iter.Seq[journal.Entry] { return nil }
