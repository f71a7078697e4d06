package prepaidredis

import (
	"cmp"
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid/contrib/internal/claims"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/webhook"
)

// NewClaims returns a store of claims that replicas share, with keys that start with prefix ("prepaid:claim:" if empty). Faults
// of the arguments are returned as a *[github.com/cardprograms/prepaid.ValidationError].
//
// Each ID is one key that expires after its lease or, if handled, after Keep. A claim writes its own token into the
// key, and only the holder of that token can end the claim: a caller that overran the lease gets [webhook.ErrClaimLost] and
// changes nothing. An ID is 1 to 128 printable ASCII characters without white space, and a lease is at least 1 ms long.
//
// If go-redis repeats a command, the effect is that of one command. If Redis loses IDs, in a failover or for lack of
// memory, their messages may be handled again: set noeviction and suitable persistence.
func NewClaims(client redis.UniversalClient, prefix string, options webhook.ClaimOptions) (webhook.ClaimStore, error) {
	prefix = cmp.Or(prefix, "prepaid:claim:")
	var f faults.List
	checkClient(&f, client)
	f.RequireKey("prefix", prefix)
	command := func(text string) claims.Command {
		script := redis.NewScript(text)
		return func(ctx context.Context, id, token string, life time.Duration) (int64, error) {
			return script.Run(ctx, client, []string{prefix + id}, token, life.Milliseconds()).Int64()
		}
	}
	store, err := claims.New(claims.Store{
		ClaimOptions: options, Take: command(claimScript), Done: command(settleScript), Release: command(settleScript),
	}, f)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// The value of a leased ID is "l" and the holder's token. The value of a handled ID is "d" and the token of the caller that handled it.
const (
	// claimScript returns a [webhook.ClaimState]. A caller that finds its own token has won: the first response was lost.
	claimScript = `
local held = redis.call('GET', KEYS[1])
if not held then
	redis.call('SET', KEYS[1], 'l' .. ARGV[1], 'PX', ARGV[2])
	return 1
end
if held == 'l' .. ARGV[1] then return 1 end
if string.sub(held, 1, 1) == 'd' then return 3 end
return 2`

	// settleScript releases the ID if life is 0.
	settleScript = `
local held = redis.call('GET', KEYS[1])
if ARGV[2] == '0' then return held == 'l' .. ARGV[1] and redis.call('DEL', KEYS[1]) or 0 end
if held == 'l' .. ARGV[1] then
	redis.call('SET', KEYS[1], 'd' .. ARGV[1], 'PX', ARGV[2])
	return 1
end
return held == 'd' .. ARGV[1] and 1 or 0`
)
