package webhook

import (
	"context"
	"time"
)

// ClaimStore suppresses duplicates: the first caller that claims a message ID handles the message. Replicas share one
// store. It is safe for concurrent use, and its calls end with their context. It distinguishes successive holders of
// an ID: a holder whose lease has expired can no longer end a claim.
type ClaimStore interface {
	// Claim tries to take messageID for the duration of lease. A [Handler] passes an ID that identifies one message of
	// one hook: the hook's ID (% and / escaped as in a URL), a slash and the message's ID, or a hash of them. The ID
	// has 1 to 128 printable ASCII characters without white space. An error means that the store does not know which
	// caller holds the ID.
	Claim(ctx context.Context, messageID string, lease time.Duration) (Claim, error)
}

// Claim is the result of a claim and, if it was won, the lease on a message ID. Done and Release return
// [ErrClaimLost], and change nothing, if the lease has expired, or if the claim has ended or was never won.
type Claim interface {
	// State reports the state of the message when Claim was called.
	State() ClaimState
	// Done marks the ID as handled.
	Done(ctx context.Context) error
	// Release gives the ID back, so that other callers can claim it.
	Release(ctx context.Context) error
}

// ClaimOptions configures a [ClaimStore] that replicas share: NewClaims of contrib/redis or of contrib/postgres.
type ClaimOptions struct {
	// Keep is how long a handled ID is remembered: by default 24 h, at least 1 ms.
	Keep time.Duration
	// Timeout bounds one call of the store, within its context: 2 s by default.
	Timeout time.Duration
}

// ClaimState is the state of a message.
type ClaimState uint8

const (
	// ClaimWon: the caller holds the ID until the lease ends or Done or Release is called.
	ClaimWon ClaimState = iota + 1
	// ClaimInFlight: another caller is handling the message.
	ClaimInFlight
	// ClaimDone: the message has been handled.
	ClaimDone
)

// String returns the name of the state.
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

// MarshalText returns the words of String, for logs in JSON. It implements encoding.TextMarshaler.
func (s ClaimState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
