// Package prepaidredis lets replicas of a program share what they must share: the service's rate limit, which counts
// by address ([NewLimiter]), and the webhook messages that were handled ([NewClaims]). Both keep their state in Redis 5
// or later, alone, behind a sentinel or in a cluster, by way of github.com/redis/go-redis/v9.
//
// The client that is passed in needs ContextTimeoutEnabled: without it go-redis does not end its waits with a
// context, and both constructors refuse it. They neither close it nor change it.
//
// The user that it signs in with needs EVALSHA, EVAL, HGETALL, HSET, HDEL, PEXPIRE, TIME, GET, SET and DEL on the keys
// that begin with the prefixes given. INFO is of use to the limiter; without it a fresh start waits longer.
package prepaidredis
