package prepaidpg

// enqueueSQL adds a payment with its history and wakes the workers when the caller commits. An insert that meets another
// transaction's row under the same request ID waits for its end. It returns no row if the request ID is known. $9 is how long ago
// it was sent without this store, in microseconds, or null.
const enqueueSQL = `with p as (
	insert into {s}.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due, began, last_sent, not_before)
	select $1, $2, $3, $4::text::numeric, $5, $6, $7, $8, now(), now() - $9::bigint * interval '1 microsecond',
		now() - $9::bigint * interval '1 microsecond', now() - $9::bigint * interval '1 microsecond'
	where not exists (select from {s}.archive where request_id = $1)
	on conflict (request_id) do nothing returning number, lease, state, attempts
), h as (
	insert into {s}.history (payment, lease, event, state, attempts) select number, lease, 'enqueue', state, attempts from p
)
select pg_notify({channel}, '') from p`

// claimSQL takes payments that are due: $1 is how many, $2 the lease and $3 how long this worker may send, in microseconds; $4 is how
// long ago a payment that rests must have become due, in microseconds; see run.admit. It returns them as they were before. Its
// commit is the intent: the row then is what journal.Entry.Begin returns.
const claimSQL = `with d as (
	select request_id, state, began, changed, runs, not_before, correlation_id, code, resolved, review, sends_until
	from {s}.payments where due <= now() and (not {rests} or due <= now() - $4::bigint * interval '1 microsecond')
	order by due limit $1 for no key update skip locked
), p as (
	update {s}.payments q set state = case d.state{begin} end, lease = q.lease + {fence}, runs = q.runs + 1, changed = now(),
		began = coalesce(q.began, now()), not_before = null, correlation_id = null, code = null, resolved = false, review = null,
		due = now() + $2::bigint * interval '1 microsecond', sends_until = now() + $3::bigint * interval '1 microsecond'
	from d where q.request_id = d.request_id
	returning q.number, q.request_id, q.operation, q.account_id, q.amount, q.destination, q.params, d.state, d.began,
		d.changed, d.runs, q.first_sent, q.last_sent, q.attempts, d.not_before, q.transaction_id, d.correlation_id, d.code,
		d.resolved, d.review, q.sealed, q.lease, d.sends_until, q.idle, q.state as claimed
), h as (
	insert into {s}.history (payment, lease, event, state, attempts) select number, lease, 'begin', claimed, attempts from p
)
select {columns}, now(), p.sealed, p.lease, p.sends_until, p.idle from p`

// outcomeSQL ends leases, each fenced by its number: the row is as this worker's claim left it, or it is not touched.
const outcomeSQL = `with o as (
	select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
		$9::integer[], $10::integer[], $11::integer[], $12::text[], $13::text[], $14::text[], $15::text[], $16::boolean[], $17::bigint[], $18::boolean[], $19::bigint[])
	as o(request_id, lease, event, state, wait, first, last, rest, attempts, runs, idle, transaction_id, correlation_id, code,
		review, began, hook, resolved, since)
), p as (
	update {s}.payments q set state = o.state, changed = now() - coalesce(o.since, 0) * interval '1 microsecond', sends_until = null,
		due = now() + o.wait * interval '1 microsecond',
		began = case when o.began then q.began end,
		first_sent = coalesce(q.first_sent, now() - o.first * interval '1 microsecond'),
		last_sent = now() - o.last * interval '1 microsecond', not_before = now() - o.rest * interval '1 microsecond',
		attempts = o.attempts, runs = o.runs, idle = o.idle, transaction_id = o.transaction_id,
		correlation_id = o.correlation_id, code = o.code, review = o.review, resolved = o.resolved,
		hook_due = now() + o.hook * interval '1 microsecond', hook_tries = 0,
		sealed = case when o.state <> 'done' then q.sealed end
	from o where q.request_id = o.request_id and q.lease = o.lease and q.sends_until is not null
	returning q.number, q.request_id, q.lease, o.event, q.state, q.code, q.attempts
), h as (
	insert into {s}.history (payment, lease, event, state, code, attempts)
	select number, lease, event, state, code, attempts from p
)
select request_id, lease, now() from p`

