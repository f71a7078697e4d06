// Package ratelimit is the interface between a client and the limiter of its requests. You need it to write a limiter, or to
// choose the lane of a client; by default, a client has a limiter for one process on one address. The limiters in contrib/redis
// and contrib/postgres share the rate among processes.
//
// # The built-in limiter
//
// All slots are free at the start, so an idle client may send its whole allowance at once. A process that starts less than
// 10 s after another process on the same address ended does not know how many requests that process sent.
//
// A 429 pauses all lanes, including callers that already wait. The pause is the Retry-After of the 429 (at most
// RetryPolicy.MaxRetryAfter) or, without one, a random 2.5 to 10 s. After the first 429, requests are also spaced evenly in
// every lane, at 99.5 % of the allowance, for the rest of the client's life. This hardly changes the average rate. If the
// service also weighs neighbouring windows, another burst would only cause the next 429.
package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// Lane is the queue in which a request waits for the limiter. A lane is first in, first out; Money has priority over Call,
// and Call over Bulk. Treat any other value as Call. The zero value means unspecified; a client never passes it on.
//
// Call and Bulk may use the whole allowance, at once if the client was idle. As soon as one of their requests has to
// wait, all their requests are spaced evenly, at a rate that leaves room for Money, until no request has waited for a
// while. Slots then become free at an even rate. Money is not spaced: it gets a slot at once or waits for the next one, for
// about window / allowance (10 ms for the whole allowance, 200 ms for a share of 0.05). The exception is a burst: if
// reads of an idle client use the whole allowance, payments wait for the rest of the 10 s window.
//
// No lane starves: after 15 slots in a row for lanes above it, a lane gets the next slot.
type Lane int

const (
	// Money is for transfers and funding, and for the access token if the limiter is not the client's own.
	Money Lane = iota + 1
	// Call is for all other calls.
	Call
	// Bulk is for report polls and prefetched pages. A prefetched page moves to Call when you wait for it. If calls use
	// every slot, Bulk gets one slot in 16.
	Bulk
)

// String returns the name of the lane, such as "money".
func (l Lane) String() string {
	if l >= Money && l <= Bulk {
		return [...]string{"money", "call", "bulk"}[l-Money]
	}
	return "lane(" + strconv.Itoa(int(l)) + ")"
}

// Limiter admits requests, so that the service has no reason to respond with 429. Implementations must be safe for
// concurrent use.
type Limiter interface {
	// Acquire waits until a request may be sent and returns its slot. It returns ctx.Err() as soon as ctx is done. If
	// the wait would outlast the deadline of ctx, it returns a *RefusedError immediately. After any error nothing is sent.
	Acquire(ctx context.Context, lane Lane) (Slot, error)
}

// Slot is an admitted request. A nil Slot without an error means admitted, with nothing to release.
type Slot interface {
	// Release is called exactly once, when the response headers have arrived or the request has failed. It does not block.
	Release(Feedback)
}

// Feedback reports to a limiter how a request ended. The zero value means that it was sent and got no response.
type Feedback struct {
	// StatusCode is the HTTP status of the response, or 0 if there is none.
	StatusCode int
	// RetryAfter is the wait that a 429 requested, or 0.
	RetryAfter time.Duration
	// NotSent means that no byte of the request reached the service, so it used none of the allowance. It is ignored if
	// StatusCode is set.
	NotSent bool
}

