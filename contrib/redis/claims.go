package prepaidredis

import (
	"cmp"
	"context"
	"crypto/rand"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/webhook"
)

// ClaimsOptions configures [NewClaims].
type ClaimsOptions struct {
	// Prefix is the prefix of every key, at most 128 printable ASCII characters: "prepaid:claim:" by default.
	Prefix string
	// Keep is how long a handled ID is remembered: by default 24 h, at least 1 ms.
	Keep time.Duration
	// Timeout bounds one command, within the context of the call: 2 s by default.
	Timeout time.Duration
}

// NewClaims returns a store of claims that replicas share. Faults of the options are returned as a
// *[prepaid.ValidationError].
//
// Each ID is one key that expires, after its lease or, once handled, after Keep. A claim writes its own token into the
// key, and only the holder of that token can settle it: a caller that overran the lease gets [webhook.ErrClaimLost] and
// changes nothing. An ID is 1 to 128 printable ASCII characters without white space, a lease at least 1 ms long.
//
// A command that go-redis repeats has the effect of one. What Redis itself forgets, in a failover or for lack of memory,
// may be handled a second time: set noeviction, and a suitable persistence.
func NewClaims(client redis.UniversalClient, options ClaimsOptions) (webhook.ClaimStore, error) {
	options.Prefix = cmp.Or(options.Prefix, "prepaid:claim:")
	options.Keep = cmp.Or(options.Keep, 24*time.Hour)
	options.Timeout = cmp.Or(options.Timeout, 2*time.Second)
	var f faults.List
	checkClient(&f, client)
	f.RequireKey("prefix", options.Prefix)
	f.Require(options.Keep >= time.Millisecond, "keep", "must be at least 1 ms")
	f.Require(options.Timeout > 0, "timeout", "must not be negative")
	if err := f.Err(); err != nil {
		return nil, err
	}
	return &claims{
		client: client, options: options,
		claim: redis.NewScript(claimScript), done: redis.NewScript(doneScript), release: redis.NewScript(releaseScript),
	}, nil
}

// A leased ID has the value "l" and the token of its holder, a handled one "d" and the token of the caller that handled
// it.
const (
	// The first response to a claim may have been lost: a caller that finds its own token has won.
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
	var f faults.List
	f.Require(messageID != "", "message_id", "is required")
	f.RequireKey("message_id", messageID)
	f.Require(lease >= time.Millisecond, "lease", "must be at least 1 ms")
	if err := f.Err(); err != nil {
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

// run returns the script's result. The context's error takes precedence over the one that the Redis client makes of it.
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

// claim is one claim. Its token is the fence: it changes nothing if the key has another token, or none.
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

// settle may be retried after an error of Redis, when it is unknown whether it took effect.
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
