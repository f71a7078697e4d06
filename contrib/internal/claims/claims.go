// Package claims is the part of a shared [webhook.ClaimStore] that does not depend on the server that keeps the claims. The
// modules below contrib use it, each with its own server.
package claims

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/webhook"
)

// Store is a [webhook.ClaimStore]. Its functions get the ID and the claim's token. The token is the fence: if the ID
// has another token or none, Done and Release change nothing.
type Store struct {
	webhook.ClaimOptions

	// Take claims an ID for a lease, and returns a [webhook.ClaimState]. Repeating Take with the same token has no effect.
	Take Command
	// Done keeps a handled ID for the time life; Release frees it (life is 0). They return 1 if the ID had this token, else 0.
	Done, Release Command
}

var errTimeout = errors.New("prepaid: the store of claims did not respond within Timeout")

// Command is a command to the server.
type Command func(ctx context.Context, id, token string, life time.Duration) (int64, error)

// New returns a Store with defaults applied. The error is a *[prepaid.ValidationError] with the given faults and those of s.
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
	state, err := c.call(ctx, s.Take, lease)
	if err != nil {
		return nil, err
	}
	c.state = webhook.ClaimState(state) //nolint:gosec // 1 to 3
	return c, nil
}

type claim struct {
	store     *Store
	id, token string
	state     webhook.ClaimState
	settled   atomic.Bool
}

// call runs a command within Timeout. If ctx has ended, call returns the error of ctx, not the client library's.
func (c *claim) call(ctx context.Context, command Command, life time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, c.store.Timeout, errTimeout)
	defer cancel()
	n, err := command(bounded, c.id, c.token, life)
	if err != nil {
		err = cmp.Or(ctx.Err(), pause.Cause(bounded, err))
	}
	return n, err
}

func (c *claim) State() webhook.ClaimState { return c.state }

func (c *claim) Done(ctx context.Context) error { return c.settle(ctx, c.store.Done, c.store.Keep) }

func (c *claim) Release(ctx context.Context) error { return c.settle(ctx, c.store.Release, 0) }

// settle ends the claim. It can be called again after an error of the server, even if the command has taken effect.
func (c *claim) settle(ctx context.Context, command Command, keep time.Duration) error {
	if c.state != webhook.ClaimWon || !c.settled.CompareAndSwap(false, true) {
		return webhook.ErrClaimLost
	}
	held, err := c.call(ctx, command, keep)
	c.settled.Store(err == nil)
	if err == nil && held == 0 {
		return webhook.ErrClaimLost
	}
	return err
}
