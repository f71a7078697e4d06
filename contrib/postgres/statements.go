package prepaidpg

import (
	"strings"

	"github.com/cardprograms/prepaid/journal"
)

// statements is the SQL of one schema. Times go in as intervals and are counted from Postgres's clock, which is the only
// one that decides; microseconds are a pgtype-free way to pass them.
type statements struct {
	enqueue, recorded         string
	claim, outcome, late      string
	next, resting             string
	hooksDue, hookDone, later string
	get, lock, all, waiting   string
	write, stats, unsettled   string
	batch, known, notify      string
	settled, archive          string
}

// durable makes the commit of a transaction durable whatever its session has set.
const durable = `select set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
	else current_setting('synchronous_commit') end, true)`

// planned is for a claim: a plan that was made before the table was analysed must not read the whole table.
const planned = `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('enable_sort', 'off', true)`

// fence is how far the number of a lease moves on. It is random, so that no number is given again after a claim whose commit was lost,
// such as in a failover.
const fence = `1 + floor(random() * 1000000000000)::bigint`

// columns are those of an entry, in the order of payment.targets.
const columns = `p.number, p.request_id, p.operation, p.account_id, p.amount::text, p.destination, p.params, p.state, p.began,
	p.changed, p.runs, p.first_sent, p.last_sent, p.attempts, p.not_before, p.transaction_id, p.correlation_id, p.code,
	p.resolved, p.review`

// newStatements replaces {s} by the quoted schema, {fence}, and {begin} and {rests} by the rules of package journal.
func newStatements(schema, channel string) statements {
	var begin strings.Builder
	var open []string
	for _, s := range journal.States() {
		if s.Open() {
			open = append(open, "'"+string(s)+"'")
		}
		if next, ok := s.Next(journal.EventBegin); ok {
			begin.WriteString(" when '" + string(s) + "' then '" + string(next) + "'")
		}
	}
	r := strings.NewReplacer("{s}", schema, "{columns}", columns, "{begin}", begin.String(),
		"{channel}", "'"+channel+"'", "{fence}", fence, "{rests}", "(resolved or state in ("+strings.Join(open, ", ")+"))")
	return statements{
		enqueue:   r.Replace(enqueueSQL),
		recorded:  r.Replace(recordedSQL),
		claim:     r.Replace(claimSQL),
		stats:     r.Replace(statsSQL),
		unsettled: r.Replace(unsettledSQL),
		outcome:   r.Replace(outcomeSQL),
		late:      r.Replace(lateSQL),
		next:      r.Replace(nextSQL),
		resting:   r.Replace(restingSQL),
		hooksDue:  r.Replace(hooksDueSQL),
		write:     r.Replace(writeSQL),
		hookDone:  r.Replace(hookDoneSQL),
		later:     r.Replace(hookLaterSQL),
		get:       r.Replace(getSQL),
		lock:      r.Replace(lockSQL),
		all:       r.Replace(allSQL),
		waiting:   r.Replace(waitingSQL),
		batch:     r.Replace(batchSQL),
		known:     r.Replace(knownSQL),
		notify:    r.Replace(notifySQL),
		settled:   r.Replace(settledSQL),
		archive:   r.Replace(archiveSQL),
	}
}
