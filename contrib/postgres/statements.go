package prepaidpg

import (
	"strings"

	"github.com/cardprograms/prepaid/journal"
)

// statements is the SQL of one schema. Times go in as intervals and are counted from Postgres's clock, which is the only
// one that decides; microseconds are a pgtype-free way to pass them.
type statements struct {
	enqueue, recorded               string
	claim, outcome, late, review      string
	next, hooksDue, hookDone, later string
	get, lock, all, waiting         string
	write, history, stats           string
}

// settings are for a transaction of the store itself. Its commit must be durable whatever the session has, and a plan made
// before the table was analysed must not read the whole table.
const settings = `select set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
	else current_setting('synchronous_commit') end, true), set_config('enable_seqscan', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`

// columns are those of an entry, in the order of payment.targets.
const columns = `p.number, p.request_id, p.operation, p.account_id, p.amount::text, p.destination, p.params, p.state, p.began,
	p.changed, p.runs, p.first_sent, p.last_sent, p.attempts, p.not_before, p.transaction_id, p.correlation_id, p.code,
	p.resolved, p.review`

// newStatements replaces {s} by the quoted schema, {columns}, and {open} and {begin} by what journal.State.Next says.
func newStatements(schema, channel string) statements {
	var open []string // states of a payment that a worker holds
	var begin strings.Builder
	for _, s := range journal.States() {
		if next, ok := s.Next(journal.Begin); ok {
			begin.WriteString(" when '" + string(s) + "' then '" + string(next) + "'")
		}
	}
	r := strings.NewReplacer("{s}", schema, "{columns}", columns, "{begin}", begin.String(), "{open}", strings.Join(open, ","),
		"{channel}", "'"+channel+"'")
	return statements{
		enqueue:  r.Replace(enqueueSQL),
		recorded: r.Replace(recordedSQL),
		claim:    r.Replace(claimSQL),
		outcome:  r.Replace(outcomeSQL),
		late:     r.Replace(lateSQL),
		review:     r.Replace(heldSQL),
		next:     r.Replace(nextSQL),
		hooksDue: r.Replace(hooksDueSQL),
		hookDone: r.Replace(hookDoneSQL),
		later:    r.Replace(hookLaterSQL),
		get:      r.Replace(getSQL),
		lock:     r.Replace(lockSQL),
		all:      r.Replace(allSQL),
		waiting:  r.Replace(waitingSQL),
		write:    r.Replace(writeSQL),
		history:  r.Replace(historySQL),
		stats:    r.Replace(statsSQL),
	}
}
