// Package claims is the part of a shared [webhook.ClaimStore] that does not depend on the server that keeps the claims. The
// modules below contrib use it, each with its own server.
package claims

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/webhook"
)

// Store is a [webhook.ClaimStore]. Its functions get the ID, and the token of the claim, which is the fence: a claim changes
// nothing if the ID has another token, or none.
type Store struct {
	// Keep is how long a handled ID is remembered: by default 24 h, at least 1 ms.
	Keep time.Duration
	// Timeout bounds one call, within its context: 2 s by default.
	Timeout time.Duration
	// Take claims an ID. Its repetition with the same token has no other effect.
	Take func(ctx context.Context, id, token string, lease time.Duration) (webhook.ClaimState, error)
	// Settle marks an ID as handled for keep or, if keep is 0, releases it. It reports whether token had the ID.
	Settle func(ctx context.Context, id, token string, keep time.Duration) (bool, error)
}

// New returns a Store with defaults applied. Faults, after those given, are returned as a *[prepaid.ValidationError].
func New(s Store, given faults.List) (*Store, error) {
	s.Keep, s.Timeout = cmp.Or(s.Keep, 24*time.Hour), cmp.Or(s.Timeout, 2*time.Second)
	given.Require(s.Keep >= time.Millisecond, "keep", "must be at least 1 ms")
	given.Require(s.Timeout > 0, "timeout", "must not be negative")
	return &s, given.Err()
}

// CheckID returns the faults of a message ID.
func CheckID(id string) (f faults.List) {
	f.Require(id != "", "message_id", "is required")
	f.RequireKey("message_id", id)
	return f
}

// Claim implements webhook.ClaimStore.
func (s *Store) Claim(ctx context.Context, messageID string, lease time.Duration) (webhook.Claim, error) {
	f := CheckID(messageID)
	f.Require(lease >= time.Millisecond, "lease", "must be at least 1 ms")
	if err := f.Err(); err != nil {
		return nil, err
	}
	c := &claim{store: s, id: messageID, token: rand.Text()}
	err := s.call(ctx, func(ctx context.Context) (err error) {
		c.state, err = s.Take(ctx, c.id, c.token, lease)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// call bounds f. The context's error takes precedence over the one that the server's client makes of it.
func (s *Store) call(ctx context.Context, f func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	if err := f(bounded); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// claim is one claim.
type claim struct {
	store     *Store
	id, token string
	state     webhook.ClaimState
	settled   atomic.Bool
}

// State implements webhook.Claim.
func (c *claim) State() webhook.ClaimState { return c.state }

// Done implements webhook.Claim.
func (c *claim) Done(ctx context.Context) error { return c.settle(ctx, c.store.Keep) }

// Release implements webhook.Claim.
func (c *claim) Release(ctx context.Context) error { return c.settle(ctx, 0) }

// settle may be retried after an error of the server, when it is unknown whether it took effect.
func (c *claim) settle(ctx context.Context, keep time.Duration) error {
	if c.state != webhook.ClaimWon || !c.settled.CompareAndSwap(false, true) {
		return webhook.ErrClaimLost
	}
	held := false
	err := c.store.call(ctx, func(ctx context.Context) (err error) {
		held, err = c.store.Settle(ctx, c.id, c.token, keep)
		return err
	})
	c.settled.Store(err == nil)
	if err == nil && !held {
		return webhook.ErrClaimLost
	}
	return err
}
