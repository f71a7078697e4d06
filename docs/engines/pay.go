// Package engines pays in jobs of an engine that a partner already runs, River or Temporal. The guide is
// docs/engines.md.
package engines

import (
	"context"
	"errors"
	"time"

	"github.com/cardprograms/prepaid"
)

// Payment is the arguments of a job. The request ID in Params is made with the order, before there is a job, so that
// every run of every job for this order sends the same request ID.
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
