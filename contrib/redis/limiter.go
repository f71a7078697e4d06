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
// The allowance is a number of slots. A slot rests for one window after the response headers arrived, and at most one
// replica owns it at a time. So all replicas together never exceed the allowance, in any fixed or sliding window of the
// service. Slots that a replica does not need go back to Redis, where a script grants them: money before calls before
// bulk, in equal parts among replicas that together need more than there is. The script recalls slots from replicas
// that own more. Replicas reuse their slots without asking. They ask Redis in the background, 100 times per window
// while there is traffic and four times per lease when there is none, and at once if that could help a waiting call.
//
// While slots are scarce, each replica spaces calls and bulk evenly, so that slots return evenly and a payment waits
// only for the next slot, of its own replica or of another. A replica with very few slots may need up to a Window to
// get some for its payments. Calls cannot get the last 0.4 % of the slots, and bulk cannot get the last 2 %: Redis
// keeps them for replicas whose payments have no slot.
//
// If Redis is unreachable, a replica continues with the slots it owns. After its Lease it uses at most its equal share
// of the allowance. About one Window later, when every other replica does the same, it can use all of that share. In
// three cases Redis grants nothing for a Lease and a Window, in which all replicas report: after a restart or a loss of
// data; while Redis has been up for less than that time; after a Lease (up to an hour) without any report, unless all
// replicas had closed their limiters. Unreported replicas may have used slots. So close the limiter: otherwise the next
// start waits. If a single replica is cut off for longer, it keeps its share, which the others may also get: a 429 is
// then possible. A replica that starts without Redis does not know which slots were used before.
//
// A 429 immediately pauses the replica that received it; the others pause at their next exchange. From then on requests are spaced
// evenly. See [github.com/cardprograms/prepaid.Config] for the length of the pause, and [ratelimit.Limiter] for the errors of Acquire.
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
