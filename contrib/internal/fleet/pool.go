package fleet

import (
	"context"
	"time"
)

// LaneCount is the number of lanes, by rank: money, calls, bulk.
const LaneCount = 3

// Pool is what the replicas behind one address share.
type Pool interface {
	// Exchange records what one replica reports and returns what it may take or must give. It is atomic with respect to all
	// other exchanges, and ends with ctx. An error leaves open whether it took effect.
	Exchange(ctx context.Context, r Report) (Grant, error)
}

// Report is what a replica reports of itself in one exchange.
type Report struct {
	// ID is the replica's own, for its life.
	ID string
	// Seq numbers the exchanges of the replica. One that is not above the last has no effect, and its grant is Void.
	Seq uint64
	// Held is how many slots the replica owns, the truth also if the pool knows of another number.
	Held int
	// Need is how many slots its requests need, by lane, with those in use.
	Need [LaneCount]int
	// Extra is how many more it would like for requests that have not arrived yet.
	Extra int
	// Pause is the rest of a pause after a 429 of which the others must learn, in whole milliseconds, or 0.
	Pause time.Duration
	// Known reports whether the pool must know of this replica, which has been in touch before, or has not reached it for so
	// long that it owns its share. A pool that does not may not know of others either.
	Known bool
	// Leaving is not 0 in its last exchange, and then how long its slots stay on its account.
	Leaving time.Duration

	// Allowance, Replicas, Floor, Lease and Gone are the same for all replicas. Floor is what each keeps whatever the others
	// need; Gone is when the slots of a replica that was not heard of any more have rested.
	Allowance, Replicas, Floor int
	Lease, Gone                time.Duration

	at time.Duration
}

// Grant is what a replica learns in an exchange.
type Grant struct {
	// Granted is how many slots the replica owns in addition to those that it reported, or Void.
	Granted int
	// Give is how many of those that it reported it must give, once they have rested.
	Give int
	// Allot is how many it may own in the end.
	Allot int
	// Replicas is how many there are.
	Replicas int
	// Paused is the rest of a pause of all replicas.
	Paused time.Duration
	// Pauses is how many there were.
	Pauses uint64
	// Opens is how long the pool grants nothing, since it may not have heard of all that is in use.
	Opens time.Duration
}

// Void is the Granted of an exchange without effect.
const Void = -1
