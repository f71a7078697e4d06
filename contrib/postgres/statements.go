package prepaidpg

import (
	"strings"
	"sync"

	"github.com/cardprograms/prepaid/journal"
)

// Times are passed as intervals in microseconds from Postgres's present time: only its clock decides. Statements return times as
// microseconds since 1970 ({now()}), and bytes encoded: pgx may receive text, and DateStyle and bytea_output change that of other types.

// durable makes the commit durable, whatever the settings of the session are. A transaction whose client is frozen or gone ends: its locks
// would keep its payments from other workers.
const durable = `select set_config('synchronous_commit',
	case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, true),
	set_config('idle_in_transaction_session_timeout', '30s', true)`

// indexed is for statements on many payments: a plan cached before the table was analysed must not read the whole table.
const indexed = durable + `, set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('enable_sort', 'off', true)`

// impatient bounds the wait for a row that a transaction of the caller has locked.
const impatient = indexed + ", set_config('lock_timeout', '500ms', true)"

const unplanned = `select set_config('enable_seqscan', null, true), set_config('enable_bitmapscan', null, true),
	set_config('enable_sort', null, true)`

// statements has the statements of a schema.
type statements struct {
	replacer *strings.Replacer
	replaced sync.Map // by the statement without replacements
}

func (s *statements) Replace(statement string) string {
	replaced, ok := s.replaced.Load(statement)
	if !ok {
		replaced, _ = s.replaced.LoadOrStore(statement, s.replacer.Replace(statement))
	}
	return replaced.(string)
}

// newSQL puts the schema, the columns of an entry and the rules of package journal into statements. {history} adds
// the rows of p to the history. {fence} is the increment of a lease number. It is random, so that no number is reused after a claim
// whose commit was lost, for example in a failover.
//
// {epoch} is the epoch of the server if workers may send payments from it and $1, unless null, is that epoch. A promotion
// and an archive recovery begin a timeline; other copies of a server do not. The functions work only on a primary; every role may call them.
func newSQL(schema string) *statements {
	var begin strings.Builder
	var open, pending []string
	for _, s := range journal.States() {
		quoted := "'" + string(s) + "'"
		if s.Open() {
			open = append(open, quoted)
		}
		if s.Pending() {
			pending = append(pending, quoted)
		}
		if next, ok := s.Next(journal.EventBegin); ok {
			begin.WriteString(" when " + quoted + " then '" + string(next) + "'")
		}
	}
	const server = "(select system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system())"
	epoch := "(select epoch::text from " + schema + ".versions where version = 2 and server = " + server +
		" and epoch = coalesce($1::text::uuid, epoch))"
	const claimed = "request_id, state, due, began, changed, runs, not_before, correlation_id, code, resolved, review, sends_until"
	history := "insert into " + schema + ".history (payment, lease, event, state, code, attempts) select number, lease, event, state, code, attempts from p"
	var times []string
	for _, t := range []string{"now()", "p.changed", "p.began", "p.first_sent", "p.last_sent", "p.not_before", "p.due", "p.sends_until", "p.hook_due"} {
		times = append(times, "{"+t+"}", "(extract(epoch from "+t+") * 1000000)::bigint")
	}
	return &statements{replacer: strings.NewReplacer(append(times, "{s}", schema, "{add history}", history, "{history}", "h as ("+history+")", "{columns}", strings.NewReplacer(times...).Replace(columns),
		"{begin}", begin.String(), "{pending}", strings.Join(pending, ", "), "{fence}", "1 + floor(random() * 1000000000000)::bigint",
		"{server}", server, "{epoch}", epoch, "{claimed}", claimed, "{rests}", "(resolved or state in ("+strings.Join(open, ", ")+"))")...)}
}

