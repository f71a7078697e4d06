package prepaidredis

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid/webhook"
)

// ClaimsOptions sets up [NewClaims]. The zero value of each field is its stated default.
type ClaimsOptions struct {
	// Prefix begins every key, at most 128 printable ASCII characters: "prepaid:claim:" when empty.
	Prefix string
	// Keep is how long a handled id is remembered: 24 h when zero, at least 1 ms.
	Keep time.Duration
	// Timeout bounds one command, within the context of the call: 2 s when zero.
	Timeout time.Duration
}

// NewClaims returns a store of claims that replicas share. Faults of the options come as a *[prepaid.ValidationError].
//
// Each id is one key that expires, after its lease or, once handled, after Keep. A claim writes a token of its own
// into the key, and only the holder of that token can settle it: who overran the lease gets [webhook.ErrClaimLost] and
// changes nothing. An id is 1 to 128 printable ASCII characters without white space, a lease at least 1 ms long.
//
// A command that go-redis repeats has the effect of one. What Redis itself forgets, by a failover or for want of memory,
// may be handled a second time: give it noeviction, and a persistence that fits.
func NewClaims(client redis.UniversalClient, options ClaimsOptions) (webhook.ClaimStore, error) {
	if options.Prefix == "" {
		options.Prefix = "prepaid:claim:"
	}
	orDuration(&options.Keep, 24*time.Hour)
	orDuration(&options.Timeout, 2*time.Second)
	var f faults
	f.checkClient(client)
	f.checkKey("prefix", options.Prefix)
	f.require(options.Keep >= time.Millisecond, "keep", "must be at least 1 ms")
	f.require(options.Timeout > 0, "timeout", "must not be negative")
	if err := f.err(); err != nil {
		return nil, err
	}
	return &claims{
		client: client, options: options,
		claim: redis.NewScript(claimScript), done: redis.NewScript(doneScript), release: redis.NewScript(releaseScript),
	}, nil
}

// A leased id holds "l" and the token of its holder, a handled one "d" and the token of who handled it.
const (
	// The first answer to a claim may have been lost: whoever finds its own token has won.
	claimScript = `
local held = redis.call('GET', KEYS[1])
if not held then
	redis.call('SET', KEYS[1], 'l' .. ARGV[1], 'PX', ARGV[2])
	return 1
end
if held == 'l' .. ARGV[1] then return 1 end
if string.sub(held, 1, 1) == 'd' then return 3 end
return 2`

	doneScript = `
local held = redis.call('GET', KEYS[1])
if held == 'l' .. ARGV[1] then
	redis.call('SET', KEYS[1], 'd' .. ARGV[1], 'PX', ARGV[2])
	return 1
end
if held == 'd' .. ARGV[1] then return 1 end
return 0`

	releaseScript = `
if redis.call('GET', KEYS[1]) ~= 'l' .. ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`
)

type claims struct {
	client               redis.UniversalClient
	options              ClaimsOptions
	claim, done, release *redis.Script
}

// Claim implements webhook.ClaimStore.
func (s *claims) Claim(ctx context.Context, messageID string, lease time.Duration) (webhook.Claim, error) {
	var f faults
	f.require(messageID != "", "message_id", "is required")
	f.checkKey("message_id", messageID)
	f.require(lease >= time.Millisecond, "lease", "must be at least 1 ms")
	if err := f.err(); err != nil {
		return nil, err
	}
	c := &claim{store: s, key: s.options.Prefix + messageID, token: rand.Text()}
	code, err := s.run(ctx, s.claim, c, lease)
	if err != nil {
		return nil, err
	}
	c.state = webhook.ClaimInFlight
	switch code {
	case 1:
		c.state = webhook.ClaimWon
	case 3:
		c.state = webhook.ClaimDone
	}
	return c, nil
}

// run returns the script's answer. The context's error goes before the one that Redis' client makes of it.
func (s *claims) run(ctx context.Context, script *redis.Script, c *claim, life time.Duration) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	bounded, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	code, err := script.Run(bounded, s.client, []string{c.key}, c.token, strconv.FormatInt(life.Milliseconds(), 10)).Int()
	if err != nil && ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return code, err
}

// claim is one claim. Its token is the fence: it changes nothing once another's, or none, stands in the key.
type claim struct {
	store      *claims
	key, token string
	state      webhook.ClaimState
	settled    atomic.Bool
}

// State implements webhook.Claim.
func (c *claim) State() webhook.ClaimState { return c.state }

// Done implements webhook.Claim.
func (c *claim) Done(ctx context.Context) error {
	return c.settle(ctx, c.store.done, c.store.options.Keep)
}

// Release implements webhook.Claim.
func (c *claim) Release(ctx context.Context) error { return c.settle(ctx, c.store.release, 0) }

// settle may be tried again after an error of Redis, when it is not known whether it took effect.
func (c *claim) settle(ctx context.Context, script *redis.Script, life time.Duration) error {
	if c.state != webhook.ClaimWon || !c.settled.CompareAndSwap(false, true) {
		return webhook.ErrClaimLost
	}
	code, err := c.store.run(ctx, script, c, life)
	if err != nil {
		c.settled.Store(false)
		return err
	}
	if code != 1 {
		return webhook.ErrClaimLost
	}
	return nil
}
