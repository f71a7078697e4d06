package prepaidpg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid/journal"
)

// lease says how long a claimed payment belongs to a worker. Nobody else sends it before the call that this worker starts at the
// last moment has ended, and the service has had its time after that.
type lease struct {
	wait  time.Duration // that the payment may wait for its turn
	call  time.Duration // that its call may take
	sends time.Duration // after the claim, this worker no longer sends: wait and call
	whole time.Duration // after the claim, others may send: sends, and the rest that AttemptTimeout and InFlightWait of the sender demand
}

// safeLease is the only lease but in the test that shows what happens with a shorter one.
func safeLease(call time.Duration, sender journal.Sender) lease {
	wait := call / 2
	return lease{wait: wait, call: call, sends: wait + call, whole: wait + call + restOf(sender)}
}

// claimed is a payment that this worker holds.
type claimed struct {
	payment
	term  lease
	taken time.Time // before the claim was sent
	wall  time.Time // the same without its monotonic reading
	idle  int       // runs in a row that settled nothing
}

// late reports whether too much of the lease is over to send. A machine that was suspended has a monotonic clock that stood
// still, and one whose clock is set has a wall clock that is wrong: the later one counts.
func (c *claimed) late() bool {
	now := time.Now()
	return max(now.Sub(c.taken), now.Round(0).Sub(c.wall)) > c.term.wait
}

// restOf returns how long a payment of unknown outcome rests after it was sent.
func restOf(sender journal.Sender) time.Duration {
	now := time.Now()
	return min(max(sender.NotBefore(now).Sub(now), 0), journal.Window) // it is not sent after that
}

// claim takes at most n payments that are due. One of unknown outcome is taken only if it became due up to admitted.
func (s *Store) claim(ctx context.Context, sender journal.Sender, n int, admitted time.Time) ([]*claimed, error) {
	l := s.lease(s.options.CallTimeout, sender)
	// The end of ctx does not break the connection during the commit: what was claimed would be left until the lease ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseLimit)
	defer cancel()
	taken := time.Now()
	var list []*claimed
	err := durably(ctx, s.pool, func(batch *pgx.Batch) {
		batch.Queue(planned)
		batch.Queue(s.sql.claim, n, l.whole.Microseconds(), l.sends.Microseconds(), time.Since(admitted).Microseconds()).Query(func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*claimed, error) {
				c := &claimed{term: l, taken: taken, wall: taken.Round(0)}
				var heldUntil *time.Time
				if err := c.scan(row, &c.sealed, &c.lease, &heldUntil, &c.idle); err != nil {
					return nil, err
				}
				c.adopt(heldUntil)
				return c, nil
			})
			return err
		})
	})
	if err != nil {
		return nil, failure("claim", err)
	}
	return list, nil
}

// adopt makes the entry one of this process's clock. If an earlier worker died, it may have sent the payment until heldUntil.
func (c *claimed) adopt(heldUntil *time.Time) {
	e, received := &c.entry, time.Now()
	if heldUntil != nil {
		e.LastSent, e.NotBefore = *heldUntil, *heldUntil
	}
	for _, t := range []*time.Time{&e.Began, &e.Changed, &e.FirstSent, &e.LastSent, &e.NotBefore} {
		if !t.IsZero() {
			*t = received.Add(t.Sub(c.now))
		}
	}
}
