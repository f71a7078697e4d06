// Package engines makes payments in jobs of River or Temporal, for a partner that already runs one of them. The guide
// is docs/engines.md.
package engines

import (
	"context"
	"errors"
	"time"

	"github.com/cardprograms/prepaid"
)

// Payment has the arguments of a job. Make the request ID in Params with the order, before the job exists: then every
// run of every job for this order sends the same request ID.
type Payment struct {
	From   prepaid.AccountID      `json:"from"`
	Params prepaid.TransferParams `json:"params"`
}

// Pay makes a payment once, however often and wherever Pay is run. sent is the last time at which an earlier run may
// have sent the payment; zero without an earlier run. If Pay fails, again reports whether another run can help.
func Pay(ctx context.Context, accounts *prepaid.AccountsService, p Payment, sent time.Time) (again bool, err error) {
	p.Params.LastSent = sent
	_, err = accounts.Transfer(ctx, p.From, p.Params)
	if errors.Is(err, prepaid.ErrRequestIDReused) || errors.Is(err, prepaid.ErrRequestIDExpired) {
		return false, err // for review: the money may have moved
	}
	outcome := prepaid.OutcomeOf(err)
	return outcome == prepaid.OutcomeNotProcessed || outcome == prepaid.OutcomeUnknown, err
}
