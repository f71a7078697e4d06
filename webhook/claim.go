package webhook

import (
	"context"
	"time"
)

// ClaimStore suppresses duplicates: whoever claims an id first handles it. Replicas share one store. It is safe for
// concurrent use, ends its calls with their context, and must tell two holders of one id apart: a lease that ran out
// cannot be settled by its old holder.
type ClaimStore interface {
	// Claim tries to take messageID for the length of lease. A [Handler] gives an id that belongs to one message of one
	// hook: the id of the hook, in which % and / are escaped as in an address, a slash and that of the message, or a sum of
	// them: 1 to 128 printable ASCII characters without white space. The error means that the store does not know who has
	// the id.
	Claim(ctx context.Context, messageID string, lease time.Duration) (Claim, error)
}

// Claim is the answer to a claim and, when it was won, the lease on a message id. Done and Release return
// [ErrClaimLost], and change nothing, when the lease ran out, the claim was settled before, or it was never won.
type Claim interface {
	// State says who has the message, as of the call of Claim.
	State() ClaimState
	// Done keeps the id as handled.
	Done(ctx context.Context) error
	// Release gives the id back, so that another can try.
	Release(ctx context.Context) error
}

// ClaimState says who has a message. The zero value is no state.
type ClaimState uint8

const (
	// ClaimWon: it is yours until the lease ends; settle it with Done or Release.
	ClaimWon ClaimState = iota + 1
	// ClaimInFlight: someone else is at it.
	ClaimInFlight
	// ClaimDone: it was handled before.
	ClaimDone
)

// String names the state.
func (s ClaimState) String() string {
	switch s {
	case ClaimWon:
		return "won"
	case ClaimInFlight:
		return "in flight"
	case ClaimDone:
		return "done"
	}
	return "invalid"
}
