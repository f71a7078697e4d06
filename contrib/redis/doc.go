// Package prepaidredis shares two things among the replicas of a program: the service's rate limit, which counts by
// address ([NewLimiter]), and claims on webhook messages ([NewClaims]). The state is in Redis 5 or later: one server,
// sentinels or a cluster, using github.com/redis/go-redis/v9.
//
// The Redis client needs ContextTimeoutEnabled: without it, go-redis still waits after a context has ended, and both
// constructors refuse the client. The constructors neither close nor modify the client.
//
// The Redis user needs EVALSHA, EVAL, HGETALL, HSET, HDEL, PEXPIRE, TIME, GET, SET and DEL on the keys with the
// configured prefixes. The limiter also needs INFO, whose run_id changes with a restart or a failover: without INFO it gets no slots from
// Redis, and its Status has the error. ACL users with -@dangerous need +info.
package prepaidredis
