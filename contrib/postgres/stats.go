package prepaidpg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Stats is the state of all payments that are not archived.
type Stats struct {
	// Stats are counts and sums by state. Intended are those that a worker holds or held when it died.
	journal.Stats
	// OldestQueued is how long ago the oldest payment that is queued or not sent was enqueued; zero if none is. Alert on it.
	OldestQueued time.Duration
	// OldestUnknown is how long the oldest payment of unknown outcome has been unknown; zero if none is. Alert on it.
	OldestUnknown time.Duration
	// Waiting is the number of payments for which a person must decide, see [Store.Waiting]. Alert on it.
	Waiting int
	// Held is the number of payments that workers hold at the moment.
	Held int
	// Unsettled is the number of outcomes for which Workers.Settled has failed, and is called again. Alert on it.
	Unsettled int
}

// statsSQL reads the payments that are open, and of those that are not only an index.
const statsSQL = `select state, count(*), sum(amount)::text, coalesce(extract(epoch from now() - min(since))::float8, 0),
	coalesce(sum(waiting), 0), coalesce(sum(held), 0) from (
		select state, amount, case when state = 'unknown' then coalesce(least(began, first_sent, last_sent), changed) else enqueued end as since,
			0 as waiting, (sends_until > now())::integer as held
		from {s}.payments where due is not null
		union all
		select state, amount, null, 0, 0 from {s}.payments where due is null
		union all
		select null, 0, coalesce(least(began, first_sent, last_sent), changed), 1, 0 from {s}.payments where review is not null
	) p group by state`

// Stats returns counts, sums and ages. It reads each payment that is open, and an index of the others: call it a few times a minute.
//
// Errors: those of the database; [prepaid.ErrAmountRange] if a sum has too many digits.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	var stats Stats
	totals := map[journal.State]*journal.Total{
		journal.StateQueued: &stats.Queued, journal.StateIntended: &stats.Intended, journal.StateNotSent: &stats.NotSent,
		journal.StateUnknown: &stats.Unknown, journal.StateDone: &stats.Done, journal.StateRejected: &stats.Rejected,
		journal.StateWithdrawn: &stats.Withdrawn,
	}
	var state *journal.State
	var count, waiting, held int
	var sum string
	var oldest float64
	rows, err := s.pool.Query(ctx, s.sql.stats)
	if err != nil {
		return Stats{}, failure("stats", err)
	}
	_, err = pgx.ForEachRow(rows, []any{&state, &count, &sum, &oldest, &waiting, &held}, func() error {
		stats.Held += held
		age := time.Duration(oldest * float64(time.Second))
		if state == nil { // those that wait for a person, which are counted under their states as well
			stats.Waiting, stats.OldestUnknown = waiting, max(stats.OldestUnknown, age)
			return nil
		}
		amount, err := prepaid.ParseAmount(sum)
		if err != nil {
			return err
		}
		*totals[*state] = journal.Total{Count: count, Sum: amount}
		switch *state {
		case journal.StateQueued, journal.StateNotSent:
			stats.OldestQueued = max(stats.OldestQueued, age)
		case journal.StateUnknown:
			stats.OldestUnknown = max(stats.OldestUnknown, age)
		}
		return nil
	})
	if err != nil {
		return Stats{}, failure("stats", err)
	}
	if err := s.pool.QueryRow(ctx, s.sql.unsettled).Scan(&stats.Unsettled); err != nil {
		return Stats{}, failure("stats", err)
	}
	return stats, nil
}
