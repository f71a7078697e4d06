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
	// Stats are counts and sums by state. The state "intended" means that a worker holds the payment, or held it when the worker died.
	journal.Stats
	// OldestQueued is the age, since Enqueue, of the oldest "queued", "not_sent" or "intended" payment; zero if none. Set an alert. If the
	// server's clock was set back to before Enqueue, it counts down to Enqueue, until a worker claims payments.
	OldestQueued time.Duration
	// OldestUnknown is how long the oldest payment of unknown outcome has been unknown; zero if none. Set an alert.
	OldestUnknown time.Duration
	// Waiting is how many payments wait for a person, see [Store.Waiting]. Set an alert.
	Waiting int
	// Held is the number of payments that workers hold now.
	Held int
	// Unsettled is how many outcomes your books lack: a call of Workers.Settled is due. Set an alert if the number stays above zero.
	Unsettled int
}

// statsSQL reads open payments, and only an index of the others.
const statsSQL = `select state, count(*), sum(amount)::text, coalesce(extract(epoch from max(greatest(now() - since, since - now())))::float8, 0),
	coalesce(sum(waiting), 0), coalesce(sum(held), 0) from (
		select state, amount, case when state = 'unknown' then coalesce(began, last_sent, changed) else enqueued end as since,
			0 as waiting, (sends_until > now())::integer as held
		from {s}.payments where due is not null
		union all
		select state, amount, null, 0, 0 from {s}.payments where due is null
		union all
		select null, 0, coalesce(began, last_sent, changed), 1, 0 from {s}.payments where review is not null
	) p group by state`

// Stats returns counts, sums and ages. It reads each open payment, and an index of the others: call it at most a few times a minute.
//
// Errors: those of the database; [prepaid.ErrAmountRange] if a sum has too many digits.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	var stats Stats
	var state *journal.State
	var count, waiting, held int
	var sum string
	var oldest float64
	rows, _ := s.pool.Query(ctx, s.sql.Replace(statsSQL)) // ForEachRow returns the error
	_, err := pgx.ForEachRow(rows, []any{&state, &count, &sum, &oldest, &waiting, &held}, func() error {
		stats.Held += held
		age := time.Duration(oldest * float64(time.Second))
		if state == nil { // payments that wait for a person; also counted under their states
			stats.Waiting, stats.OldestUnknown = waiting, max(stats.OldestUnknown, age)
			return nil
		}
		amount, err := prepaid.ParseAmount(sum)
		if err != nil {
			return err
		}
		*stats.Of(*state) = journal.Total{Count: count, Sum: amount}
		switch *state {
		case journal.StateQueued, journal.StateNotSent, journal.StateIntended:
			stats.OldestQueued = max(stats.OldestQueued, age)
		case journal.StateUnknown:
			stats.OldestUnknown = max(stats.OldestUnknown, age)
		}
		return nil
	})
	if err == nil {
		err = s.pool.QueryRow(ctx, s.sql.Replace("select count(*) from {s}.payments where hook_due is not null")).Scan(&stats.Unsettled)
	}
	if err != nil {
		return Stats{}, failure("stats", err)
	}
	return stats, nil
}