// claimSQL claims at most $2 due payments. The lease $3, and the time $4 in which this worker may send, are in
// microseconds. Payments that rest must have become due by $5; later ones are not read, thanks to an index without them. $6 is the
// horizon. claimSQL claims nothing unless there is an {epoch}. It returns the epoch in each row, at least one, and payments as they were
// before the claim. The commit is the intent: after it, the row is the entry that journal.Entry.Intent returns.
const claimSQL = `with e as materialized (select {epoch} as epoch), admitted as (
	select {claimed} from {s}.payments where due <= least(now(), $5::timestamptz) and due >= coalesce($6::timestamptz, '-infinity')
		and (select epoch from e) is not null
	order by due limit $2 for no key update skip locked
), sendable as (
	select {claimed} from {s}.payments where due <= now() and due > $5::timestamptz and due >= coalesce($6::timestamptz, '-infinity')
		and not {rests} and (select epoch from e) is not null
	order by due limit $2 - (select count(*) from admitted) for no key update skip locked
), d as materialized (
	select * from admitted union all select * from sendable
), p as (
	update {s}.payments q set state = case d.state{begin} end, lease = q.lease + {fence}, runs = q.runs + 1, changed = now(),
		began = coalesce(q.began, now()), not_before = null, correlation_id = null, code = null, resolved = false, review = null,
		due = now() + $3::bigint * interval '1 microsecond', sends_until = now() + $4::bigint * interval '1 microsecond'
	from d where q.request_id = d.request_id
	returning q.number, q.request_id, q.operation, q.account_id, q.amount, q.destination, q.params, d.state, d.began,
		d.changed, d.runs, q.first_sent, q.last_sent, q.attempts, d.not_before, q.transaction_id, d.correlation_id, d.code,
		d.resolved, d.review, q.sealed, q.lease, d.due, d.sends_until, q.state as claimed
), h as (
	insert into {s}.history (payment, lease, event, state, attempts) select number, lease, 'begin', claimed, attempts from p
)
select {columns}, encode(p.sealed, 'base64'), p.lease, {p.due}, {p.sends_until}, {now()}, epoch from e left join p on true`

// setBackSQL makes payments, and calls of Settled, due that would wait for more than $1 microseconds. None waits as long unless the server's
// clock was set back. It leaves payments that rest: their requests may be in progress.
const setBackSQL = `with d as (
	select request_id from {s}.payments where due > now() + $1::bigint * interval '1 microsecond' and not {rests}
	limit 1000 for no key update skip locked
), h as (
	select request_id from {s}.payments where hook_due > now() + $1::bigint * interval '1 microsecond'
	limit 1000 for no key update skip locked
), p as (
	update {s}.payments q set hook_due = now() from h where q.request_id = h.request_id
)
update {s}.payments q set due = now(), enqueued = least(enqueued, now()) from d where q.request_id = d.request_id`

// outcomeSQL ends leases, each fenced by its number: it changes only rows that still have this worker's claim, and returns the
// positions of the recorded ends, and 0, with the {epoch}. $2 is the ends in JSON, $3 is the time now on the clock that set their times. If
// a payment is given back, Entry.Rest does not begin again.
const outcomeSQL = `with o as (
	select *, ordinality as position, now() - $3::timestamptz as ahead from rows from (json_to_recordset($2::json) as (request_id text,
		lease bigint, event text, state text, wait bigint, began timestamptz, changed timestamptz, first_sent timestamptz,
		last_sent timestamptz, not_before timestamptz, attempts integer, runs integer, transaction_id text, correlation_id text,
		code text, review text, resolved boolean, hook boolean)) with ordinality
), p as (
	update {s}.payments q set state = o.state, changed = case o.event when 'give back' then o.changed + o.ahead else now() end,
		sends_until = null, due = now() + o.wait * interval '1 microsecond', began = case when o.began > '1970-01-01' then q.began end,
		first_sent = coalesce(q.first_sent, o.first_sent + o.ahead), last_sent = o.last_sent + o.ahead, not_before = o.not_before + o.ahead,
		attempts = coalesce(o.attempts, 0), runs = o.runs, transaction_id = o.transaction_id, correlation_id = o.correlation_id,
		code = o.code, review = o.review, resolved = coalesce(o.resolved, false),
		hook_due = case when o.hook then now() end, hook_tries = 0,
		sealed = case when o.state <> 'done' then q.sealed end
	from o where q.request_id = o.request_id and q.lease = o.lease and q.sends_until is not null
	returning q.number, q.lease, o.event, q.state, q.code, q.attempts, o.position
), {history} select position, null from p union all select 0, {epoch}`

