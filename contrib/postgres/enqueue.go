package prepaidpg

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/journal"
)

// newEntry checks a payment as the client would before sending, and seals it. An error leaves the request ID in it.
func (s *Store) newEntry(account prepaid.AccountID, params prepaid.PaymentParams, now time.Time) (journal.Entry, error) {
	e, err := journal.NewEntry(s.options.DigestKey, account, params)
	if err == nil {
		err = validate(account, params)
	}
	if err == nil && e.RequestID.Expired(now) {
		err = prepaid.ErrRequestIDExpired
	}
	if err != nil {
		return e, err
	}
	e.Sealed, err = e.Seal(s.options.Seal, params)
	return e, err
}

// validate lists the faults of account and params.
func validate(account prepaid.AccountID, params prepaid.PaymentParams) error {
	var f faults.List
	bad := func(r rune) bool { return r == '/' || r == '\\' || r == '%' || r < ' ' || r == 0x7f }
	f.Require(account != "" && account != "." && account != ".." && !strings.ContainsFunc(string(account), bad), "id",
		`is required, and must not be "." or ".." or contain a slash, a percent sign or a control character`)
	if invalid, ok := errors.AsType[*prepaid.ValidationError](params.Validate()); ok {
		f = append(f, invalid.Faults...)
	}
	return f.Err()
}

// Enqueue adds a payment to tx, the caller's own transaction: if it is committed, the payment will be sent once by the
// workers of any [Store.Run]; if it is rolled back, nothing was requested. params are a [prepaid.TransferParams] or a
// [prepaid.DirectEntryOutParams], as values, and are encrypted with Options.Seal.
//
// The same payment again has no effect, whatever its state: one that was rejected is due again only after [Store.Retry]. If
// another transaction adds a payment under the same request ID at the same moment, Enqueue waits for its end. LastSent
// of params is for a payment that was sent without the store, with unknown outcome: it is stored as unknown.
//
// Errors, none of which affects tx: a [*prepaid.ValidationError] of account or params; [prepaid.ErrRequestIDExpired] if the
// request ID carries a day more than 22 days ago or 7 days ahead, which the client would not send (also if the payment is
// known); [*journal.ChangedError] if the request ID is known with another account or other params. Then do not pay under a
// new request ID: a person must decide. After an error of the database, tx is rolled back, as usual.
func (s *Store) Enqueue(ctx context.Context, tx pgx.Tx, account prepaid.AccountID, params prepaid.PaymentParams) error {
	e, err := s.newEntry(account, params, time.Now())
	if err == nil {
		_, known := s.insert(ctx, tx, []journal.Entry{e}, func(_ int, refused error) { err = refused })
		err = cmp.Or(err, known)
	}
	return failure("enqueue", err)
}