// SharedOptions configures a limiter that the replicas of a program share: NewLimiter of contrib/redis or of contrib/postgres. All
// replicas behind one address need the same Name, Allowance, Window, Replicas and Lease.
type SharedOptions struct {
	// Name is the name of the limit in the store: at most 128 printable ASCII characters without white space. By default it
	// is "prepaid:limit" in Redis, and "default" in Postgres. Use one name for each address that the service sees.
	Name string
	// Replicas is the maximum number of replicas. A tenth of each replica's equal share is reserved, so that the replica
	// can start without the store. If Replicas is zero, nothing is reserved. The store then reports the number; a replica
	// that has never reached the store assumes 10.
	Replicas int
	// Allowance is how many requests the service allows the address in a Window: 1,000 by default.
	Allowance int
	// Window is the service's window: by default 10 s, at least 100 ms.
	Window time.Duration
	// Lease is how long a replica that cannot reach the store continues unchanged; then it is limited to its equal share. A
	// killed replica keeps its slots for a Lease; then the slots rest for a Window. Lease is 5 s by default, at least 100 ms.
	Lease time.Duration
	// Timeout bounds one exchange with the store: by default 250 ms for Redis and 1 s for Postgres, at most half of Lease. No
	// call waits for two exchanges.
	Timeout time.Duration
	// MaxPause is the longest pause after a 429: 15 s by default.
	MaxPause time.Duration
	// Logger gets a record when the store becomes unreachable, and when it is reachable again.
	Logger *slog.Logger
	// OnChange is called whenever Logger gets a record, one call at a time. It must return soon.
	OnChange func(SharedStatus)
}

// SharedStatus is the state of a [Shared].
type SharedStatus struct {
	// Shared reports whether the last exchange with the store succeeded.
	Shared bool
	// Slots is how many slots this replica owns.
	Slots int
	// Replicas is how many replicas there were at the last exchange, including this one; 0 before the first exchange.
	Replicas int
	// Err is the error of the last exchange; nil if Shared is true, or before the first exchange.
	Err error
}

// Shared is a limiter for all replicas behind one address. After Close, Acquire returns prepaid.ErrClosed.
//
// The allowance is a number of slots. A slot rests for one window after the response headers arrived, and at most one replica owns it
// at a time. So all replicas together never exceed the allowance, in any fixed or sliding window of the service. Replicas reuse their
// slots without asking. The store grants slots that no replica needs, first for money, then for calls, then for bulk. If replicas need
// more slots than there are, each gets an equal part, and replicas that own more must return some. Calls cannot get the last 0.4 % of the
// slots, and bulk cannot get the last 2 %. A replica with very few slots may need up to a Window to get some for its payments.
//
// If the store is unreachable, a replica continues with the slots it owns. After its Lease it uses at most its equal share of the
// allowance. About one Window later, when every other replica does the same, it can use all of that share. In three cases the store
// grants nothing for a Lease and a Window, in which all replicas report: after a restart or a loss of data; while the store has been up
// for less than that time; after a Lease without any report, since replicas may have used slots without a report. The last case does not
// apply if all replicas had closed their limiters; only the slots that they had just used then rest again. So close the limiter: otherwise
// the next start waits. A step of the store's clock changes none of this: replicas measure time by their own clocks. If only one replica is
// cut off, for longer than a Lease and a Window, it keeps its share, which the others may also get: a 429 is then possible. A replica
// that starts without the store does not know which slots were used before.
//
// A 429 immediately pauses the replica that received it; the others pause at their next exchange. From then on requests are spaced evenly.
type Shared interface {
	Limiter
	// Status returns the current state.
	Status() SharedStatus
	// Close refuses the waiting calls, hands over the slots that this replica owns and ends its exchange with the store. An error
	// means that the store could not be reached; the other replicas then get the slots after a Lease and a Window. Close takes at
	// most two Timeouts. A second Close waits for the first and returns its error. Close the connections of the store afterwards.
	Close() error
}

// None admits everything immediately. It is for tests, and for callers that limit in a proxy.
type None struct{}

// Acquire returns immediately: a nil Slot, and ctx.Err() if ctx is done.
func (None) Acquire(ctx context.Context, _ Lane) (Slot, error) { return nil, ctx.Err() }

// ErrRateLimited matches every [RefusedError] and, as prepaid.ErrRateLimited, status 429.
var ErrRateLimited = errors.New("prepaid: rate limited")

// RefusedError means that a limiter refused a request: the wait for a slot would outlast the deadline. Nothing was sent.
type RefusedError struct {
	// Wait is how long the wait for a slot would have been; zero means unspecified.
	Wait time.Duration
}

// Error returns the wait.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("prepaid: throttled locally: a slot needs %s, longer than the deadline", e.Wait)
}

// Is matches [ErrRateLimited].
func (e *RefusedError) Is(target error) bool { return target == ErrRateLimited }