// recordedSQL returns those of the leases whose end this worker has already written, although it did not learn of the commit.
const recordedSQL = `select p.request_id, p.lease, p.changed from {s}.payments p join unnest($1::text[], $2::bigint[]) as o(request_id, lease)
	on p.request_id = o.request_id and p.lease = o.lease and p.sends_until is null`

// lateSQL records that the money moved, whoever holds the lease: that never becomes false. It returns no row if the service
// has said so before.
const lateSQL = `with p as (
	update {s}.payments set state = 'done', changed = now(), sends_until = null, due = null, review = null, not_before = null,
		lease = lease + {fence}, transaction_id = $2, correlation_id = $3, code = null, resolved = false, sealed = null,
		hook_due = now() + $4::bigint * interval '1 microsecond', hook_tries = 0
	where request_id = $1 and (state <> 'done' or resolved) returning number, lease, state, attempts
), h as (
	insert into {s}.history (payment, lease, event, state, attempts) select number, lease, 'late', state, attempts from p
)
select number from p`

// nextSQL returns when the next payment is due that claimSQL would take, in microseconds from now.
const nextSQL = `select (extract(epoch from due - now()) * 1000000)::bigint from {s}.payments
	where due is not null and (not {rests} or due <= now() - $1::bigint * interval '1 microsecond') order by due limit 1`

// restingSQL returns the next payment that claimSQL does not take although it is due, or will be: how far it is from due, in
// microseconds, and its account.
const restingSQL = `select (extract(epoch from due - now()) * 1000000)::bigint, account_id from {s}.payments
	where due is not null and {rests} and due > now() - $1::bigint * interval '1 microsecond' order by due limit 1`

const hooksDueSQL = `select {columns}, now() from {s}.payments p where hook_due <= now() order by hook_due limit 1 for update skip locked`

const hookDoneSQL = `update {s}.payments set hook_due = null, hook_tries = 0 where request_id = $1`

// hookLaterSQL has the hook called again: $2 is the first wait and $3 the longest, in microseconds.
const hookLaterSQL = `update {s}.payments set hook_tries = hook_tries + 1,
	hook_due = now() + least($2::bigint * power(2, least(hook_tries + 1, 40)), $3::bigint) * interval '1 microsecond'
	where request_id = $1 and hook_due is not null`

const getSQL = `select {columns}, now() from {s}.all_payments p where p.request_id = $1`

const lockSQL = `select {columns}, now(), p.sealed, p.lease, p.sends_until is not null and p.due > now()
	from {s}.payments p where p.request_id = $1 for no key update`

const allSQL = `select {columns}, now() from {s}.all_payments p where p.request_id > $1 order by p.request_id limit $2`

const waitingSQL = `select {columns}, now() from {s}.payments p where p.review is not null and p.request_id > $1 order by p.request_id limit $2`

// writeSQL writes a person's decision, and fences off whoever held the payment before. $10 is the wait until it is due, or null.
const writeSQL = `with p as (
	update {s}.payments set state = $2, changed = now(), lease = lease + {fence}, sends_until = null, review = null,
		transaction_id = $3, resolved = $4, sealed = case when $5 then sealed end, hook_due = null, idle = 0,
		due = now() + $6::bigint * interval '1 microsecond', not_before = case when $7 then not_before end
	where request_id = $1 returning number, lease, state, code, attempts
), h as (
	insert into {s}.history (payment, lease, event, state, code, attempts)
	select number, lease, $8, state, code, attempts from p
)
select pg_notify({channel}, '') from p where $6 is not null`

const unsettledSQL = `select count(*) from {s}.payments where hook_due is not null`