// lateSQL is for a late end of lease $2: the row has another lease, or the end was recorded before. If $3 is set, the
// money moved: lateSQL records this success under any lease, unless a success that the service reported is already
// recorded. It returns no row if there is no such payment, or if $3 is set and the payment was archived as not moved.
const lateSQL = `with old as (
	select number, lease = $2 and sends_until is null as mine, state = 'done' and not resolved as done, transaction_id
	from {s}.payments where request_id = $1 for no key update
), p as (
	update {s}.payments q set state = 'done', changed = now(), sends_until = null, due = null, review = null, not_before = null,
		lease = q.lease + {fence}, transaction_id = nullif($4, ''), correlation_id = nullif($5, ''), code = null, resolved = false, sealed = null,
		hook_due = case when $6::boolean then now() end, hook_tries = 0
	from old where q.request_id = $1 and $3::boolean and not old.mine and not old.done
	returning q.number, q.lease, 'late' as event, q.state, q.code, q.attempts
), {history}
select mine, exists (select from p), coalesce(case when done and $3 then transaction_id end, '') from old
union all select false, false, coalesce(case when $3 then transaction_id end, '') from {s}.archive
	where request_id = $1 and (state = 'done' or not $3)`

const restingSQL = `select account_id, {p.due}, {p.changed}, {now()} from {s}.payments p where due > $1::timestamptz and {rests} order by due limit 1`

const evidenceSQL = `select coalesce(evidence, ''), {now()} from {s}.versions where version = 2`

const saveEvidenceSQL = `update {s}.versions set evidence = $1 from (select set_config('synchronous_commit', 'off', true)) s where version = 2`

// hooksSQL and theseHooksSQL omit rows that another transaction is settling. theseHooksSQL must not use the index on hook_due, which has a
// dead entry for each call since the last vacuum.
const (
	hooksSQL = `select {columns} from {s}.payments p where hook_due <= now() order by hook_due limit $1 for no key update skip locked`

	theseHooksSQL = `select {columns} from {s}.payments p where request_id = any($1) and coalesce(hook_due <= now(), false)
	for no key update skip locked`

	madeSQL = `update {s}.payments set hook_due = null where request_id = any($1)`
)

// hookLaterSQL makes a call due later. $2 is the first wait, and $3 the longest, in microseconds.
const hookLaterSQL = `update {s}.payments set hook_tries = hook_tries + 1,
	hook_due = now() + least($2::bigint * power(2, least(hook_tries + 1, 40)), $3::bigint) * interval '1 microsecond'
	where request_id = $1 and hook_due is not null`

// lockSQL skips a payment that a worker holds: otherwise the worker's outcome would have to wait for the lock.
const lockSQL = `select {columns}, {now()} from {s}.payments p
	where p.request_id = $1 and (p.sends_until is null or p.due <= now()) for no key update`

// writeSQL writes a person's decision, and fences off the earlier worker. $6 is the wait until due, or null.
const writeSQL = `with p as (
	update {s}.payments set state = $2, changed = now(), lease = lease + {fence}, sends_until = null, review = null,
		transaction_id = nullif($3, ''), resolved = $4, sealed = case when $5 then sealed end, hook_due = null, idle = 0,
		due = now() + $6::bigint * interval '1 microsecond', not_before = case when $7 then not_before end
	where request_id = $1 returning number, lease, $8::text as event, state, code, attempts
), {history} select 1 from p`
