package prepaidredis

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/ratelimit"
)

// NewLimiter returns the limiter of one replica and starts its exchanges with Redis, which continue until Close. Faults of
// the options are returned as a *[github.com/cardprograms/prepaid.ValidationError]. NewLimiter does not wait for Redis.
//
// [ratelimit.Shared] describes the limiter. An exchange is one command: it runs a script that grants the slots. A replica exchanges
// 100 times per window with traffic, and four times per lease without. See [ratelimit.Limiter] for the errors of Acquire.
func NewLimiter(client redis.UniversalClient, options ratelimit.SharedOptions) (ratelimit.Shared, error) {
	options.Name = cmp.Or(options.Name, "prepaid:limit")
	var f faults.List
	checkClient(&f, client)
	limiter, err := fleet.New(newPool(client, options.Name), options, f...)
	if err != nil {
		return nil, err
	}
	return limiter, nil
}

// checkClient checks that client ends its calls with their context. It accepts a client of unknown type.
func checkClient(f *faults.List, client redis.UniversalClient) {
	ends := true
	switch c := client.(type) {
	case nil:
		f.Require(false, "client", "is required")
	case *redis.Client:
		ends = c != nil && c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		ends = c != nil && c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		ends = c != nil && c.Options().ContextTimeoutEnabled
	}
	f.Require(ends, "client", "must have ContextTimeoutEnabled")
}

//go:embed exchange.lua
var exchangeScript string

// pool is a limit in Redis. The script makes an exchange atomic.
type pool struct {
	client redis.UniversalClient
	script *redis.Script
	key    string
}

func newPool(client redis.UniversalClient, key string) *pool {
	return &pool{client: client, script: redis.NewScript(exchangeScript), key: key}
}

// Exchange implements fleet.Pool.
func (p *pool) Exchange(ctx context.Context, r fleet.Report) (fleet.Grant, error) {
	got, err := p.script.Run(ctx, p.client, []string{p.key}, arguments(r)...).Int64Slice()
	if err != nil {
		return fleet.Grant{}, err
	}
	return grantOf(got)
}

func arguments(r fleet.Report) []any {
	return []any{
		r.ID, r.Seq, r.Held, r.Need[0], r.Need[1], r.Need[2], r.Extra, r.Allowance, r.Replicas, r.Floor,
		r.Lease.Milliseconds(), r.Gone.Milliseconds(), r.Leaving.Milliseconds(), r.Pause.Milliseconds(), r.Known,
		r.Acked, r.Least.Milliseconds(), r.Most.Milliseconds(), r.Stepped,
	}
}

func grantOf(got []int64) (fleet.Grant, error) {
	if len(got) != 7 {
		return fleet.Grant{}, errors.New("the script's result has an unexpected form")
	}
	return fleet.Grant{
		Granted: int(got[0]), Give: int(got[1]), Allot: int(got[2]), Replicas: int(got[3]),
		Paused: time.Duration(got[4]) * time.Millisecond, Pauses: uint64(max(got[5], 0)),
		Opens: time.Duration(got[6]) * time.Millisecond,
	}, nil
}
