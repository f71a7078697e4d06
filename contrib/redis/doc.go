// Package prepaidredis lets the replicas of a program share the service's rate limit, which counts by address
// ([NewLimiter]), and the claims on webhook messages ([NewClaims]). Both keep their state in Redis 5 or later, alone,
// with sentinels or in a cluster, using github.com/redis/go-redis/v9.
//
// The Redis client needs ContextTimeoutEnabled: without it go-redis does not end its waits with a context, and both
// constructors refuse it. They neither close nor modify it.
//
// Its user needs EVALSHA, EVAL, HGETALL, HSET, HDEL, PEXPIRE, TIME, GET, SET and DEL on the keys with the configured
// prefixes. The limiter also uses INFO; without it a fresh start waits longer.
package prepaidredis
